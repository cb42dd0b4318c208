#!/bin/sh
# Asks the compiler what this machine has and writes the answers to FILE for the Makefile.
#
#   sh scripts/detect.sh FILE COMPILER OPENMP OPENBLAS LIBRARY...
#
# OPENMP and OPENBLAS are 0 to leave the thing out. LIBRARY... are the other libraries this build needs.
# Answers are kept: nothing is asked again until COMPILER or this script change or a LIBRARY is new. A summary goes
# to stderr when something was asked. What stops the build goes to stdout, in one line, for make to print.
set -u
file=$1 cxx=$2 want_openmp=$3 want_openblas=$4
shift 4
libraries=$*

# 1. Is the last answer still good? The first line of FILE names the compiler, the second the libraries it saw.
answered() {
  [ -f "$file" ] && [ "$file" -nt "$0" ] || return 1
  { read -r known_cxx && read -r known_libraries; } <"$file"
  [ "$known_cxx" = "# $cxx" ] || return 1
  for library in $libraries; do
    case "$known_libraries " in *" $library "*) ;; *) return 1 ;; esac
  done
}
if answered; then exit 0; fi

temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT

# builds FLAGS...: does the program on standard input compile and link with FLAGS?
builds() {
  cat >"$temporary/probe.cpp"
  # $cxx is unquoted: it may be two words, as in "ccache g++".
  $cxx -std=c++20 "$temporary/probe.cpp" -o "$temporary/probe" "$@" >"$temporary/log" 2>&1
}

# 2. The compiler.
if ! compiler=$($cxx --version 2>/dev/null | head -n 1) || [ -z "$compiler" ]; then
  echo "no C++ compiler: '$cxx' does not run (package g++). Run: sh scripts/setup.sh"
  exit
fi
if ! printf '#include <bit>\n#include <concepts>\n#include <span>\nint main() {}\n' | builds; then
  echo "$compiler does not know C++20: g++ 11 or clang 14 and later do. Choose one with: make CXX=..."
  exit
fi
machine=$($cxx -dumpmachine)

# Homebrew keeps headers and libraries where the compiler does not look by itself.
include_flags= link_flags=
if [ "$(uname)" = Darwin ] && prefix=$(brew --prefix 2>/dev/null); then
  include_flags="-isystem $prefix/include" link_flags="-L$prefix/lib"
fi

# 3. Libraries: all that are there are noted, only what this build cannot do without stops it. Most are headers only.
found= libraries_flags=
for library in CLI11 nlohmann-json doctest PCRE2 utf8proc stb; do
  flag=
  case $library in
    CLI11) header=CLI/CLI.hpp package=libcli11-dev ;;
    nlohmann-json) header=nlohmann/json.hpp package=nlohmann-json3-dev ;;
    doctest) header=doctest/doctest.h package=doctest-dev ;;
    PCRE2) header=pcre2.h package=libpcre2-dev flag=-lpcre2-8 ;;
    utf8proc) header=utf8proc.h package=libutf8proc-dev flag=-lutf8proc ;;
    stb) header=stb/stb_image_write.h package=libstb-dev ;;
  esac
  if printf '#if !__has_include(<%s>)\n#error\n#endif\nint main() {}\n' "$header" |
    builds $include_flags $link_flags $flag; then
    found="$found $library" libraries_flags="$libraries_flags${flag:+ $flag}"
  else
    case " $libraries " in *" $library "*)
      echo "$library is missing (header $header, package $package). Run: sh scripts/setup.sh"
      exit ;;
    esac
  fi
done

# 4. OpenMP: only `#pragma omp simd`, which tells the compiler what loops to vectorise. No library comes with it.
openmp=0 openmp_flags=-Wno-unknown-pragmas openmp_text='no: fewer loops are vectorised'
if [ "$want_openmp" = 0 ]; then
  openmp_text='off (OPENMP=0): fewer loops are vectorised'
elif echo 'int main() {}' | builds -fopenmp-simd; then
  openmp=1 openmp_flags=-fopenmp-simd openmp_text='simd loops'
fi

# 5. OpenBLAS. The probe also asks how the library makes threads (Orrery holds it to one in any case).
openblas=0 openblas_flags= openblas_libs= variant=
blas_program='#include <cblas.h>
#include <cstdio>
int main() {
  openblas_set_num_threads(1);
  const char* kinds[] = {"serial", "pthread", "openmp"};
  int kind = openblas_get_parallel();
  std::printf("%s, %s variant\n", openblas_get_config(), kind >= 0 && kind <= 2 ? kinds[kind] : "unknown");
}'
try_openblas() { # FLAGS LIBS
  # Unquoted: each is a list of flags.
  printf '%s\n' "$blas_program" | builds $1 $2 || return 1
  openblas=1 openblas_flags=$1 openblas_libs=$2
  # "OpenBLAS 0.3.21 ... , pthread variant": the version and the variant are enough. A cross-compiled probe can't run.
  variant=$("$temporary/probe" 2>/dev/null | awk '{ printf "%s, %s", $2, $(NF - 1) " variant, held to one thread" }')
}
if [ "$want_openblas" = 0 ]; then
  openblas_text='off (OPENBLAS=0)'
elif try_openblas "$(pkg-config --cflags openblas 2>/dev/null)" "$(pkg-config --libs openblas 2>/dev/null)" ||
  try_openblas '' -lopenblas || try_openblas -I/usr/include/openblas -lopenblas ||
  { prefix=$(brew --prefix openblas 2>/dev/null) && try_openblas "-I$prefix/include" "-L$prefix/lib -lopenblas"; }; then
  openblas_text=${variant:-yes}
else
  openblas_text='not found'
fi

# 6. Instruction sets. The fast kernels are compiled once for each and chosen when the program starts.
isas=baseline simd_text="baseline of ${machine%%-*}"
if printf '#ifndef __x86_64__\n#error\n#endif\nint main() {}\n' | builds -march=x86-64-v3; then
  isas='baseline x86_64_v3' simd_text='x86-64 baseline (SSE2) and x86-64-v3 (AVX2, FMA), chosen at start'
fi

mkdir -p "$(dirname "$file")"
cat >"$file" <<END
# $cxx
# has$found
CONFIG_COMPILER := $compiler
CONFIG_FLAGS := $include_flags
CONFIG_LIBS := $link_flags$libraries_flags
CONFIG_OPENMP := $openmp
OPENMP_FLAGS := $openmp_flags
CONFIG_OPENBLAS := $openblas
OPENBLAS_FLAGS := $openblas_flags
OPENBLAS_LIBS := $openblas_libs
ISAS := $isas
END

{
  echo "This build uses"
  echo "  compiler  $compiler"
  echo "  OpenMP    $openmp_text"
  echo "  OpenBLAS  $openblas_text"
  if [ $openblas = 0 ]; then
    echo "            Prefill and training run on Orrery's own matrix product: about as fast with AVX2,"
    echo "            slower without; \`orrery bench\` tells."
  fi
  echo "  SIMD      $simd_text"
} >&2
