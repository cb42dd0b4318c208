# Takes the console blocks of a document apart: command number N goes to `out`/N.command, what it shall print to
# `out`/N.expected, the line of its output's beginning to `out`/N.line. With update=1 it prints the document instead,
# with `out`/N.output in place of what was there.
/^```/ {
  inside = !inside && $0 == "```console"
  in_output = in_command = 0
  if (update) print
  next
}
!inside { if (update) print; next }
!in_command && /^\$ / {
  n++
  command = ""
  in_command = 1
}
in_command {
  if (update) print
  line = $0
  sub(/^\$ /, "", line)
  command = command line "\n"
  if (line ~ /\\$/) next
  in_command = 0
  in_output = 1
  if (update) {
    while ((getline text < (out "/" n ".output")) > 0) print text
  } else {
    printf "%s", command >(out "/" n ".command")
    print FNR + 1 >(out "/" n ".line")
    printf "" >(out "/" n ".expected")
  }
  next
}
in_output && !update { print >(out "/" n ".expected") }
