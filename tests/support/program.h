// Runs the program as a user does.
#pragma once

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
};

ProgramResult run_program(const std::vector<std::string>& arguments, const ProgramInput& input = {});

}  // namespace orrery::test
