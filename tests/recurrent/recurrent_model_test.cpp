// What must hold for a recurrent language model however its text is cut into calls.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "config/arithmetic.h"
#include "config/recurrent_arithmetic.h"
#include "inspect/probe_names.h"
#include "inspect/recorder.h"
#include "inspect/trace.h"
#include "kernels/decorated_kernels.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/kv_cache.h"
#include "recurrent/recurrent_support.h"
#include "support/expect_error.h"

using namespace orrery;
using namespace orrery::test;

namespace {

template <class Check>
void for_each_model(const Check& check) {
  for (const Architecture architecture : kRecurrent) {
    for (int variant = 0; variant < kRecurrentVariants; ++variant) {
      CAPTURE(std::string(name_of(architecture)));
      CAPTURE(variant);
      const ModelConfig config = small_recurrent_config(architecture, variant);
      check(config, random_model(config, DType::F32));
    }
  }
}

std::vector<Row> rows_of(std::span<const TokenId> ids, SequenceState* state) {
  std::vector<Row> rows;
  const int first = state == nullptr ? 0 : state->length();
  for (size_t i = 0; i < ids.size(); ++i) rows.push_back({ids[i], first + static_cast<int>(i), state});
  return rows;
}

}  // namespace

TEST_CASE("a recurrent model: prefill, token by token and any split give the same logits") {
  for_each_model([](const ModelConfig& config, const auto& checkpoint) {
    RecurrentModel model(checkpoint);
    FastKernels fast{Threads(1)};
    const auto ids = random_ids(40, config.vocab_size, 3);
    const std::vector<double> whole = uncached_logits(model, fast, ids);
    const double scale = largest_magnitude(whole);
    const std::vector<int> splits[] = {{40}, std::vector<int>(40, 1), {1, 38, 1}, {7, 13, 20}};
    for (const auto& split : splits) {
      CHECK(largest_difference(cached_logits(model, fast, ids, split), whole) < 1e-5 * scale);
    }
  });
}

TEST_CASE("a recurrent model: the same bits for any number of threads, and within rounding of double precision") {
  for_each_model([](const ModelConfig& config, const auto& checkpoint) {
    RecurrentModel model(checkpoint);
    FastKernels one{Threads(1)}, two{Threads(2)}, three{Threads(3)};
    ReferenceKernels<float> plain{Threads(1)};
    ReferenceKernels<double> exact{Threads(1)};
    const auto ids = random_ids(30, config.vocab_size, 4);
    const std::vector<double> logits = uncached_logits(model, one, ids);
    CHECK(uncached_logits(model, two, ids) == logits);
    CHECK(uncached_logits(model, three, ids) == logits);
    const std::vector<double> expected = uncached_logits(model, exact, ids);
    CHECK(largest_difference(logits, expected) < 1e-5 * largest_magnitude(expected));
    CHECK(largest_difference(uncached_logits(model, plain, ids), expected) < 1e-5 * largest_magnitude(expected));
    RecurrentModel with_exact_states(checkpoint, {.state_type = DType::F64});
    const std::vector<int> split = {11, 19};
    CHECK(largest_difference(cached_logits(with_exact_states, exact, ids, split), expected) < 1e-13);
  });
}

TEST_CASE("a recurrent model: sequences of all lengths in one call are what they are alone") {
  for_each_model([](const ModelConfig& config, const auto& checkpoint) {
    RecurrentModel model(checkpoint);
    FastKernels fast{Threads(2)};
    std::vector<std::vector<TokenId>> texts;
    std::vector<double> expected;
    for (const int length : {9, 1, 17, 8, 8, 3, 12}) {
      texts.push_back(random_ids(length, config.vocab_size, uint64_t(length)));
      const auto alone = uncached_logits(model, fast, texts.back());
      expected.insert(expected.end(), alone.begin(), alone.end());
    }
    // Every other text has a state, which has seen its first token already.
    std::vector<std::unique_ptr<SequenceState>> states;
    std::vector<Row> rows;
    std::vector<bool> is_missing;  // the rows that came before
    Arena arena;
    for (size_t i = 0; i < texts.size(); ++i) {
      const bool has_state = i % 2 == 0;
      states.push_back(has_state ? model.new_sequence() : nullptr);
      std::span<const TokenId> rest = texts[i];
      if (has_state) {
        model.forward(rows_of(rest.first(1), states.back().get()), fast, arena);
        rest = rest.subspan(1);
      }
      for (size_t k = 0; k < texts[i].size(); ++k) is_missing.push_back(has_state && k == 0);
      const std::vector<Row> more = rows_of(rest, states.back().get());
      rows.insert(rows.end(), more.begin(), more.end());
    }
    arena.reset();
    const std::vector<double> together = numbers(model.forward(rows, fast, arena));
    std::vector<double> wanted;
    for (size_t row = 0; row < is_missing.size(); ++row) {
      if (is_missing[row]) continue;
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(row) * config.vocab_size;
      wanted.insert(wanted.end(), begin, begin + config.vocab_size);
    }
    CHECK(largest_difference(together, wanted) < 1e-5 * largest_magnitude(wanted));
  });
}

