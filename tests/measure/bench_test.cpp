#include "measure/bench.h"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/arithmetic.h"
#include "kernels/fast/fast_kernels.h"
#include "measure/machine_facts.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr size_t kFewBytes = size_t{8} << 20;  // of the memory that is read: quick, if not exact

struct Fixture {
  std::shared_ptr<const Checkpoint> checkpoint = random_model(small_config(1), DType::F16);  // its head is not tied
  Transformer model{checkpoint};
  BenchSetup setup{.checkpoint = checkpoint,
                   .model = model,
                   .repetitions = 2,
                   .times_operations = true,
                   .make_kernels = [](int threads) { return std::make_unique<FastKernels>(Threads(threads)); }};
};

}  // namespace

TEST_CASE("bench: what a token costs is what the arithmetic says") {
  const Fixture f;
  const ModelConfig& c = f.checkpoint->config;
  const ParameterCount count = parameter_count(c);
  // All matrices and the head in F16, vectors in F32, one row of the embedding; then the cache of 100 to 107 positions.
  const int64_t halves = count.matrices + count.head + c.d_model;
  const double cache = (100 + 4.5) * c.n_layers * 2 * c.kv_dim() * 4;
  CHECK(decode_bytes_per_token(f.setup, {.generate = 8, .depth = 100}) ==
        static_cast<double>(2 * halves + 4 * count.vectors) + cache);
  const double products = 2.0 * 64 * static_cast<double>(count.matrices) + 2.0 * static_cast<double>(count.head);
  const double keys = 64 * 100 + 64 * 65 / 2;
  CHECK(prefill_flops(f.setup, {.prompt = 64, .depth = 100}) ==
        products + keys * 4 * c.head_dim * c.n_heads * c.n_layers);
}

TEST_CASE("bench measures, names the limit, and can tell where the time went") {
  const Fixture f;
  const LimitMeter meter(kFewBytes);
  for (const BenchCase what : {BenchCase{.prompt = 20, .depth = 5}, BenchCase{.generate = 6}}) {
    const BenchResult result = bench(f.setup, what, meter);
    CHECK(result.tokens_per_second > 0);
    CHECK(result.share() > 0);
    const bool is_prefill = what.prompt > 0;
    CHECK(result.limit > 0);
    CHECK(result.limits.mapped_bytes_per_second > 0);
    CHECK(result.operations.at("matmul").calls > 0);
    CHECK(what.name() == (is_prefill ? "pp20 @ d5" : "tg6"));
  }
  CHECK_THROWS_WITH_AS(bench(f.setup, {.prompt = 1000, .depth = 100}, meter),
                       doctest::Contains("longer than the context"), Error);
}

TEST_CASE("bench: its three formats hold the same numbers") {
  const Fixture f;
  BenchResult result{.what = {.prompt = 512}, .tokens_per_second = 1234.5, .achieved = 50e9, .limit = 100e9};
  const std::string md = bench_head("md") + bench_line("md", *f.checkpoint, result, true) + bench_tail("md");
  CHECK(md.find("| pp512 | 1234.50 ± 0.00 | 50.0 GFLOP/s | 100.0 GFLOP/s | 50% |") != std::string::npos);
  const auto json = nlohmann::json::parse(bench_head("json") + bench_line("json", *f.checkpoint, result, true) +
                                          bench_line("json", *f.checkpoint, result, false) + bench_tail("json"));
  REQUIRE(json.size() == 2);
  CHECK(json[1]["share"].get<double>() == 0.5);
  CHECK(json[1]["parameters"].get<int64_t>() == parameter_count(f.checkpoint->config).total());
  const std::string csv = bench_head("csv") + bench_line("csv", *f.checkpoint, result, true);
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  CHECK(commas(csv.substr(0, csv.find('\n'))) == commas(csv.substr(csv.find('\n'))));
}

TEST_CASE("the machine has cores, memory, and limits above nothing") {
  const MachineFacts facts = machine_facts();
  CHECK(facts.cores >= 1);
  CHECK(facts.memory > (uint64_t{64} << 20));
  CHECK(facts.available_memory <= facts.memory);
  const MachineLimits limits = LimitMeter(kFewBytes).measure(Threads(2));
  CHECK(limits.huge_page_bytes_per_second > 1e8);
  CHECK(limits.mapped_bytes_per_second > 1e8);
  CHECK(limits.flops_per_second > 1e8);
}

TEST_CASE("what is allocated is seen on the heap, until it is given back") {
  const uint64_t before = heap_bytes();
  if (before == 0) return;  // this C library, or the address sanitizer's, does not say
  {
    const std::vector<char> much(10'000'000);
    CHECK(heap_bytes() >= before + much.size());
    CHECK(heap_bytes() < before + much.size() + 100'000);
  }
  CHECK(heap_bytes() < before + 100'000);
}
