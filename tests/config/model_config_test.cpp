#include "config/model_config.h"

#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

namespace {

ModelConfig good() {
  ModelConfig config;
  config.n_layers = 2;
  config.d_model = 32;
  config.n_heads = 4;
  config.n_kv_heads = 2;
  config.head_dim = 8;
  config.d_ff = 64;
  config.vocab_size = 100;
  config.context_length = 64;
  config.norm_epsilon = 1e-5;
  config.rope_dims = 8;
  config.rope_base = 10000;
  return config;
}

// The message for a config with one member changed; "" for a good one.
template <class T>
std::string complaint(T ModelConfig::*member, T value) {
  ModelConfig config = good();
  config.*member = value;
  try {
    check(config, "m.gguf");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("config: a good one passes, each impossible value is named") {
  CHECK(complaint(&ModelConfig::n_layers, 2) == "");
  CHECK(complaint(&ModelConfig::n_layers, 0) ==
        "m.gguf: the number of layers makes no sense; expected 1 to 16384, found 0");
  for (const int value : {0, -1, std::numeric_limits<int>::max()}) {
    for (int ModelConfig::*member : {&ModelConfig::n_layers, &ModelConfig::d_model, &ModelConfig::n_heads,
                                     &ModelConfig::n_kv_heads, &ModelConfig::head_dim, &ModelConfig::d_ff,
                                     &ModelConfig::vocab_size, &ModelConfig::context_length, &ModelConfig::rope_dims}) {
      CHECK(complaint(member, value) != "");
    }
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(complaint(&ModelConfig::norm_epsilon, value) != "");
    CHECK(complaint(&ModelConfig::rope_base, value) != "");
    CHECK(complaint(&ModelConfig::rope_scale, value) != "");
  }
}

TEST_CASE("config: values that contradict each other") {
  CHECK(complaint(&ModelConfig::n_kv_heads, 3) != "");
  CHECK(complaint(&ModelConfig::rope_dims, 10) != "");
  CHECK(complaint(&ModelConfig::rope_dims, 7) != "");
  CHECK(complaint(&ModelConfig::n_kv_heads, 4) == "");
  CHECK(complaint(&ModelConfig::rope_dims, 6) == "");
  ModelConfig learned = good();
  learned.positions = Positions::learned;
  learned.rope_dims = 0;
  learned.rope_base = 0;
  check(learned, "m.gguf");
}
