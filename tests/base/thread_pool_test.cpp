#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/parallel.h"

using namespace orrery;

TEST_CASE("many short jobs lose no piece and do none twice") {
  for (const int n_workers : {1, 2, 7}) {
    ThreadPool pool(n_workers);
    std::vector<std::atomic<int>> counts(50);
    const ThreadPool::Job job{50,
                              [](const void* context, int64_t piece) {
                                auto& all = *static_cast<std::vector<std::atomic<int>>*>(const_cast<void*>(context));
                                ++all[static_cast<size_t>(piece)];
                              },
                              &counts};
    constexpr int kJobs = 5000;
    for (int i = 0; i < kJobs; ++i) pool.run(job);
    for (const auto& count : counts) CHECK(count == kJobs);
  }
}

TEST_CASE("workers that have gone to sleep wake up again") {
  const Threads threads(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // far longer than they stay awake
    std::atomic<int64_t> sum = 0;
    threads.parallel_for(1000, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum += i;
    });
    CHECK(sum == 999 * 1000 / 2);
  }
}

TEST_CASE("several threads may use one pool") {
  const Threads shared(3);
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user) {
    users.emplace_back([&] {
      for (int i = 0; i < 500; ++i) shared.parallel_for(20, 1, [&](int64_t begin, int64_t) { sum += begin; });
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(sum == 3 * 500 * 190);
}

TEST_CASE("a job ends although its workers sleep, and a pool of none does all by itself") {
  ThreadPool none(0);
  std::atomic<int> calls = 0;
  none.run(
      {3, [](const void* context, int64_t) { ++*static_cast<std::atomic<int>*>(const_cast<void*>(context)); }, &calls});
  CHECK(calls == 3);
}
