#!/bin/sh
# Threads live in base/parallel, vectors in kernels; model, recurrent and generate stay plain C++. Nothing is built
# with flags that let the compiler pretend there is no NaN.
sh scripts/check/files.sh '^(src|lessons|tests)/.*[.](cpp|h)$|^Makefile$|^scripts/.*[.]sh$' | awk '
function report(text) { print file ":" line ": " text; failed = 1 }
{
  file = $0
  line = 0
  plain = file ~ /^src\/(model|recurrent|generate)\//
  omp_home = file ~ /^src\/kernels\//
  source = file ~ /[.](cpp|h)$/
  while ((getline text < file) > 0) {
    line++
    if (source) sub(/\/\/.*/, "", text); else sub(/(^|[ \t])#.*/, "", text)
    if (text ~ /-ffast-[m]ath|-O[f]ast|-funsafe-[m]ath|optimize\(.*fast-math/)
      report("no fast math: NaN and infinity stay visible")
    if (!source) continue
    if (plain && text ~ /^[ \t]*#[ \t]*pragma/ && text !~ /pragma[ \t]+once/)
      report("no pragma here: loops over elements live in src/kernels")
    if (plain && text ~ /[<"](immintrin|arm_neon|x86intrin)[.]h[>"]/)
      report("no SIMD here: it lives in src/kernels/fast")
    if (!omp_home && file ~ /^src\// && text ~ /pragma[ \t]+omp|[<"]omp[.]h[>"]|omp_[a-z]+_[a-z_]+[ \t]*\(/)
      report("OpenMP only in src/kernels, for simd: threads come from Threads::parallel_for")
  }
  close(file)
}
END { exit failed }'
