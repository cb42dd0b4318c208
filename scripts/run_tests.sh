#!/bin/sh
# Runs a program of tests in two parts at once, since most tests keep one core busy, and adds up what they report.
#   sh scripts/run_tests.sh PROGRAM [OPTION...]
# The last line is "N passed, N failed". In a mixed order slow tests fall into both parts; it is the same each time.
program=$1
shift
count=$("$program" --count "$@" | sed -n 's/.*: *\([0-9][0-9]*\)$/\1/p')
[ "${count:-0}" -ge 40 ] || exec "$program" "$@"

outputs=$(mktemp -d) || exit 1
trap 'rm -rf "$outputs"' EXIT
trap 'kill $first $second 2>/dev/null; exit 130' INT TERM
half=$((count / 2))
"$program" "$@" --order-by=rand --rand-seed=1 --last=$half >"$outputs/1" 2>&1 &
first=$!
"$program" "$@" --order-by=rand --rand-seed=1 --first=$((half + 1)) >"$outputs/2" 2>&1 &
second=$!
status=0
wait $first || status=1
wait $second || status=1
cat "$outputs/1" "$outputs/2" | grep -Ev '^[0-9]+ passed, [0-9]+ failed$|^\[doctest\] (test cases|Status)|^=+$'

# Both parts count the tests of the other as passed.
failed=0
for part in 1 2; do
  line=$(tail -n 1 "$outputs/$part")
  case $line in
    *" passed, "*" failed") line=${line#*, } failed=$((failed + ${line% failed})) ;;
    *) echo "part $part ended before its last test" >&2; status=1 failed=$((failed + 1)) ;;
  esac
done
echo "$((count - failed)) passed, $failed failed"
exit $status