TEST_CASE("the state of a recurrent model: forks go their own ways, back is only to the beginning") {
  const ModelConfig config = small_recurrent_config(Architecture::lstm);
  RecurrentModel model(random_model(config, DType::F32));
  FastKernels fast{Threads(1)};
  Arena arena;
  const auto ids = random_ids(12, config.vocab_size, 5), others = random_ids(12, config.vocab_size, 6);
  const auto state = model.new_sequence();
  model.forward(rows_of(ids, state.get()), fast, arena);
  CHECK(state->length() == 12);
  CHECK(state->bytes() == recurrent_state_bytes(config, DType::F32));
  const auto fork = state->fork();
  const std::vector<double> expected = numbers(model.forward(rows_of(others, state.get()), fast, arena));
  CHECK(fork->length() == 12);
  CHECK(numbers(model.forward(rows_of(others, fork.get()), fast, arena)) == expected);
  CHECK(contains(error_of([&] { fork->truncate(20); }), "earlier place"));
  CHECK_NOTHROW(fork->truncate(24));
  fork->truncate(0);
  CHECK(fork->length() == 0);
  const auto fresh = model.new_sequence();
  CHECK(numbers(model.forward(rows_of(ids, fork.get()), fast, arena)) ==
        numbers(model.forward(rows_of(ids, fresh.get()), fast, arena)));
}

TEST_CASE("a recurrent model refuses rows that are not in order, and leaves the states as they were") {
  const ModelConfig config = small_recurrent_config(Architecture::gru);
  RecurrentModel model(random_model(config, DType::F32), {.context_length = 16});
  FastKernels fast{Threads(1)};
  Arena arena;
  const auto ids = random_ids(10, config.vocab_size, 5);
  const auto state = model.new_sequence();
  model.forward(rows_of(ids, state.get()), fast, arena);
  const auto before = state->fork();
  CHECK(contains(error_of([&] { model.forward(rows_of(ids, state.get()), fast, arena); }), "context"));
  std::vector<Row> rows = {{1, 10, state.get()}, {60, 11, state.get()}};
  CHECK(contains(error_of([&] { model.forward(rows, fast, arena); }), "no such token"));
  rows = {{1, 9, state.get()}};
  CHECK(contains(error_of([&] { model.forward(rows, fast, arena); }), "out of order"));
  KvCache cache(std::make_shared<KvPool>(KvLayout{1, 8, DType::F32, DType::F32}));
  rows = {{1, 0, &cache}};
  CHECK(contains(error_of([&] { model.forward(rows, fast, arena); }), "another kind of model"));
  rows = {{1, 10, state.get()}};
  const std::vector<double> logits = numbers(model.forward(rows, fast, arena));
  rows = {{1, 10, before.get()}};
  CHECK(numbers(model.forward(rows, fast, arena)) == logits);
  CHECK(
      contains(error_of([&] { RecurrentModel{random_model(small_config(0), DType::F32)}; }), "not a recurrent model"));
  Transformer transformer(random_model(small_config(0), DType::F32));
  const auto other = model.new_sequence();
  rows = {{1, 0, other.get()}};
  CHECK(contains(error_of([&] { transformer.forward(rows, fast, arena); }), "another kind of model"));
}

TEST_CASE("every gate is announced, with the layer and the rows, and says what the states are made of") {
  const ModelConfig config = small_recurrent_config(Architecture::lstm, 1);
  RecurrentModel model(random_model(config, DType::F32));
  ReferenceKernels<double> exact{Threads(1)};
  Recorder recorder([](std::string_view) { return true; });
  Observer* const observers[] = {&recorder};
  Arena arena;
  const auto ids = random_ids(5, config.vocab_size, 7);
  model.forward(rows_of(ids, nullptr), exact, arena, observers);
  const std::vector<std::string> names = {"embed",         "lstm.0.input",  "lstm.0.forget",    "lstm.0.candidate",
                                          "lstm.0.output", "lstm.0.cell",   "lstm.0.hidden",    "lstm.0.out",
                                          "lstm.1.input",  "lstm.1.forget", "lstm.1.candidate", "lstm.1.output",
                                          "lstm.1.cell",   "lstm.1.hidden", "lstm.1.out",       "logits"};
  CHECK(recorder.names() == names);
  const auto at = [&](const char* name, int64_t row, int64_t j) {
    const Tensor& tensor = recorder[std::string("lstm.1.") + name];
    CHECK(tensor.shape[0] == 5);
    CHECK(tensor.shape[1] == config.d_hidden);
    return values<double>(tensor)[row * config.d_hidden + j];
  };
  for (int64_t row = 1; row < 5; ++row) {
    for (int64_t j = 0; j < config.d_hidden; ++j) {
      const double cell = at("forget", row, j) * at("cell", row - 1, j) + at("input", row, j) * at("candidate", row, j);
      CHECK(at("cell", row, j) == doctest::Approx(cell).epsilon(1e-12));
      CHECK(at("hidden", row, j) == doctest::Approx(at("output", row, j) * std::tanh(cell)).epsilon(1e-12));
    }
  }
}

