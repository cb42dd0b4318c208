#include <csignal>

#include "cli/session.h"

namespace orrery::cli {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

}  // namespace

void catch_interrupt() {
  struct sigaction action = {};
  // SA_RESETHAND: the second Ctrl-C finds the default action and ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  action.sa_handler = [](int) { asked_to_stop = 1; };
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return asked_to_stop != 0; }

void forget_interrupt() { asked_to_stop = 0; }

}  // namespace orrery::cli
