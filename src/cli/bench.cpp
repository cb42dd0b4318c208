// orrery bench: speed beside this machine's limits.
#include "measure/bench.h"

#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "base/progress.h"
#include "cli/session.h"
#include "config/arithmetic.h"
#include "config/catalogue.h"
#include "files/gguf_writer.h"
#include "files/random_checkpoint.h"
#include "measure/machine_facts.h"

namespace orrery::cli {
namespace {

// Systems lend more memory than there is, and end the program when it is used.
void check_memory(const ModelConfig& shape, DType type) {
  const uint64_t needed = weight_bytes(shape, type), available = machine_facts().available_memory;
  if (available == 0 || needed < available) return;
  throw Error({.what = "the weights do not fit into this machine's memory",
               .where = shape.name,
               .expected = "less than " + bytes_text(available),
               .found = bytes_text(needed)});
}

std::shared_ptr<const Checkpoint> checkpoint_of(const BenchOptions& options) {
  if (options.shape.empty()) {
    return open_checkpoint(options.model, {.tokenizer_path = options.model.tokenizer, .needs_tokenizer = false});
  }
  const auto type = dtype_from_name(options.type);
  if (!type || *type == DType::F64) {
    throw Error({.what = "no such type of weights",
                 .where = "--type",
                 .expected = "f32, f16, bf16 or q8_0",
                 .found = options.type});
  }
  const ModelConfig& shape = runnable_shape(options.shape);
  check_memory(shape, *type);
  return std::make_shared<const Checkpoint>(random_checkpoint(shape, *type, 1));
}

void save(const Checkpoint& checkpoint, const std::string& path) {
  if (path.empty()) return;
  write_gguf(path, checkpoint);
  std::fprintf(stderr, "wrote %s\n", printable(path).c_str());
}

std::vector<BenchCase> cases(const BenchOptions& options) {
  std::vector<BenchCase> result;
  const std::vector<int> all_threads = options.threads.empty() ? std::vector{default_thread_count()} : options.threads;
  for (const int threads : all_threads) {
    for (const int depth : options.depth) {
      for (const int n : options.prompt) {
        if (n > 0) result.push_back({.prompt = n, .depth = depth, .threads = threads});
      }
      for (const int n : options.generate) {
        if (n > 0) result.push_back({.generate = n, .depth = depth, .threads = threads});
      }
    }
  }
  return result;
}

void print_limits(const BenchResult& result) {
  std::fprintf(stderr, "%d thread%s: reads %s GB/s through huge pages, %s GB/s from a mapped file; %s GFLOP/s\n",
               result.what.threads, result.what.threads == 1 ? "" : "s",
               fixed(result.limits.huge_page_bytes_per_second / 1e9, 1).c_str(),
               fixed(result.limits.mapped_bytes_per_second / 1e9, 1).c_str(),
               fixed(result.limits.flops_per_second / 1e9, 1).c_str());
}

}  // namespace

int bench(const BenchOptions& options) {
  const auto checkpoint = checkpoint_of(options);
  save(*checkpoint, options.save);
  const auto model = make_model(checkpoint, options.model);
  const BenchSetup setup{.checkpoint = checkpoint,
                         .model = *model,
                         .is_mapped = options.shape.empty(),
                         .key_type = dtype_from_name(options.model.key_type).value(),
                         .value_type = dtype_from_name(options.model.value_type).value(),
                         .repetitions = options.repetitions,
                         .times_operations = options.operations,
                         .make_kernels = [&](int threads) { return make_kernels(options.model.kernels, threads); }};
  const LimitMeter meter;
  const std::vector<BenchCase> all = cases(options);
  print(bench_head(options.output));
  Progress progress("bench");
  int last_threads = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    progress.show(static_cast<int64_t>(i + 1), static_cast<int64_t>(all.size() + 1), all[i].name());
    const BenchResult result = orrery::bench(setup, all[i], meter);
    progress.clear();
    if (all[i].threads != last_threads) print_limits(result);
    last_threads = all[i].threads;
    print(bench_line(options.output, *checkpoint, result, i == 0));
    if (options.operations) std::fputs(operations_table(result.operations).c_str(), stderr);
  }
  print(bench_tail(options.output));
  return kDone;
}

}  // namespace orrery::cli
