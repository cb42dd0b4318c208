// orrery calc and orrery claims, as a user calls them.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/program.h"

using namespace orrery::test;

namespace {

std::string output_of(const std::vector<std::string>& arguments) {
  const ProgramResult result = run_program(arguments);
  CAPTURE(result.errors);
  CHECK(result.status == 0);
  return result.output;
}

// One line on standard error, and nothing on standard output.
void check_fails(const std::vector<std::string>& arguments, int status, const std::string& words) {
  const ProgramResult result = run_program(arguments);
  CAPTURE(result.errors);
  CHECK(result.status == status);
  CHECK(result.output.empty());
  CHECK(contains(result.errors, words));
  if (status == 1) CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("calc: formulas") {
  CHECK(output_of({"calc", "6 * 175e9 * 300e9 FLOP in PF-day"}) == "3646 PF-day\n");
  CHECK(output_of({"calc", "80", "GiB", "in", "GB"}) == "85.9 GB\n");
  CHECK(output_of({"calc", "1 / 3", "--digits", "8"}) == "0.33333333\n");
  check_fails({"calc", "1 GB + 1 GB/s"}, 1, "GB is how much, GB/s how fast");
  check_fails({"calc", "1/0"}, 1, "divides by zero");
  check_fails({"calc"}, 2, "a formula, --model NAME or --list is expected");
  check_fails({"calc", "1 + 1", "--model", "GPT-3"}, 2, "excludes");
  check_fails({"calc", "--mfu", "0.5"}, 2, "--model");
}

TEST_CASE("calc: what a model costs") {
  const std::string text = output_of({"calc", "--model", "gpt-3", "--chip", "a100-80gb", "--chips", "1024", "--mfu",
                                      "45%", "--price-hour", "$2/h", "--pue", "1", "--explain"});
  CHECK(contains(text, "174,604,"));  // parameters
  CHECK(contains(text, "3.143e23 FLOP"));
  CHECK(contains(text, "25.3 d"));  // half of what 512 take
  CHECK(contains(text, "Rajbhandari et al. (2020)"));
  CHECK(contains(output_of({"calc", "--model", "DeepSeek-V3", "--tokens", "14.8万亿"}), "(37.6B)"));
  const std::string names = output_of({"calc", "--list"});
  for (const char* name : {"storyteller", "gpt-oss-120b", "H100-SXM", "not confirmed"}) CHECK(contains(names, name));
  check_fails({"calc", "--model", "GPT-9"}, 1, "Llama-2-7B");
  check_fails({"calc", "--model", "GPT-3", "--chip", "A100"}, 1, "A100-80GB");
  check_fails({"calc", "--model", "GPT-3", "--tokens", "3 GB"}, 1, "--tokens");
  check_fails({"calc", "--model", "GPT-3", "--batch", "0"}, 1, "batch");
  check_fails({"bench", "--shape", "gpt-oss-20b"}, 1, "mixture of experts is missing");
}

TEST_CASE("claims: the list, one claim, one lesson, in both languages") {
  const std::string list = output_of({"claims"});
  CHECK(std::count(list.begin(), list.end(), '\n') == 164 + 2);
  CHECK(list.ends_with("164 claims: 60 right, 46 wrong, 35 misleading, 23 unverifiable\n"));
  CHECK(contains(list, "3.7e23 FLOP | 350 GFLOP"));
  CHECK(contains(output_of({"claims", "a23"}), "1.06e12 times that"));
  CHECK(contains(output_of({"claims", "CL-A23", "--language", "chinese"}), "错误"));
  CHECK(output_of({"claims", "5"}).ends_with("2 claims: 2 right, 0 wrong, 0 misleading, 0 unverifiable\n"));
  check_fails({"claims", "A99"}, 1, "no such claim");
  check_fails({"claims", "27"}, 1, "no claim belongs to this lesson");
  check_fails({"claims", "--language", "latin"}, 2, "latin");
}
