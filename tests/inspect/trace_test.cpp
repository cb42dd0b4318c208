// What a trace holds, in memory and in a file, compared with what another observer saw.
#include "inspect/trace.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "files/safetensors.h"
#include "files/safetensors_writer.h"
#include "inspect/name_filter.h"
#include "inspect/probe_names.h"
#include "inspect/recorder.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/models.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<std::string> names_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const TraceTensor& tensor : trace.tensors) names.push_back(tensor.name);
  return names;
}

// All tensors of one call without a cache.
Recorder recorded(Transformer& model, Kernels& kernels, const std::vector<TokenId>& ids) {
  Recorder recorder([](std::string_view) { return true; });
  Observer* const observers[] = {&recorder};
  std::vector<Row> rows;
  for (const TokenId id : ids) rows.push_back({id, static_cast<int>(rows.size())});
  Arena arena;
  model.forward(rows, kernels, arena, observers);
  return recorder;
}

Trace read_bytes(const TemporaryFolder& folder, const SafetensorsBuilder& builder) {
  return read_trace(write_file(folder / "t.safetensors", builder.bytes()));
}

}  // namespace

TEST_CASE("record_trace: every tensor, in order, of its own type") {
  for (int variant = 0; variant < kVariants; ++variant) {
    CAPTURE(variant);
    Transformer model(random_model(small_config(variant), DType::F32));
    const std::vector<TokenId> ids = random_ids(6, 300, 1);
    ReferenceKernels<double> kernels{Threads(1)};
    const Recorder expected = recorded(model, kernels, ids);
    Transformer traced(random_model(small_config(variant), DType::F32), {0, DType::F64, DType::F64});
    const Trace trace = record_trace(traced, ids, kernels);
    CHECK(names_of(trace) == expected.names());
    for (const TraceTensor& tensor : trace.tensors) {
      CAPTURE(tensor.name);
      const std::vector<double> theirs = numbers(expected[tensor.name]);
      CHECK(tensor.dtype == DType::F64);
      REQUIRE(tensor.bytes.size() == theirs.size() * sizeof(double));
      CHECK(std::memcmp(tensor.bytes.data(), theirs.data(), tensor.bytes.size()) == 0);
    }
    CHECK(trace.header.prompt_ids == ids);
    CHECK(trace.header.positions == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(trace.header.kernels == kernels.name());
    CHECK(trace.header.attention == "visible");
    CHECK(trace.header.rope_layout.has_value() == (variant != 5));
    int64_t last = -1;
    for (const std::string& name : names_of(trace)) {
      CHECK(probe_order(name) > last);
      last = probe_order(name);
    }
  }
}

TEST_CASE("record_trace: chosen names and positions") {
  Transformer model(random_model(small_config(0), DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  const std::vector<TokenId> ids = random_ids(6, 300, 1);
  const Trace all = record_trace(model, ids, kernels);
  TraceRequest request;
  request.wants = NameFilter("^(embed|logits|blk\\.1\\..*(mix|scores))$");
  request.positions = {5, 1, 5};
  const Trace some = record_trace(model, ids, kernels, request);
  CHECK(names_of(some) == std::vector<std::string>{"embed", "blk.1.attn.scores", "blk.1.attn.mix", "logits"});
  CHECK(some.header.positions == std::vector<int>{1, 5});
  CHECK(some.find("blk.1.attn.scores")->shape == std::vector<int64_t>{4, 2, 6});
  CHECK(some.find("logits")->shape == std::vector<int64_t>{2, 300});
  CHECK(some.find("resid") == nullptr);
  const int rows[] = {1, 5}, absent[] = {2};
  for (const TraceTensor& tensor : some.tensors) {
    CAPTURE(tensor.name);
    CHECK(trace_values(tensor, some.header).numbers == trace_rows(all, tensor.name, rows)->numbers);
  }
  CHECK_FALSE(trace_rows(some, "embed", absent));
  CHECK_FALSE(trace_rows(some, "final_norm", rows));

  request.wants = NameFilter("mix|resid");
  CHECK(record_trace(model, ids, kernels, request).header.attention == "fused");
  request.positions = {6};
  CHECK_ERROR(record_trace(model, ids, kernels, request), "no such position", "expected 0 to 5", "found 6");
  CHECK_ERROR(record_trace(model, {}, kernels), "no tokens");
}

TEST_CASE("record_trace: a long prompt in several calls is one trace") {
  Transformer model(random_model(small_config(1), DType::F32));
  ReferenceKernels<float> kernels{Threads(2)};
  const std::vector<TokenId> ids = random_ids(530, 300, 1);
  const Recorder expected = recorded(model, kernels, ids);
  TraceRequest request;
  request.wants = [](std::string_view name) { return name.starts_with("blk.1.attn"); };
  const Trace trace = record_trace(model, ids, kernels, request);
  for (const TraceTensor& tensor : trace.tensors) {
    CAPTURE(tensor.name);
    Tensor same = expected[tensor.name];
    CHECK(compare_tensors(trace_values(tensor, {}), trace_values(same, {})).relative < 1e-4);
  }
  CHECK(trace.find("blk.1.attn.scores")->shape == std::vector<int64_t>{4, 530, 530});
}

TEST_CASE("record_trace: a sequence that goes on") {
  Transformer model(random_model(small_config(0), DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  const std::vector<TokenId> ids = random_ids(5, 300, 1);
  const auto state = model.new_sequence();
  record_trace(model, *state, std::span(ids).first(2), kernels);
  const Trace trace = record_trace(model, *state, std::span(ids).subspan(2), kernels);
  CHECK(trace.header.positions == std::vector<int>{2, 3, 4});
  CHECK(trace.find("blk.0.attn.weights")->shape == std::vector<int64_t>{4, 3, 5});
  const Trace whole = record_trace(model, ids, kernels);
  const TensorValues rows = trace_values(*trace.find("logits"), {});
  CHECK(compare_tensors(rows, *trace_rows(whole, "logits", trace.header.positions)).relative < 1e-5);
}

TEST_CASE("traces in files: the same tensors and header come back") {
  const TemporaryFolder folder;
  Transformer model(random_model(small_config(0), DType::F32));
  ReferenceKernels<float> kernels{Threads(1)};
  TraceRequest request;
  request.positions = {0, 2};
  Trace written = record_trace(model, random_ids(4, 300, 1), kernels, request);
  written.header.model = "a model";
  written.header.checksum = "12ab  model.gguf";
  write_trace(folder / "t.safetensors", written);
  const Trace read = read_trace(folder / "t.safetensors");
  CHECK(names_of(read) == names_of(written));
  for (size_t i = 0; i < read.tensors.size(); ++i) {
    CHECK(read.tensors[i].shape == written.tensors[i].shape);
    CHECK(std::ranges::equal(read.tensors[i].bytes, written.tensors[i].bytes));
  }
  const TraceHeader &a = read.header, &b = written.header;
  CHECK(a.prompt_ids == b.prompt_ids);
  CHECK(a.positions == std::vector<int>{0, 2});
  CHECK(a.model + a.checksum + a.build + a.kernels + a.attention ==
        b.model + b.checksum + b.build + b.kernels + b.attention);
  CHECK(a.rope_layout == RopeLayout::interleaved);
  CHECK(std::vector{a.rope_dims, a.n_heads, a.n_kv_heads, a.head_dim} == std::vector{8, 4, 2, 8});
  CHECK(a.norm == Norm::rms);
  CHECK(a.norm_epsilon == 1e-5);
}

TEST_CASE("traces in files: headers that make no sense") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& metadata) {
    SafetensorsBuilder builder;
    builder.entries = "\"__metadata__\":{" + metadata + "}";
    return read_bytes(folder, builder.floats("embed", {1, 2}, {1, 2})).header;
  };
  CHECK(read(R"("format":"pt")").positions.empty());
  CHECK(read(R"("format":"orrery trace 1","positions":"[0, 7]")").positions == std::vector<int>{0, 7});
  CHECK_ERROR(read(R"("format":"orrery trace 2")"), "header of the trace is broken", "t.safetensors: format",
              "trace 1");
  CHECK_ERROR(read(R"("positions":"[1, 1]")"), "ascending");
  CHECK_ERROR(read(R"("positions":"[-1]")"), "whole numbers");
  CHECK_ERROR(read(R"("positions":"[1e3]")"), "whole numbers");
  CHECK_ERROR(read(R"("prompt_ids":"[4294967296]")"), "prompt_ids", "whole numbers");
  CHECK_ERROR(read(R"("prompt_ids":"[[1]]")"), "whole numbers");
  CHECK_ERROR(read(R"("prompt_ids":"{}")"), "whole numbers");
  CHECK_ERROR(read(R"("prompt_ids":"[1,")"), "broken JSON");
  CHECK_ERROR(read(R"("n_heads":"-1")"), "n_heads", "not negative");
  CHECK_ERROR(read(R"("n_heads":"1.5")"), "n_heads", "whole number");
  CHECK_ERROR(read(R"("head_dim":"9999999999")"), "head_dim", "whole number up to");
  CHECK_ERROR(read(R"("rope_layout":"sideways")"), "interleaved or half_split", "found sideways");
  CHECK_ERROR(read(R"("norm_epsilon":"nan")"), "norm_epsilon");
}

TEST_CASE("traces of other programs: names of Hugging Face's modules") {
  const auto name = [](const char* module, bool has_post_norms = false) {
    return probe_name_of_module(module, has_post_norms);
  };
  CHECK(name("model.embed_tokens") == "embed");
  CHECK(name("model.layers.12.self_attn.q_proj") == "blk.12.attn.q");
  CHECK(name("model.layers.0.self_attn.o_proj.input") == "blk.0.attn.mix");
  CHECK(name("model.layers.0.post_attention_layernorm") == "blk.0.ffn_norm");
  CHECK(name("model.layers.0.post_attention_layernorm.input") == "blk.0.resid_mid");
  CHECK(name("model.layers.0.post_attention_layernorm", true) == "blk.0.post_attention_norm");
  CHECK(name("model.layers.0.pre_feedforward_layernorm", true) == "blk.0.ffn_norm");
  CHECK(name("model.layers.3") == "blk.3.resid");
  CHECK(name("model.layers.3.output") == "blk.3.resid");
  CHECK(name("model.norm") == "final_norm");
  CHECK(name("lm_head") == "logits");
  CHECK(name("transformer.h.1.mlp.c_proj.input") == "blk.1.ffn.act");
  CHECK(name("h.1.ln_2.input") == "blk.1.resid_mid");
  CHECK(name("transformer.ln_f") == "final_norm");
  for (const char* none : {"", "model.layers", "model.layers.x.mlp", "model.layers.-1.mlp.up_proj",
                           "model.layers.99999999999.mlp.up_proj", "model.layers.1mlp.up_proj", "layers.1.mlp"}) {
    CHECK(name(none) == "");
  }
  CHECK(probe_order("blk.2.resid") < probe_order("blk.10.attn_norm"));
  CHECK(probe_order("blk.10.resid") < probe_order("final_norm"));
  CHECK(probe_order("logits") < probe_order("blk.0.attn.c_attn"));
}

TEST_CASE("traces of other programs: their shapes, and the two layouts, become one") {
  const TemporaryFolder folder;
  SafetensorsBuilder builder;
  builder.entries = R"("__metadata__":{"n_heads":"2","n_kv_heads":"1","head_dim":"4","rope_dims":"4",)"
                    R"("rope_layout":"interleaved"})";
  std::vector<float> count(48);
  std::iota(count.begin(), count.end(), 0.0F);
  const auto first = [&](size_t n) { return std::vector<float>(count.begin(), count.begin() + static_cast<long>(n)); };
  builder.floats("model.layers.0.self_attn.v_proj", {1, 3, 4}, first(12))
      .floats("model.layers.0.self_attn.o_proj.input", {1, 2, 3, 4}, first(24))
      .floats("model.layers.0.self_attn.q_proj", {3, 8}, first(24))
      .floats("model.layers.0.self_attn.q_norm", {1, 3, 2, 4}, first(24))
      .floats("model.layers.0.self_attn.attn_scores", {1, 1, 1, 3}, {1, -3e38F, 2})
      .floats("transformer.h.1.attn.c_attn", {1, 2, 6}, first(12));
  const Trace trace = read_bytes(folder, builder);
  const auto values = [&](const char* name) {
    REQUIRE_MESSAGE(trace.find(name) != nullptr, name);
    return trace_values(*trace.find(name), trace.header);
  };
  CHECK(values("blk.0.attn.v").shape == std::vector<int64_t>{3, 4});
  const TensorValues mix = values("blk.0.attn.mix");  // [2, 3, 4] -> [3, 2 * 4]
  CHECK(mix.shape == std::vector<int64_t>{3, 8});
  CHECK(std::vector(mix.row(1), mix.row(2)) == std::vector<double>{4, 5, 6, 7, 16, 17, 18, 19});
  const TensorValues q = values("blk.0.attn.q");
  CHECK(std::vector(q.row(0), q.row(1)) == std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(values("blk.0.attn.q_norm").numbers == q.numbers);
  CHECK(values("blk.0.attn.scores").numbers == std::vector<double>{1, -INFINITY, 2});
  CHECK(values("blk.1.attn.q").numbers == std::vector<double>{0, 1, 6, 7});
  CHECK(values("blk.1.attn.k").numbers == std::vector<double>{2, 3, 8, 9});
  CHECK(values("blk.1.attn.v").numbers == std::vector<double>{4, 5, 10, 11});
}

TEST_CASE("NameFilter: patterns that are broken or would never end") {
  CHECK(NameFilter("blk.[0-2].attn")("blk.1.attn.q"));
  CHECK_FALSE(NameFilter("^attn")("blk.1.attn.q"));
  CHECK_ERROR(NameFilter("blk.(1"), "regular expression", "character 6", "found blk.(1");
  CHECK_ERROR(NameFilter("(a*)*(a*)*(a*)*[bc]$")("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), "regular expression");
}

TEST_CASE("damaged traces: every prefix and every changed byte loads or ends in one Error") {
  const TemporaryFolder folder;
  SafetensorsBuilder builder;
  builder.entries = R"("__metadata__":{"format":"orrery trace 1","n_heads":"1","n_kv_heads":"1","head_dim":"2",)"
                    R"("rope_dims":"2","rope_layout":"interleaved","positions":"[0, 1]","norm":"rms"})";
  builder.floats("blk.0.attn.q", {1, 2, 2}, {1, 2, 3, 4}).floats("blk.0.attn.scores", {1, 2, 2}, {1, 2, 3, 4});
  const std::string whole = builder.bytes();
  const std::string path = write_file(folder / "t.safetensors", whole);
  const auto look = [&] {
    try {
      const Trace trace = read_trace(path);
      const int rows[] = {0, 1};
      for (const TraceTensor& tensor : trace.tensors) trace_rows(trace, tensor.name, rows);
      return true;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
      return false;
    }
  };
  REQUIRE(look());
  const int file = open(path.c_str(), O_RDWR);  // damaged in place: making a new one each time takes long
  REQUIRE(file >= 0);
  const auto set = [&](size_t at, char byte) { REQUIRE(pwrite(file, &byte, 1, static_cast<off_t>(at)) == 1); };
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x02, 0x80}) {
      set(at, static_cast<char>(whole[at] ^ change));
      look();
    }
    set(at, whole[at]);
  }
  CHECK(look());
  for (size_t size = whole.size(); size-- > 0;) {
    REQUIRE(ftruncate(file, static_cast<off_t>(size)) == 0);
    CHECK_FALSE(look());
  }
  close(file);
}
