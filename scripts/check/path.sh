#!/bin/sh
# The path from prompt to token reads in a day: under 3,000 lines. Prints how many there are. The way back, which only
# training takes, does not count, nor do chat templates (they end where the prompt begins), the layers of recurrent
# networks and additive attention, which a decoder-only transformer does not have.
sh scripts/check/files.sh '^src/(text/|kernels/kernels[.]h$|kernels/reference/|model/|generate/).*[.](cpp|h)$|^src/kernels/kernels[.]h$' |
  grep -Ev '^src/kernels/reference/(backward|recurrent|additive)|^src/text/chat_' | awk '
{
  part = $0
  sub(/^src\//, "", part)
  if (part !~ /^kernels/) sub(/\/.*/, "", part); else part = "kernels"
  while ((getline text < $0) > 0) { total++; count[part]++ }
  close($0)
}
END {
  if (total >= 3000) {
    print "src:1: the path from prompt to token has " total " lines, under 3000 are allowed: simplify"
    for (part in count) print "src/" part ": " count[part] " lines"
    exit 1
  }
  print total + 0 " lines from prompt to token (under 3000)"
}'
