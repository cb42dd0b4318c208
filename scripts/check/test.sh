#!/bin/sh
# The checks check themselves: in a small copy of the house each must pass, and each must find what is planted there.
set -u
temporary=$(mktemp -d) || exit 1
house=$temporary/house
trap 'rm -rf "$temporary"' EXIT
mkdir "$house"
cp -R Makefile scripts .clang-format "$house"
cd "$house" || exit 1
mkdir -p src/base src/tensor src/text src/model src/kernels/fast src/cli src/files lessons/01-first .ci tests/data

# `plant` runs at the end of pipes, in processes of their own, so what it finds out goes to files.
failures=$temporary/failures planted=$temporary/planted
: >"$failures"
: >"$planted"
failed() { echo "$*" >>"$failures"; }

# lines N: that many lines of code; body N: a function of N lines.
lines() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "// line" }'; }
body() { awk -v n="$1" 'BEGIN { print "int long_one() {"; for (i = 2; i < n; i++) print "  f({1});"; print "}" }'; }

# plant CHECK FILE:LINE [WORDS]: the standard input is put into FILE; CHECK must now fail and name FILE:LINE.
plant() {
  echo "$2" >>"$planted"
  file=${2%:*}
  saved=
  if [ -f "$file" ]; then saved=$(cat "$file"; echo x); fi
  cat >"$file"
  if output=$(sh "scripts/check/$1.sh" 2>&1) || ! echo "$output" | grep -F "$2:" | grep -qF -- "${3:-}"; then
    failed "$1 did not report $2 ${3:-}; it said: ${output:-nothing}"
  fi
  rm "$file"
  if [ -n "$saved" ]; then printf '%s' "${saved%x}" >"$file"; fi
}

# A house in order, with what a careless check would stumble over.
cat >src/base/good.h <<'END'
#pragma once

#include <span>

namespace orrery {}

// #include "cli/main.h" and `{` in a comment, '{' as well
class Good {
 public:
  explicit Good(int count) : count_{count}, text_{"}"} { use('{'); }
  int f(std::span<int> x = {}) const;  // { [n]

 private:
  int count_ = 1'000;
};
END
cat >src/base/good.cpp <<END
#include "base/good.h"

static constexpr int table[] = {
$(lines 70)
    1,
};
const char* raw = R"~~~( { " )~~~";
$(body 60)
END
cat >src/model/layer.cpp <<'END'
#include "base/good.h"
#include "tensor/tensor.h"
END
echo '#pragma omp simd' >src/kernels/fast/simd.cpp
echo '#include <CLI/CLI.hpp>' >src/cli/options.cpp
cat >README.md <<'END'
`Good`, `long_one()`, `orrery::Good::f`, `std::span`, `n_heads`, `a = b`, `src/base/good.h`, `src/base/`,
`make test BUILD=asan`, `sh scripts/setup.sh --developer`, `src/base/good.cpp`
```
$ sh scripts/setup.sh && make demo
no_such_function() in the output of a program
```
END
for check in floors lengths path documents pragmas places; do
  if ! output=$(sh scripts/check/$check.sh 2>&1); then
    failed "$check complains about a house in order: $output"
  fi
done

plant floors src/base/up.cpp:2 'lower floors' <<'END'
#include "base/good.h"
#include "tensor/tensor.h"
END
echo '#include "text/unicode.h"' | plant floors src/tensor/side.cpp:1 'lower floors'
echo '#include "attic/x.h"' | plant floors src/tensor/attic.cpp:1 'no folder'
echo '#include "tensor.h"' | plant floors src/tensor/short.cpp:1 'folder/'
echo '#include <nlohmann/json.hpp>' | plant floors src/files/json.h:1 'no other library'
echo '#include <CLI/CLI.hpp>' | plant floors src/cli/second.cpp:1 'option*.cpp only'
for i in 1 2 3 4; do echo '#include <nlohmann/json.hpp>' >src/files/json$i.cpp; done
echo '#include <nlohmann/json.hpp>' | plant floors src/files/json5.cpp:1 'at most 4'
rm src/files/json?.cpp

lines 401 | plant lengths src/base/long.cpp:401 '401 lines'
lines 401 | plant lengths tests/long_test.cpp:401 '401 lines'
lines 151 | plant lengths lessons/01-first/main.cpp:151 '151 lines'
body 61 | plant lengths src/base/function.cpp:1 'long_one has 61 lines'
{ echo 'namespace orrery {'; echo 'class A {'; body 61; echo '};'; echo '}'; } |
  plant lengths src/base/method.cpp:3 'long_one has 61 lines'
{ echo 'A::A(int a) : a_{a}, b_{f(a)} {'; lines 59; echo '}'; } | plant lengths src/base/constructor.cpp:1 'A::A has 61'

# src/model/layer.cpp has two lines: 2,997 more are allowed, 2,998 are not.
lines 2997 >src/text/much.cpp
if ! sh scripts/check/path.sh | grep -q "^2999 lines"; then failed "path miscounts"; fi
rm src/text/much.cpp
lines 2998 >src/text/much.cpp
if sh scripts/check/path.sh >/dev/null; then failed "path did not report 3,000 lines"; fi
rm src/text/much.cpp

if command -v clang-format >/dev/null; then
  echo 'int  a;' | plant format src/base/layout.cpp:1 'make format'
fi

echo 'see `Vanished`' | plant documents src/README.md:1 Vanished
echo '`vanished_thing()`' | plant documents README.md:1 vanished_thing
echo '`Good::vanished`' | plant documents lessons/01-first/README.zh.md:1 vanished
echo '`src/base/vanished.h`' | plant documents README.md:1 vanished.h
echo '`make vanish`' | plant documents README.md:1 vanish
printf '```\n$ sh scripts/setup.sh && make vanish\n```\n' | plant documents README.md:2 vanish

echo '#pragma omp simd' | plant pragmas src/model/simd.cpp:1 'no pragma'
echo '#include <immintrin.h>' | plant pragmas src/model/avx.cpp:1 'no SIMD'
echo '#pragma omp parallel for' | plant pragmas src/text/omp.cpp:1 parallel_for
printf 'CXXFLAGS = -ffast-%s\n' math | plant pragmas Makefile:1 'fast math'

# Put together at run time, or this file would be found.
for place in work tmp root home/me; do echo "see \"/$place/x\"" | plant places tests/data/note.md:1 'one machine'; done
echo weights | plant places model.gguf:1 'top level'
echo "DATA=../""shared/data" | plant places scripts/data.sh:1 .ci/run
echo "DATA=../""shared/data" >.ci/run
sh scripts/check/places.sh >/dev/null || failed "places does not let .ci/run name the public data"

if [ -s "$failures" ]; then
  cat "$failures"
  exit 1
fi
echo "all $(wc -l <"$planted" | tr -d " ") planted violations found"
