#include "base/progress.h"

#include <cstdio>

#include <unistd.h>

#include "base/clock.h"
#include "base/format.h"

namespace orrery {

Progress::Progress(std::string label)
    : label_(std::move(label)), is_terminal_(isatty(STDERR_FILENO) == 1), start_(seconds_now()) {}

void Progress::show(int64_t done, int64_t all, const std::string& note) {
  const double now = seconds_now();
  if (!is_terminal_ || all <= 0 || done <= 0 || (is_shown_ && now - last_ < 0.1)) return;
  last_ = now;
  is_shown_ = true;
  const double share = static_cast<double>(done) / static_cast<double>(all);
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share * kWidth);
  const std::string bar =
      std::string(static_cast<size_t>(filled), '#') + std::string(static_cast<size_t>(kWidth - filled), '.');
  const double left = (now - start_) / share * (1 - share);
  std::fprintf(stderr, "\r%s [%s] %3.0f%%, %s s left  %s\033[K", label_.c_str(), bar.c_str(), share * 100,
               fixed(left, 0).c_str(), note.c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
  is_shown_ = false;
}

}  // namespace orrery