TEST_CASE("an observer changes what goes on from a layer, and not the states of that layer") {
  struct Silencer : Observer {
    bool wants(const Probe& probe) const override { return probe.name == "gru.0.out" && probe.layer == 0; }
    void on_tensor(const Probe&, Tensor& tensor) override {
      std::fill_n(values<float>(tensor), n_elements(tensor), 0.0f);
    }
  };
  const ModelConfig config = small_recurrent_config(Architecture::gru);
  RecurrentModel model(random_model(config, DType::F32));
  FastKernels fast{Threads(1)};
  Silencer silencer;
  Recorder recorder({"gru.0.hidden", "gru.1.hidden"});
  Observer* const observers[] = {&silencer, &recorder};
  Arena arena;
  const auto ids = random_ids(6, config.vocab_size, 7), others = random_ids(6, config.vocab_size, 8);
  model.forward(rows_of(ids, nullptr), fast, arena, observers);
  const std::vector<double> first = numbers(recorder["gru.0.hidden"]), second = numbers(recorder["gru.1.hidden"]);
  model.forward(rows_of(others, nullptr), fast, arena, observers);
  CHECK(numbers(recorder["gru.1.hidden"]) == second);  // whatever the text, the second layer reads zeros
  CHECK(numbers(recorder["gru.0.hidden"]) != first);
}

TEST_CASE("what a recurrent model costs is what the formulas say") {
  for_each_model([](const ModelConfig& config, const auto& checkpoint) {
    RecurrentModel model(checkpoint);
    int64_t n_numbers = 0;
    for (const auto& [name, weight] : checkpoint->weights) n_numbers += n_elements(weight);
    CHECK(parameter_count(config).total() == n_numbers);
    FastKernels fast{Threads(1)};
    CountingKernels counting(fast);
    Arena arena;
    const auto state = model.new_sequence();
    const auto ids = random_ids(20, config.vocab_size, 9);
    std::vector<Row> rows = rows_of(ids, state.get());
    for (size_t i = 0; i < rows.size(); ++i) rows[i].wants_logits = i % 4 == 0;
    model.forward(rows, counting, arena);
    const RowCounts counts{.rows = 20, .logit_rows = 5};
    CHECK(sum(counting.totals()).flops == forward_flops(config, counts).total());
    const FlopParts parts = forward_flop_parts(config, counts);
    CHECK(parts.projections + parts.head == forward_flops(config, counts).matmul);
    CHECK(arena.peak() == activation_bytes(config, 20, 5, DType::F32));
  });
}

TEST_CASE("traces of recurrent models: what was announced, in calls of any size, in the order of computation") {
  for (const Architecture architecture : kRecurrent) {
    const ModelConfig config = small_recurrent_config(architecture);
    RecurrentModel model(random_model(config, DType::F32));
    FastKernels fast{Threads(1)};
    Recorder recorder([](std::string_view) { return true; });
    Observer* const observers[] = {&recorder};
    Arena arena;
    const auto ids = random_ids(9, config.vocab_size, 7);
    model.forward(rows_of(ids, nullptr), fast, arena, observers);
    const Trace trace = record_trace(model, ids, fast);
    std::vector<std::string> names;
    for (const TraceTensor& tensor : trace.tensors) {
      names.push_back(tensor.name);
      CHECK(largest_difference(trace_values(tensor, trace.header).numbers, numbers(recorder[tensor.name])) < 1e-6);
      if (tensor.name == "embed" || tensor.name == "logits") continue;
      for (const std::string& input : probe_inputs(tensor.name)) {
        if (trace.find(input) != nullptr) CHECK(probe_order(input) < probe_order(tensor.name));
      }
      CHECK(std::ranges::any_of(probe_inputs(tensor.name), [&](const auto& input) { return trace.find(input); }));
    }
    CHECK(names == recorder.names());
    CHECK(std::ranges::is_sorted(names, {}, [](const std::string& name) { return probe_order(name); }));
    CHECK(trace.header.attention.empty());
    CHECK(!trace.header.rope_layout);
  }
}
