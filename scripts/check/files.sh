#!/bin/sh
# Lists the repository's files, one per line: those that git tracks or would track, or all if there is no git.
#   sh scripts/check/files.sh [REGEX]    only names that match the awk expression
regex=${1:-.}
if [ -e .git ] && git rev-parse >/dev/null 2>&1; then
  # A tracked file that was deleted is still listed, hence the test.
  git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
  done
else
  find . -name .git -prune -o -path ./build -prune -o -type f -print | sed 's|^\./||'
fi | LC_ALL=C sort -u | awk -v regex="$regex" '$0 ~ regex'
