// The program. Everything that goes wrong ends here, in one line on standard error.
#include <cstdio>
#include <exception>
#include <new>

#include "base/error.h"
#include "cli/options.h"
#include "inspect/stopper.h"

int main(int argc, char** argv) {
  try {
    return orrery::cli::run_command_line(argc, argv);
  } catch (const orrery::Stopped& stop) {
    std::fputs(stop.what(), stderr);
    return orrery::cli::kStopped;
  } catch (const orrery::Error& error) {
    std::fprintf(stderr, "orrery: %s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "orrery: out of memory. Hint: 'orrery show' prints what a model needs\n");
  } catch (const std::exception& error) {
    // The machine refused something that nobody thought of.
    std::fprintf(stderr, "orrery: %s\n", orrery::printable(error.what()).c_str());
  }
  return orrery::cli::kInputAtFault;
}
