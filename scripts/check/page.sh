#!/bin/sh
# make check-page: the page of orrery trace --html, opened and used in a headless Chromium. Needs python3.
#   sh scripts/check/page.sh PROGRAM [FOLDER]          FOLDER: keep a screenshot of each state there
#   sh scripts/check/page.sh PROGRAM --picture FILE    only draw the picture of the README
set -u
program=${1:?the program is to be named}
browser=
for name in chromium chromium-browser google-chrome '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; do
  command -v "$name" >/dev/null && browser=$name && break
done
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
  echo "Chromium or python3 is missing. Run: sh scripts/setup.sh --developer" >&2
  exit 1
fi

temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM
page() { # NAME OPTION...
  name=$1
  shift
  "$program" trace --html "$temporary/$name.html" --seed 7 "$@" 2>"$temporary/err" || { cat "$temporary/err"; exit 1; }
}
if [ "${2:-}" = --picture ]; then
  page picture -p 'Once upon a time' -n 20
  python3 scripts/check/page.py "$browser" picture "$temporary/picture.html" "${3:?a file is to be named}"
  exit
fi
page short -p 'Once upon a time' -n 20
page long -p 'Once upon a time' -n 300 --ignore-eos --repeat-penalty 1.1 --temp 1
page chinese -p '从前' -n 40 --language chinese
[ $# -lt 2 ] || mkdir -p "$2"
python3 scripts/check/page.py "$browser" check "$temporary/short.html" "$temporary/long.html" "$temporary/chinese.html" ${2:+"$2"}
