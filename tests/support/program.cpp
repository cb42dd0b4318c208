#include "support/program.h"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/files.h"

// There where the library was compiled with the address sanitizer.
extern "C" void __asan_init() __attribute__((weak));

namespace orrery::test {
namespace {

[[noreturn]] void become_program(const std::vector<std::string>& arguments, const ProgramInput& input,
                                 const std::string& folder) {
  const auto redirect = [&](const char* name, int flags, int target) {
    const int fd = open((folder + name).c_str(), flags, 0600);
    if (fd < 0 || dup2(fd, target) < 0) _exit(126);
  };
  redirect("/in", O_RDONLY, STDIN_FILENO);
  redirect("/out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect("/err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  if (input.address_space > 0) {
    const rlimit limit = {input.address_space, input.address_space};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(125);
  }
  for (const std::string& setting : input.environment) putenv(const_cast<char*>(setting.c_str()));
  std::vector<char*> argv = {const_cast<char*>("orrery")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program_path(), argv.data());
  _exit(127);
}

}  // namespace

bool can_limit_address_space() { return &__asan_init == nullptr; }

const char* program_path() {
  const char* const given = std::getenv("ORRERY_TEST_PROGRAM");
  return given != nullptr ? given : ORRERY_PROGRAM;
}

ProgramResult run_program(const std::vector<std::string>& arguments, const ProgramInput& input) {
  const TemporaryFolder folder;
  write_file(folder / "in", input.text);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) become_program(arguments, input, folder.path());
  if (input.interrupt_after_seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(input.interrupt_after_seconds));
    kill(child, input.signal);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ProgramResult result;
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.output = file_bytes(folder / "out");
  result.errors = file_bytes(folder / "err");
  return result;
}

}  // namespace orrery::test
