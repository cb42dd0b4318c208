#!/bin/sh
# make check: the rules of the house that a machine can check. Each check is a file in scripts/check/ that prints
# file:line and what to do for every violation and fails if there was one. Needs sh, awk and clang-format.
set -u
cd "$(dirname "$0")/.." || exit 1

passed=0 failed=0
for check in floors lengths path format documents pragmas places test lessons; do
  if output=$(sh "scripts/check/$check.sh" 2>&1); then
    passed=$((passed + 1))
    echo "ok    $check${output:+: $output}"
  else
    failed=$((failed + 1))
    echo "FAIL  $check"
    printf '%s\n' "$output" | sed 's/^/  /'
  fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
