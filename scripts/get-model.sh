#!/bin/sh
# Fetches a model of scripts/models.txt and checks its size and SHA-256 against what the host states. A file appears
# whole or not at all: what has come so far waits in FILE.part, and the next call goes on from there.
#
#   sh scripts/get-model.sh NAME [FOLDER]   into FOLDER, downloads/NAME by default
#   sh scripts/get-model.sh --list          the names
#   sh scripts/get-model.sh --help          this text
#
# Needs curl or wget. ORRERY_HUB and ORRERY_RAW name other hosts, ORRERY_CATALOGUE another list.
set -u

hub=${ORRERY_HUB:-https://huggingface.co}
raw=${ORRERY_RAW:-https://raw.githubusercontent.com}
here=$(dirname "$0")
catalogue=${ORRERY_CATALOGUE:-$here/models.txt}

say() { echo "get-model.sh: $*" >&2; }
fail() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
names() { awk '!/^#/ && NF && !seen[$1]++ { print $1 }' "$catalogue"; }

[ -r "$catalogue" ] || fail "$catalogue cannot be read"
case ${1:-} in
  -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --list) names; exit 0 ;;
  '') say "name a model: $(names | tr '\n' ' ')"; exit 2 ;;
  -*) say "unknown option '$1' (see --help)"; exit 2 ;;
esac
[ $# -le 2 ] || { say "a name and a folder are expected, not '$3'"; exit 2; }
name=$1
folder=${2:-$here/../downloads/$name}

if have curl; then fetcher=curl; elif have wget; then fetcher=wget; else
  fail "neither curl nor wget is installed"
fi
if have sha256sum; then sum() { sha256sum "$1"; }
elif have shasum; then sum() { shasum -a 256 "$1"; }
elif have openssl; then sum() { openssl dgst -sha256 -r "$1"; }
else fail "none of sha256sum, shasum and openssl is installed"
fi
sha_of() { sum "$1" | cut -c1-64; }
size_of() { wc -c <"$1" | tr -d ' '; }

lines=$(awk -v name="$name" '!/^#/ && $1 == name { print $2, $3, $4, $5, $6, $7 }' "$catalogue")
[ -n "$lines" ] || fail "there is no model '$name'; there are $(names | tr '\n' ' ')"
mkdir -p "$folder" 2>/dev/null || fail "$folder cannot be made"
answer=$folder/.answer.$$
trap 'rm -f "$answer"' EXIT
trap 'exit 130' INT TERM

# fetch URL FILE [resume]: leaves the status of HTTP in $http, 000 where there was no answer, and fails unless all of
# it came.
fetch() {
  if [ $fetcher = curl ]; then
    show=-sS
    if [ -n "${3:-}" ]; then if [ -t 2 ]; then show=-#; fi; fi
    http=$(curl -L $show --connect-timeout 30 --speed-limit 1 --speed-time 60 -f ${3:+-C -} -o "$2" \
      -w '%{http_code}' "$1" 2>"$answer.log")
  else
    wget -S -T 60 -t 1 ${3:+-c} -O "$2" "$1" 2>"$answer.log"
  fi
  status=$?
  if [ $fetcher = wget ]; then http=$(awk '$1 ~ /^HTTP\// { last = $2 } END { print last ? last : "000" }' "$answer.log"); fi
  rm -f "$answer.log"
  return $status
}

# refuse WHAT URL: why the host did not give it, by $http.
refuse() {
  case $http in
    000) fail "$1: no answer from $2" ;;
    401 | 403) fail "$1: the host wants you to log in first, and to agree to the model's terms: $2" ;;
    404) fail "$1: the host does not have it: $2" ;;
    *) fail "$1: the host answered $http: $2" ;;
  esac
}

# What the host states in its Git LFS pointer: sets $size and $sha, or leaves them as they are.
ask_host() { # PATH POINTER-URL
  fetch "$2" "$answer" || refuse "$1" "$2"
  [ "$(head -c 23 "$answer" | tr -d '\000')" = 'version https://git-lfs' ] || return 0
  stated_sha=$(awk '$1 == "oid" { sub(/^sha256:/, "", $2); print $2 }' "$answer")
  stated_size=$(awk '$1 == "size" { print $2 }' "$answer")
  expr "$stated_sha" : '[0-9a-f]\{64\}$' >/dev/null && expr "$stated_size" : '[0-9][0-9]*$' >/dev/null ||
    fail "$1: the host's Git LFS pointer makes no sense: $2"
  [ "$sha" = - ] || [ "$sha" = "$stated_sha" ] || fail "$1: the host has another file than the one that was seen: $2"
  sha=$stated_sha size=$stated_size
}

# Whether FILE is what was promised; says why not in $why.
is_right() { # FILE
  why=
  if [ "$size" != - ] && [ "$(size_of "$1")" != "$size" ]; then why="$(size_of "$1") bytes instead of $size"
  elif [ "$sha" != - ] && [ "$(sha_of "$1")" != "$sha" ]; then why="its SHA-256 is not $sha"
  fi
  [ -z "$why" ]
}

download() { # URL FILE
  part=$2.part
  # A complete one needs no asking; one that is too long is not the beginning of this file.
  if [ -e "$part" ] && [ "$size" != - ]; then
    if [ "$(size_of "$part")" = "$size" ]; then return 0; fi
    if [ "$(size_of "$part")" -gt "$size" ]; then rm -f "$part"; fi
  fi
  had=0
  if [ -e "$part" ]; then had=$(size_of "$part"); fi
  fetch "$1" "$part" resume && return 0
  # curl's and wget's own words for a file that cannot be written.
  case $fetcher$status in
    curl23 | wget3) fail "$part cannot be written: is the disk full?" ;;
  esac
  # A host that cannot go on in the middle begins again.
  if [ "$had" != 0 ] && [ "$http" != 000 ] && [ "$(size_of "$part")" = "$had" ]; then
    rm -f "$part"
    fetch "$1" "$part" resume && return 0
  fi
  case $http in
    2*) fail "$2: the connection broke after $(size_of "$part") bytes; the same command goes on from there" ;;
    *) [ -s "$part" ] || rm -f "$part"; refuse "$2" "$1" ;;
  esac
}

get() { # HOST REPOSITORY PATH SAVED-AS SIZE SHA256
  file=$folder/$4 size=$5 sha=$6
  case $1 in
    hub) url=$hub/$2/resolve/main/$3; ask_host "$file" "$hub/$2/raw/main/$3" ;;
    raw) url=$raw/$2/$3 ;;
    *) fail "$catalogue: there is no kind of host '$1'" ;;
  esac
  if [ -e "$file" ]; then
    is_right "$file" || fail "$file is there and is another file ($why): remove it first"
    say "$file is there already"
    return
  fi
  download "$url" "$file"
  if ! is_right "$file.part"; then
    rm -f "$file.part"
    fail "$file: what came is wrong: $why; it was removed"
  fi
  mv "$file.part" "$file" || fail "$file cannot be written"
  if [ "$sha" = - ]; then say "$file: $(size_of "$file") bytes, unchecked: the host states no checksum"
  else say "$file: $(size_of "$file") bytes, SHA-256 as stated"; fi
}

while read -r host repository path saved size_known sha_known; do
  get "$host" "$repository" "$path" "$saved" "$size_known" "$sha_known" </dev/null
done <<END
$lines
END
