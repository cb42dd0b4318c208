// Runs the program as a user does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::test {

struct ProgramResult {
  int status = 0;  // what a shell would see: 128 + n where a signal ended it
  std::string output;
  std::string errors;
};

struct ProgramInput {
  std::string text = "";                      // standard input
  std::vector<std::string> environment = {};  // "NAME=value", on top of ours
  double interrupt_after_seconds = 0;         // sends `signal` then; 0: never
  int signal = 2;                             // SIGINT
  uint64_t address_space = 0;                 // in bytes, as `ulimit -v` sets it; 0: no limit
};

// The address sanitizer reserves terabytes of address space, and cannot start under a limit.
bool can_limit_address_space();

// Of the program under test: what the environment variable ORRERY_TEST_PROGRAM says, else the one of this build.
const char* program_path();

ProgramResult run_program(const std::vector<std::string>& arguments, const ProgramInput& input = {});

}  // namespace orrery::test
