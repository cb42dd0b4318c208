#!/bin/sh
# What the documents name in `backticks` exists: symbols, files and make targets.
documents=$(sh scripts/check/files.sh '^README[^\/]*[.]md$|^src/README[.]md$|^lessons/.*(README|exercise)[^\/]*[.]md$')
[ -n "$documents" ] || exit 0
{
  sh scripts/check/files.sh | sed 's/^/file /'
  sh scripts/check/files.sh '^(src|tests|lessons)/.*[.](cpp|h|table)$' | sed 's/^/code /'
  echo "make Makefile"
  echo "$documents" | sed 's/^/document /'
} | awk -f scripts/check/documents.awk
