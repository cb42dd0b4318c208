# Reads lines "file PATH" (it exists), "code PATH" (its words are known), "make PATH" (its targets are known) and then
# "document PATH": reports what the document names and nothing knows.

function report(text) { print path ":" line_number ": " text; failed = 1 }

function learn_words(   n, i, part) {
  while ((getline line < path) > 0) {
    n = split(line, part, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++) words[part[i]] = 1
  }
  close(path)
}

function learn_targets(   n, i, part) {
  while ((getline line < path) > 0) {
    if (line !~ /^[a-z][a-z0-9_% -]*:([^=]|$)/) continue
    sub(/:.*/, "", line)
    n = split(line, part, / +/)
    for (i = 1; i <= n; i++) targets[part[i]] = 1
  }
  close(path)
}

function learn_file(   folder) {
  exists[path] = 1
  if (match(path, /^lessons\/[0-9]+-/)) targets["lesson-" substr(path, 9, RLENGTH - 9)] = 1
  for (folder = path; sub(/\/[^\/]*$/, "", folder);) exists[folder] = 1
}

function check_word(name) {
  if (!(name in words)) report("`" name "` is nowhere in src/, tests/ or lessons/: correct the name")
}

function check_target(name,   pattern) {
  if (name in targets) return
  pattern = name
  sub(/-[^-]*$/, "-%", pattern)
  if (!(pattern in targets)) report("make has no target `" name "`")
}

# "make -j2 test BUILD=asan": every word that is no option and no variable is a target.
function check_make(command,   n, i, part) {
  n = split(command, part, /[ \t]+/)
  for (i = 1; i <= n; i++) {
    if (part[i] ~ /^[&|;#>]/) break
    if (part[i] ~ /^[a-z][a-z0-9-]*$/) check_target(part[i])
  }
}

function check_path(name) {
  sub(/[.,:;]+$/, "", name)
  sub(/\/$/, "", name)
  if (!(name in exists)) report("there is no `" name "`: correct the path")
}

function check_token(token,   n, i, part) {
  n = split(token, part, /[ \t]+/)
  for (i = 1; i <= n; i++)
    if (part[i] ~ /^(src|tests|scripts|models|lessons)\/./) check_path(part[i])
  if (token ~ /^make [^ ]/) check_make(substr(token, 6))
  if (n > 1 && token !~ /^[a-z_]+\(/) return

  while (sub(/<[^<>]*>/, "", token)) {}
  if (token ~ /^std::/) return
  if (token ~ /^[A-Za-z_][A-Za-z0-9_]*(::~?[A-Za-z_][A-Za-z0-9_]*)+(\(.*\))?$/) {
    sub(/\(.*/, "", token)
    n = split(token, part, /::~?/)
    for (i = 1; i <= n; i++) check_word(part[i])
  } else if (token ~ /^[A-Z][A-Z0-9]*[a-z][A-Za-z0-9]*(\(\))?$/) {
    sub(/\(.*/, "", token)
    check_word(token)
  } else if (token ~ /^[a-z_][a-z0-9_]*\(\)$/ || token ~ /^[a-z][a-z0-9]*_[a-z0-9_]*\(.*\)$/) {
    sub(/\(.*/, "", token)
    check_word(token)
  }
}

function check_document(   rest, at, fenced, command) {
  line_number = 0
  while ((getline rest < path) > 0) {
    line_number++
    if (rest ~ /^[ \t]*(```|~~~)/) { fenced = !fenced; continue }
    if (fenced) {  # of a console block only the make commands are checked; their output speaks for itself
      command = rest
      sub(/^[ \t]*\$ /, "", command)
      while ((at = index(command, "&& "))) {
        if (command ~ /^make /) check_make(substr(command, 6, at - 6))
        command = substr(command, at + 3)
      }
      if (command ~ /^make /) check_make(substr(command, 6))
      continue
    }
    while ((at = index(rest, "`"))) {
      rest = substr(rest, at + 1)
      if (!(at = index(rest, "`"))) break
      check_token(substr(rest, 1, at - 1))
      rest = substr(rest, at + 1)
    }
  }
  close(path)
}

{ path = substr($0, index($0, " ") + 1) }
$1 == "file" { learn_file() }
$1 == "code" { learn_words() }
$1 == "make" { learn_targets() }
$1 == "document" { check_document() }
END { exit failed }
