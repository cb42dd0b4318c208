#include "base/parallel.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/thread_pool.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace orrery {
namespace {

constexpr int kMostThreads = 512;

}  // namespace

int usable_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int default_thread_count() {
#ifdef ORRERY_DEFAULT_THREADS
  return ORRERY_DEFAULT_THREADS;
#else
  // The first number of OMP_NUM_THREADS, which people set for programs of this kind; 0 where it says nothing useful.
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long wanted = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return static_cast<int>(std::clamp<long>(wanted > 0 ? wanted : usable_cores(), 1, kMostThreads));
#endif
}

Threads::Threads(int count) : count_(count) {
  if (count < 1 || count > kMostThreads) {
    throw Error({.what = "that number of threads cannot be had",
                 .where = "threads",
                 .expected = "1 to " + std::to_string(kMostThreads),
                 .found = std::to_string(count)});
  }
  if (count > 1) pool_ = std::make_shared<ThreadPool>(count - 1);
}

void Threads::run(int64_t n, int64_t grain, Piece piece, const void* context) const {
  if (n <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, n);
  struct Cut {
    int64_t n, grain;
    Piece piece;
    const void* context;
  };
  const Cut cut{n, grain, piece, context};
  const ThreadPool::Job job{n / grain + (n % grain != 0),
                            [](const void* with, int64_t i) {
                              const Cut& c = *static_cast<const Cut*>(with);
                              c.piece(c.context, i * c.grain, i * c.grain + std::min(c.grain, c.n - i * c.grain));
                            },
                            &cut};
  if (pool_ != nullptr && job.n_pieces <= UINT32_MAX) {
    pool_->run(job);
  } else {
    for (int64_t i = 0; i < job.n_pieces; ++i) job.call(job.context, i);
  }
}

}  // namespace orrery
