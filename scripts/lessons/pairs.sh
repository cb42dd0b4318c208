#!/bin/sh
# sh scripts/lessons/pairs.sh FOLDER NAME: the lesson has all its parts, and its documents NAME.md and NAME.zh.md say the
# same: headings, code blocks, pictures, links, tables, times. Prints what is amiss and fails.
folder=$1
name=$2
status=0
amiss() { echo "$1"; status=1; }
parts="$name.md $name.zh.md"
if [ "$name" = README ]; then parts="$parts main.cpp figure.png"; fi
for file in $parts; do
  [ -f "$folder/$file" ] || { echo "$folder/$file is missing"; exit 1; }
done

english='## The idea|## Run it|## What to look at|## Step through it|## Check the source|## Try|## Next|'
chinese='## 思路|## 运行|## 看什么|## 单步跟踪|## 核对原文|## 试一试|## 下一课|'
headings() { awk '/^```/ { inside = !inside } !inside && /^## /' "$1" | tr '\n' '|'; }
if [ "$name" = README ]; then
  [ "$(headings "$folder/README.md")" = "$english" ] || amiss "$folder/README.md: its sections shall be $english"
  [ "$(headings "$folder/README.zh.md")" = "$chinese" ] || amiss "$folder/README.zh.md: its sections shall be $chinese"
fi

time_english=$(sed -n 's/^Reading: \([0-9]*\) minutes · Running: under \([0-9]*\) seconds.*/\1 \2/p' "$folder/$name.md")
time_chinese=$(sed -n 's/^阅读：\([0-9]*\) 分钟 · 运行：不到 \([0-9]*\) 秒.*/\1 \2/p' "$folder/$name.zh.md")
[ -n "$time_english" ] || amiss "$folder/$name.md: there is no line 'Reading: N minutes · Running: under N seconds'"
[ "$time_english" = "$time_chinese" ] || amiss "$folder: the documents give different times: '$time_english', '$time_chinese'"

# What must be equal, line by line.
skeleton() {
  awk '
    /^```/ { inside = !inside; print NR "\t" $0; next }
    inside { print NR "\t" $0; next }
    /^#+ / { print NR "\theading " length($1) }
    /^\|/ { n = gsub(/\|/, "|"); print NR "\ttable row of " n - 1 }
    /^\$\$/ { print NR "\tformula" }
    {
      rest = $0
      while (match(rest, /\]\([^)]*\)/)) {
        print NR "\tlink " substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
      }
    }' "$1" | sed 's/README[.]zh[.]md/README.md/g; s/exercise[.]zh[.]md/exercise.md/g'
}
a=$(mktemp) && b=$(mktemp) || exit 1
trap 'rm -f "$a" "$b"' EXIT
skeleton "$folder/$name.md" >"$a"
skeleton "$folder/$name.zh.md" >"$b"
different=$(awk -F'\t' -v one="$folder/$name.md" -v two="$folder/$name.zh.md" '
  FILENAME == ARGV[1] { line[++n] = $1; text[n] = substr($0, length($1) + 2); next }
  { m++; if (m > n || text[m] != substr($0, length($1) + 2)) {
      print two ":" $1 ": has \"" substr($0, length($1) + 2) "\" where " one ":" (m > n ? "end" : line[m]) " has \"" text[m] "\""
      reported = 1; exit } }
  END { if (!reported && m < n) print one ":" line[m + 1] ": \"" text[m + 1] "\" is missing in " two }' "$a" "$b")
[ -z "$different" ] || amiss "$different"

# Links within the repository lead somewhere.
for document in "$name.md" "$name.zh.md"; do
  grep -o '](\([^)]*\))' "$folder/$document" | sed 's/^](//; s/)$//; s/#.*//' | while read -r link; do
    case $link in "" | http*) continue ;; esac
    [ -e "$folder/$link" ] || echo "$folder/$document: there is no $link"
  done | grep . && status=1
done
exit $status
