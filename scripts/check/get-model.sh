#!/bin/sh
# make check-get-model: scripts/get-model.sh against a web server on localhost, with curl and with wget. Needs python3.
set -u
cd "$(dirname "$0")/../.." || exit 1
for tool in python3 curl wget; do
  command -v $tool >/dev/null || { echo "$tool is missing. Run: sh scripts/setup.sh --developer"; exit 1; }
done

temporary=$(mktemp -d) || exit 1
server=
trap 'kill $server 2>/dev/null; rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "line %d\n", i }' >"$temporary/content"
size=$(wc -c <"$temporary/content" | tr -d ' ')
sha=$(sha256sum "$temporary/content" | cut -c1-64)
python3 scripts/check/range_server.py "$temporary/content" "$temporary/log" >"$temporary/port" &
server=$!
tries=0
until [ -s "$temporary/port" ]; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || { echo "the server does not start"; exit 1; }
  sleep 0.1
done
ORRERY_HUB=http://127.0.0.1:$(cat "$temporary/port") ORRERY_RAW=$ORRERY_HUB ORRERY_CATALOGUE=$temporary/models
export ORRERY_HUB ORRERY_RAW ORRERY_CATALOGUE
for owner in good cut whole other longer odd plain gated absent broken; do
  echo "$owner hub $owner/models folder/m.gguf m.gguf - -"
done >"$ORRERY_CATALOGUE"
cat >>"$ORRERY_CATALOGUE" <<END
pinned hub good/models m.bin m.bin $size $sha
pinned raw good/models m.bin tokenizer.bin $size $sha
moved  hub good/models m.bin m.bin $size $(echo x | sha256sum | cut -c1-64)
lost   raw plain/models m.bin m.bin $size $(echo x | sha256sum | cut -c1-64)
unseen raw plain/models m.bin m.bin - -
END

# PATH with nothing but one of the two.
for tool in curl wget; do
  mkdir "$temporary/$tool"
  for program in $tool sh awk cat cut dirname expr head mkdir mv rm sed sha256sum tr wc; do
    ln -s "$(command -v $program)" "$temporary/$tool/$program"
  done
done

checked=0 failed=0
# expect STATUS WORDS ARGUMENT...: the script ends so, and says so in one line.
expect() {
  status=$1 words=$2
  shift 2
  PATH=$temporary/$tool sh scripts/get-model.sh "$@" >"$temporary/out" 2>"$temporary/err"
  found=$?
  checked=$((checked + 1))
  if [ $found = "$status" ] && grep -qF -- "$words" "$temporary/err" && [ ! -s "$temporary/out" ] &&
    ! grep -qv '^get-model.sh: ' "$temporary/err"; then return; fi
  failed=$((failed + 1))
  echo "$tool: get-model.sh $*: status $found, $status expected with '$words'; it said:"
  sed 's/^/  /' "$temporary/out" "$temporary/err"
}
# holds FOLDER NAME...: these files, and no others.
holds() {
  folder=$1
  shift
  checked=$((checked + 1))
  [ "$(ls -A "$folder" | tr '\n' ' ')" = "$(for name in "$@"; do printf '%s ' "$name"; done)" ] && return
  failed=$((failed + 1))
  echo "$tool: $folder holds $(ls -A "$folder" | tr '\n' ' '), expected: $*"
}
same() { # FILE
  checked=$((checked + 1))
  cmp -s "$1" "$temporary/content" && return
  failed=$((failed + 1))
  echo "$tool: $1 is not what the server has"
}
asked() { # WORDS: of the last request
  checked=$((checked + 1))
  tail -n 1 "$temporary/log" | grep -qF -- "$1" && return
  failed=$((failed + 1))
  echo "$tool: the last request was '$(tail -n 1 "$temporary/log")', expected: $1"
}

