#!/bin/sh
# Who may include whom (src/README.md has the table of floors), and where other people's headers may appear.
files=$(sh scripts/check/files.sh '^(src|lessons)/.*[.](cpp|h)$')
[ -n "$files" ] || exit 0
echo "$files" | awk '
function report(text) { print file ":" line ": " text; failed = 1 }

# One quoted include of a file in src: its folder must be the own one or stand on a lower floor.
function check_own(target,   from, to) {
  if (target == "build_info.inc") return  # generated, see the Makefile
  if (target !~ /\//) { report("write #include \"folder/" target "\"; paths start at src/"); return }
  from = folder(substr(file, 5))
  to = folder(target)
  if (!(to in floor)) report("\"" to "\" is no folder of the house; see the table in scripts/check/floors.sh")
  else if (from != to && floor[to] >= floor[from])
    report(from " (floor " floor[from] ") must not include " target " (floor " floor[to] "): own folder or lower floors only")
}
function folder(path) { sub(/\/.*/, "", path); return path }

function check_foreign(header) {
  if (header ~ /^(CLI|nlohmann|doctest|stb)\// || header ~ /^(pcre2|utf8proc|cblas)[.]h$/) {
    if (file ~ /[.]h$/) report("a header of ours includes no other library: move <" header "> into a .cpp")
    if (header ~ /^doctest/) report("<" header "> belongs in tests/")
  }
  if (header ~ /^CLI\// && file !~ /^src\/cli\/option[a-z_]*[.]cpp$/) report("CLI11 is included by src/cli/option*.cpp only")
  if (header ~ /^nlohmann\// && !json[file]++ && ++n_json > 4) report("nlohmann-json is included by at most 4 files; this is one more")
}

BEGIN {
  n = split("base 0 tensor 1 text 1 plot 1 units 1 config 2 claims 3 kernels 3 files 4 model 5 recurrent 6 generate 6 " \
            "inspect 7 measure 7 learn 8 compare 9 cli 10", word, " ")
  for (i = 1; i < n; i += 2) floor[word[i]] = word[i + 1]
}
{
  file = $0
  line = 0
  in_src = file ~ /^src\//
  if (in_src && !(folder(substr(file, 5)) in floor)) { report("no floor has this folder; see DESIGN of the house in src/README.md"); next }
  while ((getline text < file) > 0) {
    line++
    if (text !~ /^[ \t]*#[ \t]*include/) continue
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", text)
    name = substr(text, 2)
    sub(/[">].*/, "", name)
    # A library must not hide from this check between quotes.
    if (text ~ /^"/ && in_src && name !~ /^(CLI|nlohmann|doctest|stb)\//) check_own(name)
    else check_foreign(name)
  }
  close(file)
}
END { exit failed }'
