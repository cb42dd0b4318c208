// Speed of a model, each figure beside the limit of the machine that it runs into, measured in the same run: prefill
// ("pp512") against multiply-adds, decoding ("tg128") against memory bandwidth. The names are llama-bench's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "files/checkpoint.h"
#include "kernels/decorated_kernels.h"
#include "measure/machine_limits.h"
#include "model/language_model.h"

namespace orrery {

struct BenchCase {
  int prompt = 0;    // rows of one prefill; or
  int generate = 0;  // tokens decoded one after the other
  int depth = 0;     // positions in the cache before
  int threads = 1;
  std::string name() const;  // "pp512", "tg128 @ d1000"
};

struct BenchResult {
  BenchCase what;
  double tokens_per_second = 0;   // mean of the repetitions
  double standard_deviation = 0;  // of them
  double achieved = 0;            // FLOP/s of a prefill, bytes/s of decoding, at the median time
  double limit = 0;               // the machine's, median of one measurement for each repetition
  MachineLimits limits;           // all of them
  TotalsByName operations;        // of the last repetition, where asked for

  double share() const { return limit > 0 ? achieved / limit : 0; }
};

struct BenchSetup {
  std::shared_ptr<const Checkpoint> checkpoint;
  LanguageModel& model;
  bool is_mapped = false;  // the weights lie in a mapped file: small pages are the limit then
  DType key_type = DType::F32, value_type = DType::F32;
  int repetitions = 5;
  bool times_operations = false;
  std::function<std::unique_ptr<Kernels>(int threads)> make_kernels;
};

// What a token of a decode costs to read, and a prefill to compute: the numerators of `achieved`.
double decode_bytes_per_token(const BenchSetup& setup, const BenchCase& what);
double prefill_flops(const BenchSetup& setup, const BenchCase& what);

// The value in the middle, or the mean of the two there; of one value at least.
double median(std::vector<double> values);

// Throws Error where prompt or depth do not fit the context. `meter` may serve many cases.
BenchResult bench(const BenchSetup& setup, const BenchCase& what, const LimitMeter& meter);

// One line for each result. `format` is "md", "csv" or "json"; the parts, put together, are one document.
std::string bench_head(const std::string& format);
std::string bench_line(const std::string& format, const Checkpoint& checkpoint, const BenchResult& result,
                       bool is_first);
std::string bench_tail(const std::string& format);
std::string operations_table(const TotalsByName& operations);

}  // namespace orrery
