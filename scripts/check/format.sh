#!/bin/sh
# The layout of the sources is what clang-format makes of them.
if ! command -v clang-format >/dev/null; then
  echo "clang-format is missing. Run: sh scripts/setup.sh --developer"
  exit 1
fi
files=$(sh scripts/check/files.sh '^(src|lessons|tests)/.*[.](cpp|h)$')
[ -n "$files" ] || exit 0
# One line for each place is enough; --dry-run prints three.
output=$(echo "$files" | xargs clang-format --dry-run -Werror 2>&1) && exit 0
printf '%s\n' "$output" | awk '/ error: / { sub(/:[0-9]+: error: .*/, ": not laid out as clang-format does: make format"); print }'
exit 1