for tool in curl wget; do
  to=$temporary/$tool-models
  mkdir "$to"
  expect 0 "m.gguf: $size bytes, SHA-256 as stated" good "$to/good"
  same "$to/good/m.gguf"
  holds "$to/good" m.gguf
  expect 0 "is there already" good "$to/good"
  echo other >"$to/good/m.gguf"
  expect 1 "is another file (6 bytes instead of $size): remove it first" good "$to/good"

  mkdir "$to/resumed"
  head -c 1000 "$temporary/content" >"$to/resumed/m.gguf.part"
  expect 0 "SHA-256 as stated" good "$to/resumed"
  same "$to/resumed/m.gguf"
  asked 'bytes=1000-'
  mkdir "$to/complete"
  cp "$temporary/content" "$to/complete/m.gguf.part"
  expect 0 "SHA-256 as stated" good "$to/complete"
  asked '/raw/main/'
  mkdir "$to/longer-part"
  cat "$temporary/content" "$temporary/content" >"$to/longer-part/m.gguf.part"
  expect 0 "SHA-256 as stated" good "$to/longer-part"
  same "$to/longer-part/m.gguf"
  mkdir "$to/damaged"
  head -c 1000 /dev/zero >"$to/damaged/m.gguf.part"
  expect 1 "what came is wrong: its SHA-256 is not $sha; it was removed" good "$to/damaged"
  holds "$to/damaged"

  # The server is asked for another path by each of the two, and breaks the first connection for each path.
  sed "s|folder/m.gguf|$tool/m.gguf|" "$ORRERY_CATALOGUE" >"$temporary/models.$tool"
  ORRERY_CATALOGUE=$temporary/models.$tool
  expect 1 "the connection broke after $((size / 2)) bytes; the same command goes on from there" cut "$to/cut"
  holds "$to/cut" m.gguf.part
  expect 0 "SHA-256 as stated" cut "$to/cut"
  asked "bytes=$((size / 2))-"
  same "$to/cut/m.gguf"
  ORRERY_CATALOGUE=$temporary/models

  mkdir "$to/whole"
  head -c 1000 "$temporary/content" >"$to/whole/m.gguf.part"
  expect 0 "SHA-256 as stated" whole "$to/whole"
  same "$to/whole/m.gguf"

  expect 1 "its SHA-256 is not" other "$to/other"
  holds "$to/other"
  expect 1 "$size bytes instead of $((size - 1))" longer "$to/longer"
  holds "$to/longer"
  expect 1 "Git LFS pointer makes no sense" odd "$to/odd"
  expect 0 "unchecked: the host states no checksum" plain "$to/plain"
  same "$to/plain/m.gguf"
  expect 1 "the host wants you to log in first" gated "$to/gated"
  holds "$to/gated"
  expect 1 "the host does not have it" absent "$to/absent"
  expect 1 "the host answered 500" broken "$to/broken"
  host=$ORRERY_HUB ORRERY_HUB=http://127.0.0.1:9
  expect 1 "no answer from http://127.0.0.1:9" good "$to/silent"
  ORRERY_HUB=$host
  holds "$to/silent"

  expect 0 "tokenizer.bin: $size bytes, SHA-256 as stated" pinned "$to/pinned"
  holds "$to/pinned" m.bin tokenizer.bin
  expect 1 "another file than the one that was seen" moved "$to/moved"
  expect 1 "its SHA-256 is not" lost "$to/lost"
  holds "$to/lost"
  expect 0 "unchecked" unseen "$to/unseen"

  expect 1 "there is no model 'none'; there are good cut " none
  expect 2 "name a model: good cut "
  expect 2 "unknown option '--fast'" --fast
  expect 2 "not 'c'" good b c
  expect 1 "content/x cannot be made" good "$temporary/content/x"
done

# The list itself: fields, kinds of hosts, no name that could leave its folder.
awk '!/^#/ && NF && (NF != 7 || $2 !~ /^(hub|raw)$/ || $5 ~ /\// || $1 ~ /\// ||
  $6 !~ /^(-|[0-9]+)$/ || ($7 != "-" && ($7 !~ /^[0-9a-f]+$/ || length($7) != 64))) { print FILENAME ":" NR ": " $0; bad = 1 } END { exit bad }' \
  scripts/models.txt || failed=$((failed + 1))

echo "$((checked - failed)) of $checked passed"
[ $failed = 0 ]
