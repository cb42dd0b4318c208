// Threads as an argument.
#pragma once

#include <cstdint>
#include <memory>

namespace orrery {

// Cores that this process may run on.
int usable_cores();
// As many, unless OMP_NUM_THREADS says otherwise; 1 in a debug build, where threads would be in the way.
int default_thread_count();

class ThreadPool;

// Copies share their threads.
class Threads {
 public:
  // Throws Error when `count` is not between 1 and 512.
  explicit Threads(int count = default_thread_count());

  int count() const { return count_; }

  // Calls body(begin, end) for the pieces [0, grain), [grain, 2*grain), ... of [0, n). The pieces depend on `n` and
  // `grain` alone, never on the number of threads, so that sums made within a piece come out the same for any number.
  // Where pieces throw, the exception of the first of them is thrown again here, when no piece is running any more.
  template <class Body>
  void parallel_for(int64_t n, int64_t grain, const Body& body) const {
    run(
        n, grain,
        [](const void* context, int64_t begin, int64_t end) { (*static_cast<const Body*>(context))(begin, end); },
        &body);
  }

 private:
  using Piece = void (*)(const void* context, int64_t begin, int64_t end);
  void run(int64_t n, int64_t grain, Piece piece, const void* context) const;

  int count_;
  std::shared_ptr<ThreadPool> pool_;  // of count - 1 workers; none for one thread
};

}  // namespace orrery
