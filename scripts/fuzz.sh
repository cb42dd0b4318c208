#!/bin/sh
# Runs fuzz targets one after the other, each for so many seconds, and prints one line for each.
#
#   sh scripts/fuzz.sh FOLDER SECONDS [PATTERN]
#
# FOLDER holds the programs, and `seeds`, which writes what they begin with. What they found interesting is kept in
# FOLDER/corpus for the next time. An input that makes a target fail is kept in FOLDER/crashes; run the target with that
# file as its only argument to see the failure again.
set -u
folder=$1 seconds=$2 pattern=${3:-}
mkdir -p "$folder/crashes" "$folder/logs"
"$folder/seeds" "$folder/first" || exit 1

status=0
for seeds in "$folder/first"/*; do
  target=${seeds##*/}
  case $target in *"$pattern"*) ;; *) continue ;; esac
  mkdir -p "$folder/corpus/$target"
  log=$folder/logs/$target
  # A reader of some kB has no business taking more than 64 MB at once; 20 s are forever.
  if "$folder/$target" "$folder/corpus/$target" "$seeds" -max_total_time="$seconds" -max_len=16384 -timeout=20 \
    -malloc_limit_mb=64 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$folder/crashes/$target-" \
    >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    reached=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    echo "ok    $target: $runs inputs, $reached places of the code reached"
  else
    status=1
    what=$(grep -E -m 1 '^SUMMARY|ERROR: libFuzzer|runtime error|does not hold' "$log")
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    echo "FAIL  $target: ${what:-it did not start}; input: ${input:-none}; log: $log"
  fi
done
exit $status
