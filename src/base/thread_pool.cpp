#include "base/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "base/error.h"

namespace orrery {
namespace {

// A worker stays awake for so long after its last piece: longer than the gaps between the jobs of one token.
constexpr double kSecondsAwake = 100e-6;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int n_workers) {
  try {
    for (int i = 0; i < n_workers; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    close();  // a thread that nobody joins would end the program
    throw Error({.what = std::string("cannot start another thread: ") + error.code().message(),
                 .expected = std::to_string(n_workers + 1) + " threads",
                 .found = std::to_string(workers_.size() + 1),
                 .hint = "ask for fewer with --threads; each takes some MB of address space for its stack"});
  }
}

ThreadPool::~ThreadPool() { close(); }

void ThreadPool::close() {
  is_closing_ = true;
  ++n_jobs_;
  n_jobs_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const Job& job) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock() || job.n_pieces == 1) {
    for (int64_t piece = 0; piece < job.n_pieces; ++piece) job.call(job.context, piece);
    return;
  }
  job_ = job;
  failure_ = nullptr;
  failed_piece_ = job.n_pieces;
  n_ended_.store(0, std::memory_order_relaxed);
  const uint64_t number = (state_.load(std::memory_order_relaxed) >> 32) + 1;
  state_.store(number << 32 | static_cast<uint64_t>(job.n_pieces));
  ++n_jobs_;
  if (n_asleep_ > 0) n_jobs_.notify_all();

  while (take_pieces()) {
  }
  for (int spins = 0; n_ended_.load(std::memory_order_acquire) < job.n_pieces; ++spins) {
    pause();
    if (spins % 1024 == 1023) std::this_thread::yield();  // whoever has the last piece may need this core
  }
  if (failure_) std::rethrow_exception(failure_);
}

// Many neighbouring pieces while there are many, single ones towards the end: threads seldom meet at `state_`, read
// memory in long runs, and still end together.
bool ThreadPool::take_pieces() {
  const auto n_threads = static_cast<uint32_t>(workers_.size() + 1);
  uint64_t state = state_.load(std::memory_order_acquire);
  while (const auto n_left = static_cast<uint32_t>(state)) {
    const uint32_t count = std::max(1u, n_left / (2 * n_threads));
    if (!state_.compare_exchange_weak(state, state - count, std::memory_order_acq_rel)) continue;
    const int64_t first = job_.n_pieces - static_cast<int64_t>(n_left);
    for (int64_t piece = first; piece < first + count; ++piece) call_piece(piece);
    n_ended_.fetch_add(count, std::memory_order_release);
    return true;
  }
  return false;
}

void ThreadPool::call_piece(int64_t piece) {
  try {
    job_.call(job_.context, piece);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (piece < failed_piece_) {
      failed_piece_ = piece;
      failure_ = std::current_exception();
    }
  }
}

void ThreadPool::work() {
  while (wait_for_pieces()) {
    while (take_pieces()) {
    }
  }
}

bool ThreadPool::wait_for_pieces() {
  const double start = seconds_now();
  for (int spins = 1; !is_closing_; ++spins) {
    if (has_pieces()) return true;
    pause();
    if (spins % 64 == 0 && seconds_now() - start > kSecondsAwake) break;
  }
  // Either the caller of run() sees us asleep, or we see its job: both sides write before they read.
  while (!is_closing_) {
    ++n_asleep_;
    const uint32_t seen = n_jobs_;
    if (!has_pieces() && !is_closing_) n_jobs_.wait(seen);
    --n_asleep_;
    if (has_pieces()) return true;
  }
  return false;
}

}  // namespace orrery
