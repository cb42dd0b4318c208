// Threads that wait for work and share it out piece by piece. Made for many short jobs: decoding one token takes some
// hundred of them, a few microseconds apart.
//
// What sets it apart from OpenMP's loops: whoever starts a job never waits for a worker that has not taken a piece. A
// worker that the system has put aside, because another program wants its core, then costs nothing but its help; at the
// barrier of an OpenMP loop every such moment costs a time slice.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace orrery {

class ThreadPool {
 public:
  // Besides the thread that calls run(). Throws Error where the system has no room for so many.
  explicit ThreadPool(int n_workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  struct Job {
    int64_t n_pieces = 0;  // at most 2^32 - 1
    void (*call)(const void* context, int64_t piece) = nullptr;
    const void* context = nullptr;
  };
  // Calls every piece once and returns when all have ended. Where pieces throw, the exception of the first of them is
  // thrown again. While a job runs, another one (from a piece, or from another thread) runs on its caller alone.
  void run(const Job& job);

 private:
  void close();        // wakes all workers and waits for their end
  void work();         // what a worker does all its life
  bool take_pieces();  // false: there is none left
  void call_piece(int64_t piece);
  bool has_pieces() const { return static_cast<uint32_t>(state_.load(std::memory_order_acquire)) > 0; }
  bool wait_for_pieces();  // false: the pool is going away

  // Number of the job in the upper half, pieces that nobody has taken in the lower. Both change in one step, so that a
  // worker which comes late can never take a piece of a job that it does not know. `job_` may be read by whoever holds
  // a piece of it: it does not change before all pieces have ended.
  alignas(64) std::atomic<uint64_t> state_ = 0;
  alignas(64) std::atomic<int64_t> n_ended_ = 0;
  Job job_;

  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  int64_t failed_piece_ = 0;

  alignas(64) std::atomic<uint32_t> n_jobs_ = 0;  // sleeping workers wait for it to change
  std::atomic<int> n_asleep_ = 0;
  std::atomic<bool> is_closing_ = false;
  std::mutex running_;
  std::vector<std::thread> workers_;
};

}  // namespace orrery
