#!/bin/sh
# Installs what Orrery needs and this machine lacks, with apt, dnf or Homebrew; nothing that is there is touched.
#
#   sh scripts/setup.sh               what building, running and testing need
#   sh scripts/setup.sh --developer   also clang, clang-format, libFuzzer, gdb, lldb, Chromium, python3, curl, wget
#   sh scripts/setup.sh --dry-run     only print the command
#   sh scripts/setup.sh --help        this text
set -u

developer=no dry_run=no
for argument in "$@"; do
  case $argument in
    --developer) developer=yes ;;
    --dry-run) dry_run=yes ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "setup.sh: unknown option '$argument' (see --help)" >&2; exit 2 ;;
  esac
done

have() { command -v "$1" >/dev/null 2>&1; }

missing=
need() { missing="$missing $*"; }
# need_command COMMAND PACKAGE: a program counts as there whoever installed it.
need_command() { have "$1" || need "$2"; }
# need_packages PACKAGE...: libraries are asked of the package manager, by the function `installed` set below.
need_packages() { for package in "$@"; do installed "$package" || need "$package"; done; }
# Either compiler will do.
need_compiler() { have g++ || have clang++ || need "$1"; } # G++-PACKAGE
# For make check-get-model, python3 also for make check-page; the packages have these names everywhere.
need_downloads() { for program in python3 curl wget; do need_command $program $program; done; }
need_browser() { # PACKAGE
  have chromium || have chromium-browser || have google-chrome || need "$1"
}

# 1. Which package manager, and what is missing in its words?
if have apt-get; then
  manager=apt
  installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
  need_compiler g++
  need_command make make
  need_packages libopenblas-dev libstb-dev doctest-dev nlohmann-json3-dev libpcre2-dev libutf8proc-dev libcli11-dev
  # Lettering of figures, Latin and Chinese: 8 MB when installed. Without them there are built-in letters.
  need_packages fonts-dejavu-core fonts-wqy-microhei
  if [ $developer = yes ]; then
    need_command clang++ clang
    need_command clang-format clang-format
    need_command gdb gdb
    need_command lldb lldb
    need_packages libclang-rt-dev
    need_downloads
    # Ubuntu has the browser under another name.
    if grep -qs '^ID=ubuntu' /etc/os-release; then need_browser chromium-browser; else need_browser chromium; fi
  fi
elif have dnf; then
  manager=dnf
  installed() { rpm -q --whatprovides "$1" >/dev/null 2>&1; }
  need_compiler gcc-c++
  need_command make make
  need_packages openblas-devel stb-devel doctest-devel json-devel pcre2-devel utf8proc-devel cli11-devel
  # Lettering of figures, Latin and Chinese. Without them there are built-in letters.
  need_packages dejavu-sans-fonts google-droid-sans-fonts
  if [ $developer = yes ]; then
    need_command clang++ clang
    need_command clang-format clang-tools-extra
    need_command gdb gdb
    need_command lldb lldb
    need_packages compiler-rt
    need_downloads
    need_browser chromium
  fi
elif have brew; then
  manager=brew
  installed() { brew list --versions "$1" >/dev/null 2>&1; }
  if ! have c++; then
    echo "setup.sh: install Apple's compiler first: xcode-select --install" >&2
    exit 1
  fi
  # Apple's make is from 2006: Homebrew's newer one is called gmake. To our knowledge there is no formula for stb.
  need_command gmake make
  need_packages openblas doctest nlohmann-json pcre2 utf8proc cli11
  if [ $developer = yes ]; then
    need_command clang-format clang-format
    need_packages llvm
    need_downloads
    [ -d '/Applications/Google Chrome.app' ] || need_browser chromium
  fi
  headers=$(brew --prefix)/include/stb
  if [ ! -e "$headers/stb_image_write.h" ]; then
    echo "setup.sh: stb is to be copied by hand: stb_image_write.h, stb_easy_font.h, stb_truetype.h and, for the tests," >&2
    echo "stb_image.h" >&2
    echo "from https://github.com/nothings/stb into $headers" >&2
  fi
else
  echo "setup.sh: found none of apt-get, dnf and brew. Install by hand: a C++20 compiler, GNU make, OpenBLAS, stb," >&2
  echo "doctest, nlohmann-json, PCRE2, utf8proc, CLI11." >&2
  exit 1
fi

if [ -z "$missing" ]; then
  echo "everything is installed"
  exit 0
fi

# 2. With which rights? Homebrew wants to be an ordinary user.
as_root=no  # as_root: no (not needed), yes (with sudo), impossible
if [ $manager != brew ] && [ "$(id -u)" != 0 ]; then
  if have sudo; then as_root=yes; else as_root=impossible; fi
fi
case $manager in
  # DEBIAN_FRONTEND: packages must not ask questions. env, because sudo drops variables.
  apt)
    update='env DEBIAN_FRONTEND=noninteractive apt-get update -q'
    install="env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends$missing" ;;
  dnf) update=true install="dnf install -y$missing" ;;
  brew) update=true install="brew install$missing" ;;
esac
sudo=
[ "$as_root" = yes ] && sudo='sudo '
[ "$update" = true ] && plan=$sudo$install || plan="$sudo$update && $sudo$install"

if [ $dry_run = yes ]; then
  echo "$plan"
  exit 0
fi
if [ "$as_root" = impossible ]; then
  echo "setup.sh: these packages are missing:$missing" >&2
  echo "Installing them takes root, and there is no sudo here. Ask an administrator to run:" >&2
  echo "  $plan" >&2
  exit 1
fi

# 3. Do it. Mirrors fail now and then, so each step has a second chance.
twice() {
  # $sudo is unquoted: it is one word or nothing.
  $sudo "$@" && return
  echo "setup.sh: '$*' failed; trying once more" >&2
  sleep 3
  $sudo "$@"
}
echo "installing:$missing"
# Unquoted on purpose: both are commands with their words.
if ! twice $update || ! twice $install; then
  echo "setup.sh: could not install:$missing" >&2
  echo "The command was: $plan" >&2
  exit 1
fi
# The build shall look again at what is there now.
rm -f "$(dirname "$0")"/../build/config*.mk
