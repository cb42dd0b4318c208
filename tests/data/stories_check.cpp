// A real model: stories260K by Andrej Karpathy, in llama2.c's format.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "data/public_data.h"
#include "support/program.h"

using namespace orrery::test;

TEST_CASE("stories260K tells its greedy story to the letter") {
  const std::string folder = data_path("stories260k");
  std::ifstream file(folder + "/greedy_256_steps.txt", std::ios::binary);
  REQUIRE(file);
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  for (const char* kernels : {"fast", "reference", "double"}) {
    CAPTURE(kernels);
    const auto result = run_program({"run", folder + "/stories260K.bin", "--tokenizer", folder + "/tok512.bin",
                                     "--temp", "0", "-n", "256", "--kernels", kernels});
    CHECK(result.status == 0);
    CHECK(result.output == expected);
  }
}
