#include "base/parallel.h"

#include <algorithm>
#include <exception>
#include <string>

#include "base/error.h"

#ifdef ORRERY_OPENMP
#include <omp.h>
#endif

namespace orrery {

int default_thread_count() {
#if defined(ORRERY_DEFAULT_THREADS)
  return ORRERY_DEFAULT_THREADS;
#elif defined(ORRERY_OPENMP)
  // omp_get_max_threads() is what OMP_NUM_THREADS asks for; it may ask for nonsense.
  return std::clamp(omp_get_max_threads(), 1, 512);
#else
  return 1;
#endif
}

Threads::Threads(int count) : count_(count) {
  if (count < 1 || count > 512) {
    throw Error({.what = "that number of threads cannot be had",
                 .where = "threads",
                 .expected = "1 to 512",
                 .found = std::to_string(count)});
  }
}

void Threads::run(int64_t n, int64_t grain, Piece piece, const void* context) const {
  if (n <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, n);
  const int64_t n_pieces = n / grain + (n % grain != 0);
  const auto call = [&](int64_t i) { piece(context, i * grain, i * grain + std::min(grain, n - i * grain)); };
#ifdef ORRERY_OPENMP
  const int wanted = static_cast<int>(std::min<int64_t>(count_, n_pieces));
  if (wanted > 1) {
    std::exception_ptr failure;
    int64_t failed_piece = n_pieces;
#pragma omp parallel for num_threads(wanted) schedule(dynamic, 1)
    for (int64_t i = 0; i < n_pieces; ++i) {
      try {
        call(i);
      } catch (...) {
#pragma omp critical(orrery_failure)
        if (i < failed_piece) {
          failed_piece = i;
          failure = std::current_exception();
        }
      }
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
#endif
  for (int64_t i = 0; i < n_pieces; ++i) call(i);
}

}  // namespace orrery
