# Reads names of C++ files and reports every function with more than 60 lines, signature and braces included.
# It follows braces, parentheses, strings and comments; `kind[depth]` is what the innermost open brace belongs to:
#   scope     namespace, class, struct, union, enum, extern "C": functions may start inside
#   function  the body of a function (or of a lambda that initialises a variable at this level)
#   inner     a brace within a function, or an initialiser such as `int a[] = {1, 2}`
# At scope level, `text` is the declaration so far and `start` the line on which it began.

function reset_text() { text = ""; start = 0; parens = 0 }

function add(piece) {
  if (in_function || (depth && kind[depth] == "inner")) return
  if (text == "" && piece ~ /^[ \t]*$/) return
  if (text == "") start = line_number
  text = text piece
}

# The declaration without what may precede the word that tells what it is.
function core(declaration,   i, c, angles) {
  sub(/^[ \t]+/, "", declaration)
  while (declaration ~ /^(public|private|protected)[ \t]*:/) sub(/^[a-z]+[ \t]*:[ \t]*/, "", declaration)
  while (declaration ~ /^template[ \t]*</) {
    angles = 0
    for (i = index(declaration, "<"); i <= length(declaration); i++) {
      c = substr(declaration, i, 1)
      if (c == "<") angles++
      if (c == ">" && --angles == 0) break
    }
    declaration = substr(declaration, i + 1)
    sub(/^[ \t]+/, "", declaration)
  }
  sub(/^(inline|static|typedef|export)[ \t]+/, "", declaration)
  return declaration
}

function kind_of_brace(   declaration) {
  if (in_function || (depth && kind[depth] == "inner") || parens > 0) return "inner"
  declaration = core(text)
  if (declaration ~ /^(namespace|class|struct|union|enum|extern)([ \t]|$)/ &&
      (declaration !~ /\(/ || declaration ~ /^[a-z]+[ \t]+(alignas|\[\[)/)) return "scope"
  if (declaration ~ /=[ \t]*$/ && declaration !~ /operator[ \t]*=+[ \t]*$/) return "inner"
  if (declaration !~ /\)/) return "inner"
  # In `Foo(int a) : a_{a} {` a brace that touches a name initialises a member.
  if (declaration ~ /\)[a-z \t]*:[^:]/ && declaration ~ /[A-Za-z0-9_>]$/) return "inner"
  return "function"
}

function name_of_function(   declaration) {
  declaration = core(text)
  sub(/[ \t]*\(.*/, "", declaration)
  sub(/.*[ \t*&]/, "", declaration)
  return declaration
}

function punctuation(c,   brace) {
  if (c == "{") {
    brace = kind_of_brace()
    kind[++depth] = brace
    if (brace == "function") { in_function = depth; name = name_of_function(); first = start }
    if (brace != "inner") reset_text()
  } else if (c == "}") {
    brace = kind[depth]
    if (depth == in_function) {
      in_function = 0
      if (line_number - first + 1 > 60) {
        print file ":" first ": " name " has " line_number - first + 1 " lines, at most 60: split it"
        failed = 1
      }
    }
    if (depth > 0) depth--
    if (brace == "inner") add("{}"); else if (!in_function) reset_text()
  } else if (!in_function && !(depth && kind[depth] == "inner")) {
    if (c == "(") parens++
    if (c == ")") parens--
    if (c == ";" && parens <= 0) reset_text(); else add(c)
  }
}

# Takes one line apart: comments vanish, strings and characters become "".
function scan(rest,   at, c, before, close_at) {
  while (rest != "") {
    if (in_comment) {
      if (!(at = index(rest, "*/"))) return
      rest = substr(rest, at + 2)
      in_comment = 0
      continue
    }
    if (raw_end != "") {
      if (!(at = index(rest, raw_end))) return
      rest = substr(rest, at + length(raw_end))
      raw_end = ""
      continue
    }
    if (!match(rest, /[{}();"'\/]/)) { add(rest); return }
    c = substr(rest, RSTART, 1)
    before = substr(rest, 1, RSTART - 1)
    rest = substr(rest, RSTART + 1)
    if (c == "/") {
      add(before)
      if (rest ~ /^\//) return
      if (rest ~ /^\*/) { in_comment = 1; rest = substr(rest, 2) } else add(c)
    } else if (c == "\"" && before ~ /R$/ && match(rest, /^[^( ]*\(/)) {
      add(substr(before, 1, length(before) - 1) "\"\"")
      raw_end = ")" substr(rest, 1, RLENGTH - 1) "\""
      rest = substr(rest, RLENGTH + 1)
    } else if (c == "'" && before ~ /[0-9a-fA-F]$/ && before !~ /u8$/) {
      add(before)  # a digit separator, as in 1'000
    } else if (c == "\"" || c == "'") {
      add(before "\"\"")
      close_at = 1
      while (close_at <= length(rest) && substr(rest, close_at, 1) != c)
        close_at += substr(rest, close_at, 1) == "\\" ? 2 : 1
      rest = substr(rest, close_at + 1)
    } else {
      add(before)
      punctuation(c)
    }
  }
}

{
  file = $0
  line_number = depth = in_function = in_comment = continued = 0
  raw_end = ""
  reset_text()
  while ((getline line < file) > 0) {
    line_number++
    if (raw_end == "" && !in_comment && (continued || line ~ /^[ \t]*#/)) { continued = line ~ /\\$/; continue }
    scan(line)
    add(" ")
  }
  close(file)
}
END { exit failed }
