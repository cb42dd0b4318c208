#include "cli/arguments.h"

#include <vector>

#include <doctest/doctest.h>

using orrery::cli::plain_arguments;

namespace {

std::vector<std::string> plain(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "orrery");
  return plain_arguments(static_cast<int>(arguments.size()), arguments.data());
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("arguments: underscores and other spellings of flags, but never of values") {
  CHECK(plain({"run", "--top_k", "5", "--top_p=0.5"}) == Texts{"run", "--top-k", "5", "--top-p=0.5"});
  CHECK(plain({"run", "my_model.gguf", "-p", "a_b"}) == Texts{"run", "my_model.gguf", "-p", "a_b"});
  CHECK(plain({"--temperature", "1", "--max_new_tokens=7"}) == Texts{"--temp", "1", "--n-predict=7"});
  CHECK(plain({"-ctk", "f16", "-ctv", "f16"}) == Texts{"--cache-type-k", "f16", "--cache-type-v", "f16"});
}

TEST_CASE("arguments: values that begin with a dash") {
  CHECK(plain({"-p", "--top_k"}) == Texts{"--prompt=--top_k"});
  CHECK(plain({"-f", "-", "-n", "-1", "--temp", "-.5"}) == Texts{"--file=-", "--n-predict=-1", "--temp=-.5"});
  CHECK(plain({"--stop", "-"}) == Texts{"--stop=-"});
  CHECK(plain({"-n", "-s"}) == Texts{"-n", "-s"});  // a value is missing: the parser will say so
  CHECK(plain({"-p"}) == Texts{"-p"});
}
