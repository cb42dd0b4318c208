// What the user may say, as plain structs. option*.cpp, the files that know CLI11, fill them in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generate/sampler.h"
#include "learn/corpus.h"
#include "learn/recurrent_initialization.h"
#include "learn/training_run.h"
#include "tensor/dtype.h"

namespace orrery::cli {

struct ModelOptions {
  std::string path;       // empty: the model that ships with the program
  std::string tokenizer;  // of a llama2.c file
  int context = 0;        // 0: what the model knows
  int threads = 0;        // 0: default_thread_count()
  std::string kernels = "fast";
  std::string key_type = "f32";
  std::string value_type = "f32";
};

struct TextOptions {  // exactly one of them, or none
  std::optional<std::string> prompt;
  std::optional<std::string> file;  // "-": standard input
  std::optional<std::string> ids;   // "1,2,3": fed as they are
};

struct InspectionOptions {           // inspection.h
  std::vector<std::string> stop_at;  // "blk.3.attn.scores@5"
  std::vector<std::string> stop_on;  // "nan"
  std::vector<std::string> patches;  // "blk.2.attn.out=zero"
  std::vector<int> skipped_layers;
};

struct RunOptions {
  ModelOptions model;
  TextOptions text;
  InspectionOptions inspection;
  SamplerSettings sampler;
  std::optional<uint64_t> seed;
  int max_tokens = -1;
  std::vector<std::string> stops;
  bool ignore_end = false;
  bool verbose_prompt = false;
  bool display_prompt = true;
  bool print_ids = false;
  bool special = false;
  bool why = false;
};

struct ChatOptions {
  ModelOptions model;
  std::optional<std::string> system;  // not given: the template's own
  std::optional<std::string> first;   // message, before standard input is read
  SamplerSettings sampler;
  std::optional<uint64_t> seed;
  int max_tokens = -1;  // of an answer
  bool verbose_prompt = false;
};

struct TokenizeOptions {
  ModelOptions model;
  TextOptions text;
  bool ids = false;
  bool steps = false;
  bool special = false;
  bool bos = true;
};

struct DetokenizeOptions {
  ModelOptions model;
  std::string ids;
  bool special = false;
};

struct LogitsOptions {
  ModelOptions model;
  TextOptions text;
  InspectionOptions inspection;
  bool json = false;
  bool special = false;
  int top = 10;
};

struct AttentionOptions {
  ModelOptions model;
  TextOptions text;
  InspectionOptions inspection;
  bool special = false;
  int layer = 0;
  std::optional<int> head;  // not given: all
  std::string output;       // a PNG file; empty: to the terminal
  int width = 100;          // columns of the terminal
};

struct LensOptions {
  ModelOptions model;
  TextOptions text;
  std::string positions;  // empty: the last
  bool all = false;
  bool json = false;
  bool special = false;
  int top = 5;
};

struct PageOptions {  // of a page for a browser
  std::string path;   // empty: none
  int max_tokens = 64;
  bool ignore_end = false;
  SamplerSettings sampler;
  std::optional<uint64_t> seed;
  std::string language = "english";
};

struct TraceOptions {
  ModelOptions model;
  TextOptions text;
  InspectionOptions inspection;
  int planted_bug = 0;  // 0: none
  PageOptions page;
  std::string output;
  bool as_text = false;
  std::string npy;     // a folder
  std::string filter;  // empty: all tensors
  std::string positions;
  std::string precision;  // empty: as the kernels have it
  bool special = false;
};

struct TraceDiffOptions {
  std::string a, b;    // the second may be empty where there is a model
  ModelOptions model;  // path empty: none
  double tolerance = 1e-4;
};

struct ShowOptions {
  ModelOptions model;
  bool metadata = false;
};

struct PerplexityOptions {
  ModelOptions model;
  TextOptions text;
  int window = 512;
  int stride = 0;  // 0: half the window
};

struct BenchOptions {
  ModelOptions model;
  std::string shape;  // a catalogued one, with random weights
  std::string type = "f32";
  std::string save;
  std::vector<int> prompt = {512};
  std::vector<int> generate = {128};
  std::vector<int> depth = {0};
  std::vector<int> threads;
  int repetitions = 5;
  std::string output = "md";
  bool operations = false;
};

struct DoctorOptions {
  ModelOptions model;
  bool has_model = false;
};

struct TrainTokenizerOptions {
  std::vector<std::string> data;
  std::string output = "tokenizer.json";
  int vocabulary_size = 1024;
  std::vector<std::string> special_tokens = {"<|endoftext|>"};
  bool han_apart = false;
};

struct TrainOptions {
  std::vector<std::string> data;
  CorpusOptions corpus;
  std::string tokenizer = "bpe";
  int vocabulary_size = 1024;
  std::string name;

