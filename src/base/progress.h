// A line on standard error that says how far something is: only where standard error is a terminal.
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(int64_t done, int64_t all, const std::string& note = "");  // at most ten times a second
  void clear();                                                        // takes the line away

 private:
  std::string label_;
  bool is_terminal_;
  bool is_shown_ = false;
  double start_;
  double last_ = 0;
};

}  // namespace orrery
