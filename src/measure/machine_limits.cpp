#include "measure/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "kernels/fast/machine_loops.h"

namespace orrery {
namespace {

constexpr size_t kPiece = size_t{4} << 20;  // of the memory, for one thread at a time
constexpr int kPasses = 4;                  // the fastest counts: the others were disturbed

[[noreturn]] void fail(const char* action) {
  throw Error(
      {.what = std::string("cannot ") + action + ": " + std::strerror(errno), .where = "measuring the machine"});
}

// A file without a name, filled, and mapped with the system's small pages as a model file is.
std::byte* map_file(size_t bytes) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) fail("make a temporary file");
  const int fd = fileno(file);
  const std::string chunk(size_t{1} << 20, '\1');
  for (size_t done = 0; done < bytes; done += chunk.size()) {
    if (std::fwrite(chunk.data(), 1, chunk.size(), file) != chunk.size()) {
      std::fclose(file);
      fail("write a temporary file");
    }
  }
  std::fflush(file);
  void* address = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  std::fclose(file);  // the mapping keeps the file
  if (address == MAP_FAILED) fail("map a temporary file");
  return static_cast<std::byte*>(address);
}

std::byte* huge_pages(size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) fail("get memory");
#ifdef MADV_HUGEPAGE
  madvise(address, bytes, MADV_HUGEPAGE);  // only advice: without it the pages are small
#endif
  std::memset(address, 1, bytes);
  return static_cast<std::byte*>(address);
}

double read_speed(const std::byte* memory, size_t bytes, const Threads& threads) {
  std::atomic<uint64_t> sum = 0;
  double best = 1e30;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double start = seconds_now();
    threads.parallel_for(static_cast<int64_t>(bytes), static_cast<int64_t>(kPiece), [&](int64_t begin, int64_t end) {
      const auto* words = reinterpret_cast<const uint64_t*>(memory + begin);
      sum += machine_loops().read_words(words, static_cast<size_t>(end - begin) / sizeof(uint64_t));
    });
    best = std::min(best, seconds_now() - start);
  }
  return static_cast<double>(bytes) / best;
}

double multiply_add_speed(const Threads& threads) {
  constexpr int64_t kRounds = 1'000'000;
  double best = 1e30;
  std::atomic<int64_t> flops = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    flops = 0;
    const double start = seconds_now();
    threads.parallel_for(threads.count(), 1, [&](int64_t, int64_t) {
      float sink = 0;
      flops += machine_loops().multiply_add(kRounds, &sink);
      if (sink == 0) flops = 0;  // never: keeps the loop
    });
    best = std::min(best, seconds_now() - start);
  }
  return static_cast<double>(flops) / best;
}

}  // namespace

LimitMeter::LimitMeter(size_t bytes) : bytes_(bytes), huge_(huge_pages(bytes)), mapped_(map_file(bytes)) {}

LimitMeter::~LimitMeter() {
  munmap(huge_, bytes_);
  munmap(mapped_, bytes_);
}

MachineLimits LimitMeter::measure(const Threads& threads) const {
  return {read_speed(huge_, bytes_, threads), read_speed(mapped_, bytes_, threads), multiply_add_speed(threads)};
}

}  // namespace orrery
