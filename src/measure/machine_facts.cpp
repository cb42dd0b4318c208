#include "measure/machine_facts.h"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/parallel.h"

namespace orrery {
namespace {

// The text behind `key` and a colon in a file of such lines; "" where there is none.
std::string value_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

uint64_t kibibytes(const std::string& text) {
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value * 1024;
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.cpu = value_in("/proc/cpuinfo", "model name");
  facts.cores = usable_cores();
  facts.memory = kibibytes(value_in("/proc/meminfo", "MemTotal"));
  facts.available_memory = kibibytes(value_in("/proc/meminfo", "MemAvailable"));
  if (facts.memory == 0) {  // not Linux
    facts.memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  }
  return facts;
}

uint64_t peak_memory() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

uint64_t heap_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;  // from the heap that grows, and in mappings of their own
#else
  return 0;
#endif
}

}  // namespace orrery