  int n_layers = 4, d_model = 128, n_heads = 4;
  int n_kv_heads = 0;  // 0: n_heads
  int d_ff = 0;        // 0: 8/3 of d_model, to the next multiple of 32

  Architecture architecture = Architecture::transformer;
  int d_embedding = 0;  // of a recurrent model; 0: d_model, which is the width of its hidden states
  bool tied_head = false;
  RecurrentInitialization recurrent;
  std::string torch_folder;  // where the recurrent model goes with PyTorch's names, too; empty: nowhere

  TrainingSettings training;
  double lowest_rate = -1;  // below 0: a tenth of the rate
  RunSettings run;
  std::string type = "f32";
  bool resume = false;
  bool overwrite = false;
  int threads = 0;
};

struct EvalOptions {
  ModelOptions model;
  std::string pairs;                             // a file of sentence pairs; empty: none
  std::optional<int> stories, recall, tell;      // the parts of the story exam; all of them where nothing is asked for
  std::string training;                          // the text that the model was trained on; empty: not given
  uint64_t seed = 1000;                          // not the one that the shipped model's stories were told with
  SamplerSettings sampler = kWholeDistribution;  // of the stories it tells
  bool json = false;
};

struct CompareOptions {
  bool quick = false;
  std::optional<double> minutes;
  std::optional<int64_t> parameters;
  std::vector<std::string> parts, tasks;  // empty: all that such a comparison has
  std::vector<double> rates;
  std::string equal = "time";
  std::optional<int> pairs;
  std::optional<int> noise;
  uint64_t seed = 1;
  int threads = 1;
  std::string folder = "compare";
  std::string format = "md";
  bool overwrite = false;
};

struct StoriesOptions {
  std::optional<int> count;
  std::string language = "both";
  std::optional<uint64_t> seed;
  std::optional<std::string> check;  // a file of lines; "-": standard input
  bool statistics = false;
};

struct CalcOptions {  // numbers may have units and number words, so they are text here
  std::vector<std::string> formula;
  bool list = false;
  int digits = 4;
  std::string model;
  std::string chip;
  std::string chips = "1";
  std::string tokens;
  std::string batch = "1";
  std::string length;
  std::string type = "f16";
  std::string kv_type = "f16";
  std::string format;
  std::string mfu = "0.4";
  std::string pue = "1.1";
  std::string price_hour;
  std::string price_kwh = "0.1";
  bool explain = false;
};

struct ClaimsOptions {
  std::string which;  // a claim or a lesson; empty: all
  std::string language = "english";
};

// One function for each verb; what it returns is the exit status.
int run(const RunOptions& options);
int chat(const ChatOptions& options);
int tokenize(const TokenizeOptions& options);
int detokenize(const DetokenizeOptions& options);
int logits(const LogitsOptions& options);
int attention(const AttentionOptions& options);
int lens(const LensOptions& options);
int trace(const TraceOptions& options);
int trace_diff(const TraceDiffOptions& options);
int show(const ShowOptions& options);
int perplexity(const PerplexityOptions& options);
int bench(const BenchOptions& options);
int doctor(const DoctorOptions& options);
int train(const TrainOptions& options);
int train_tokenizer(const TrainTokenizerOptions& options);
int eval(const EvalOptions& options);
int compare(const CompareOptions& options);
int stories(const StoriesOptions& options);
int calc(const CalcOptions& options);
int claims(const ClaimsOptions& options);

constexpr int kDone = 0;
constexpr int kInputAtFault = 1;
constexpr int kUsageAtFault = 2;
constexpr int kDiffers = 3;        // what was compared is not the same
constexpr int kStopped = 4;        // --stop-at or --stop-on ended the run
constexpr int kInterrupted = 130;  // what a shell reports of a program that Ctrl-C ended

// Understands the command line and calls the verb. Prints help on standard output, mistakes on standard error.
int run_command_line(int argc, const char* const* argv);

}  // namespace orrery::cli
