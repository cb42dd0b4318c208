// What `doctor` says about the machine.
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

struct MachineFacts {
  std::string cpu;                // the name it gives itself; empty where unknown
  int cores = 1;                  // that this process may run on
  uint64_t memory = 0;            // bytes, 0 where unknown
  uint64_t available_memory = 0;  //
};

MachineFacts machine_facts();

// The most memory that this process has had so far, in bytes.
uint64_t peak_memory();
// What malloc has handed out to the main thread and not got back, in bytes; 0 where the C library does not say.
uint64_t heap_bytes();

}  // namespace orrery
