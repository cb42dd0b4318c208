#!/bin/sh
# The documents of the lessons, checked by running them.
#   sh scripts/lessons.sh check [LESSON...]     every command prints what the document says
#   sh scripts/lessons.sh update [LESSON...]    the documents get what the commands print now
# LESSON is 05 or 05-attention; all by default. Build first: make check-lessons does. In a document,
#   ```console
#   $ make lesson-05
#   ...
#   ```
# is a command (it may go on in the next line after a \) and its output. Both languages must have the same blocks, so
# each command runs once. How outputs are compared: scripts/lessons/compare.awk. Beside its README a lesson may have an
# exercise, which is treated the same.
set -u
cd "$(dirname "$0")/.." || exit 1
mode=${1:-}
case $mode in check | update) shift ;; *) echo "usage: sh scripts/lessons.sh check|update [LESSON...]" >&2; exit 2 ;; esac

# The commands run as a reader would type them, also where make has called this script.
unset MAKEFLAGS MFLAGS MAKELEVEL

temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT
status=0
total=0

# run_document FILE: runs its commands; their outputs go to $temporary/N.output.
run_document() {
  rm -f "$temporary"/*
  awk -v out="$temporary" -f scripts/lessons/blocks.awk "$1"
  allowed=$(sed -n 's/^Reading: [0-9]* minutes · Running: under \([0-9]*\) seconds.*/\1/p' "$1")
  number=0
  while number=$((number + 1)) && [ -f "$temporary/$number.command" ]; do
    began=$(date +%s)
    sh "$temporary/$number.command" >"$temporary/$number.output" 2>&1 </dev/null ||
      echo "[exit status $?]" >>"$temporary/$number.output"
    seconds=$(($(date +%s) - began))
    total=$((total + seconds))
    # The times hold for two quiet cores; a machine may have neighbours.
    if [ "$mode" = check ] && [ $seconds -gt $((2 * ${allowed:-0})) ]; then
      echo "$1:$(cat "$temporary/$number.line"): took $seconds s, the document says under ${allowed:-?}"
      status=1
    fi
  done
}

# document FOLDER NAME: both languages of README or exercise.
document() {
  run_document "$1/$2.md"
  if [ "$mode" = update ]; then
    for file in "$1/$2.md" "$1/$2.zh.md"; do
      awk -v out="$temporary" -v update=1 -f scripts/lessons/blocks.awk "$file" >"$temporary/new" &&
        cat "$temporary/new" >"$file"
    done
    return
  fi
  sh scripts/lessons/pairs.sh "$1" "$2" || status=1
  number=0
  while number=$((number + 1)) && [ -f "$temporary/$number.command" ]; do
    awk -v where="$1/$2.md" -v first="$(cat "$temporary/$number.line")" -f scripts/lessons/compare.awk \
      "$temporary/$number.expected" "$temporary/$number.output" || status=1
  done
}

lesson() {
  document "$1" README
  if [ -f "$1/exercise.md" ]; then document "$1" exercise; fi
}

for folder in lessons/[0-9]*/; do
  folder=${folder%/}
  name=${folder#lessons/}
  wanted=$([ $# = 0 ] && echo yes)
  for one in "$@"; do
    if [ "$one" = "$name" ] || [ "$one" = "${name%%-*}" ]; then wanted=yes; fi
  done
  if [ -z "$wanted" ]; then continue; fi
  before=$total
  failed_before=$status
  status=0
  lesson "$folder"
  echo "$([ $status = 0 ] && echo 'ok  ' || echo FAIL)  $name: $((total - before)) s"
  if [ $failed_before != 0 ]; then status=1; fi
done
if [ "$mode" = check ] && [ $total -gt 180 ]; then
  echo "all lessons take $total s; they shall stay under three minutes"
  status=1
fi
exit $status
