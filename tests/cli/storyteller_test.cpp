// The model that ships in models/: the default of every verb.
#include <filesystem>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/program.h"

using namespace orrery;
using namespace orrery::test;
using nlohmann::json;

TEST_CASE("storyteller: tells a story in either language, to its end") {
  const std::pair<std::string, std::string> kStories[] = {{"Once upon a time", "The end."}, {"从前", "故事讲完了。"}};
  for (const auto& [opening, ending] : kStories) {
    const auto told = run_program({"run", "-p", opening, "--temp", "0"});
    CAPTURE(told.output);
    CAPTURE(told.errors);
    REQUIRE(told.status == 0);
    CHECK(told.output.starts_with(opening));
    CHECK(told.output.ends_with(ending + "\n"));
    CHECK(told.output.size() > 300);
  }
}

TEST_CASE("storyteller: comes near to the lowest possible loss, and recalls facts") {
  const auto result = run_program({"eval", "--stories", "40", "--recall", "20", "--json", "-s", "5"});
  CAPTURE(result.output);
  CAPTURE(result.errors);
  REQUIRE(result.status == 0);
  const json all = json::parse(result.output);
  CHECK(all["loss"]["together"]["excess"].get<double>() < 0.015);  // nats per token
  const json& far = all["recall"]["by_distance"]["over 100 tokens"]["together"];
  CHECK(far["asked"].get<int>() > 30);
  CHECK(far["right"].get<int>() > 0.9 * far["asked"].get<int>());
}

TEST_CASE("storyteller: most of what run tells are stories of the grammar, whole") {
  const auto result = run_program({"eval", "--tell", "60", "--temp", "0.8", "--top-k", "40", "--top-p", "0.95",
                                   "--min-p", "0.05", "--json", "-s", "5"});
  CAPTURE(result.errors);
  REQUIRE(result.status == 0);
  const json told = json::parse(result.output)["told"]["together"];
  CHECK(told["ended"] == 60);
  CHECK(told["stories"].get<int>() > 33);
}

TEST_CASE("storyteller: every verb takes it where no file is named") {
  CHECK(contains(run_program({"show"}).output, "storyteller"));
  CHECK(run_program({"tokenize", "-p", "a lantern", "--ids"}).output.starts_with("["));
  CHECK(run_program({"logits", "-p", "Once upon a"}).status == 0);
  CHECK(contains(run_program({"detokenize", "--ids", "300"}).output, "\n"));
}
