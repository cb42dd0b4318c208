#!/bin/sh
# No file names a place that exists on one machine only; .ci/run alone may name the folder of the public data. And every
# file lies in a room of the house: what a run leaves at the top level does not belong there.
status=0

# report TEXT: turns what grep found into messages; fails if there was anything.
report() { awk -F: -v text="$1" '{ print $1 ":" $2 ": " text; found = 1 } END { exit found }'; }

# /dev/null makes grep print the name of even a single file. The brackets keep the pattern from finding itself.
place='/([w]ork|[t]mp|[r]oot|[h]ome/[a-z][a-z0-9_-]*|[U]sers/[A-Za-z]+)(/|[^A-Za-z0-9_]|$)'
sh scripts/check/files.sh | tr '\n' '\0' | xargs -0 grep -InE "(^|[^A-Za-z0-9_.~}/-])$place" /dev/null |
  report 'a path of one machine: use a relative path, mktemp -d or std::filesystem::temp_directory_path()' || status=1

sh scripts/check/files.sh | grep -v '^[.]ci/run$' | tr '\n' '\0' | xargs -0 grep -InF '../''shared' /dev/null |
  report 'only .ci/run may name this folder: take it as an argument' || status=1

sh scripts/check/files.sh |
  grep -Ev '^((src|lessons|models|scripts|tests|[.]ci)/|(Makefile|LICENSE|README(|[.][a-z]+)[.]md|[.]git[a-z]+|[.]clang-format)$)' |
  sed 's/$/:1/' | report 'not a place for files: the top level is Makefile, README, LICENSE, src, lessons, models, scripts, tests' || status=1
exit $status
