#!/bin/sh
# A file has at most 400 lines (a lesson 150), a function at most 60.
status=0
sh scripts/check/files.sh '^(src|lessons|tests)/.*[.](cpp|h)$' | awk '
{
  limit = $0 ~ /^lessons\/[^\/]*\/main[.]cpp$/ ? 150 : 400
  lines = 0
  while ((getline text < $0) > 0) lines++
  close($0)
  if (lines > limit) { print $0 ":" limit + 1 ": the file has " lines " lines, at most " limit ": split it"; failed = 1 }
}
END { exit failed }' || status=1
sh scripts/check/files.sh '^(src|lessons)/.*[.](cpp|h)$' | awk -f scripts/check/functions.awk || status=1
exit $status
