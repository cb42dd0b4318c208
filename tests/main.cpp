// The main function of the test programs. The last line it prints is "N passed, N failed" (test cases),
// alone.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <iostream>

#include <doctest/doctest.h>

namespace {

doctest::TestRunStats total{};  // doctest creates its listeners itself, so the result has to leave by a global

struct Tally : doctest::IReporter {
  explicit Tally(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& stats) override { total = stats; }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("tally", 1, Tally);

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  context.setOption("no-version", true);
  context.setOption("no-intro", true);
  int status = context.run();
  if (context.shouldExit()) return status;  // a question such as --list-test-cases was answered

  std::cout.flush();
  if (total.numTestCasesPassingFilters == 0) {
    std::fprintf(stderr, "no test case was run\n");
    status = 1;
  }
  std::printf("%u passed, %u failed\n", total.numTestCasesPassingFilters - total.numTestCasesFailed,
              total.numTestCasesFailed);
  return status;
}
