#include "learn/training_log.h"

#include <cmath>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("training log: numbers come back to the last bit, up to the step asked for") {
  const TemporaryFolder folder;
  const std::vector<LogLine> lines = {
      {.step = 1, .tokens = 4000, .loss = 0.1 + 0.2, .rate = 1e-3, .gradient_norm = 1.0 / 3, .seconds = 0.25},
      {.step = 2, .tokens = 4096, .loss = 5, .rate = 2e-3, .gradient_norm = 0, .seconds = 1, .validation_loss = 1.5},
      {.step = 3, .tokens = 1, .loss = 4, .rate = 0, .gradient_norm = 2, .seconds = 1}};
  write_log(folder / "log.csv", lines);
  CHECK(file_bytes(folder / "log.csv")
            .starts_with("step,tokens,loss,learning_rate,gradient_norm,seconds,validation_loss\n1,4000,0."
                         "30000000000000004,0.001,"));
  const auto read = read_log(folder / "log.csv", 2);
  REQUIRE(read.size() == 2);
  CHECK(read[0].loss == 0.1 + 0.2);
  CHECK(read[0].gradient_norm == 1.0 / 3);
  CHECK(std::isnan(read[0].validation_loss));
  CHECK(read[1].validation_loss == 1.5);
  CHECK(read[1].tokens == 4096);
  CHECK(read_log(folder / "log.csv", 100).size() == 3);
}

TEST_CASE("training log: a line that is none is named") {
  const TemporaryFolder folder;
  const std::string header = "step,tokens,loss,learning_rate,gradient_norm,seconds,validation_loss\n";
  CHECK_ERROR(read_log(write_file(folder / "a", header + "1,1,1,1,1,1,\n3,1,1,1,1,1,\n"), 9), "a, line 3", "steps");
  CHECK_ERROR(read_log(write_file(folder / "b", header + "1,1,1\n"), 9), "b, line 2");
  CHECK_ERROR(read_log(write_file(folder / "c", header + "x,1,1,1,1,1,\n"), 9), "c, line 2");
}
