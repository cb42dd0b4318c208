// orrery train: from texts to a model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/progress.h"
#include "cli/session.h"
#include "config/arithmetic.h"
#include "files/torch_recurrent.h"
#include "generate/generate.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/fast_kernels.h"
#include "learn/learner.h"
#include "learn/training_memory.h"
#include "learn/vocabularies.h"
#include "measure/machine_facts.h"
#include "measure/machine_limits.h"
#include "text/text_stream.h"

namespace orrery::cli {
namespace {

ModelConfig shape_of(const TrainOptions& options, int vocab_size) {
  if (options.architecture != Architecture::transformer) {
    return recurrent_config({.architecture = options.architecture,
                             .n_layers = options.n_layers,
                             .d_hidden = options.d_model,
                             .vocab_size = vocab_size,
                             .d_embedding = options.d_embedding,
                             .tied_head = options.tied_head});
  }
  return llama_config({.n_layers = options.n_layers,
                       .d_model = options.d_model,
                       .n_heads = options.n_heads,
                       .vocab_size = vocab_size,
                       .context_length = options.training.context,
                       .n_kv_heads = options.n_kv_heads,
                       .d_ff = options.d_ff});
}

ModelConfig config_of(const TrainOptions& options, int vocab_size) {
  ModelConfig config = shape_of(options, vocab_size);
  config.name = options.name.empty() ? std::filesystem::path(options.run.output).stem().string() : options.name;
  return config;
}

TrainingSettings settings_of(const TrainOptions& options) {
  TrainingSettings settings = options.training;
  settings.lowest_rate = options.lowest_rate < 0 ? settings.rate / 10 : options.lowest_rate;
  check(settings);
  return settings;
}

// The texts as tokens. The characters themselves are not kept: in training they would only take memory.
struct Texts {
  explicit Texts(const TrainOptions& options) : Texts(options, read_corpus(options.data, options.corpus)) {}

  Vocabulary vocabulary;
  std::unique_ptr<Tokenizer> tokenizer;
  TokenData training, validation;

 private:
  Texts(const TrainOptions& options, const Corpus& corpus)
      : vocabulary(vocabulary_for(options.tokenizer, options.vocabulary_size, corpus.training)),
        tokenizer(make_tokenizer(vocabulary, options.tokenizer)),
        training(corpus.training, *tokenizer),
        validation(corpus.validation, *tokenizer) {}
};

// Everything that a run holds on to, in the order in which it is made.
struct Training {
  Training(const TrainOptions& options, int n_threads)
      : settings(settings_of(options)),
        texts(options),
        config(config_of(options, static_cast<int>(texts.vocabulary.pieces.size()))),
        threads(n_threads),
        parameters(config, DType::F32),
        forward(threads),
        backward(threads),
        checkpoint(parameters.checkpoint(config)) {
    check_amounts(texts.training);
    if (config.is_recurrent()) {
      initialize_recurrent(parameters, config, settings.seed, options.recurrent);
    } else {
      initialize(parameters, config, settings.seed);
    }
    checkpoint.vocabulary = texts.vocabulary;
    model = make_language_model(std::make_shared<const Checkpoint>(checkpoint));
    trainer = std::make_unique<Trainer>(*model, forward, backward, parameters, texts.training, settings);
  }

  // A text must fill the context at least once, or else most positions never learn anything.
  void check_amounts(const TokenData& training) const {
    const int64_t longest = std::min<int64_t>(settings.context, training.guesses() + 1);
    if (training.guesses() >= settings.context || training.size() > 1) return;
    throw Error({.what = "there is too little text to learn from",
                 .where = "training data",
                 .expected = "at least " + std::to_string(settings.context + 1) + " tokens",
                 .found = std::to_string(training.tokens()),
                 .hint = "give more text, or a smaller -c, " + std::to_string(longest / 2) + " for example"});
  }

  TrainingSettings settings;
  Texts texts;
  ModelConfig config;
  Threads threads;
  Parameters parameters;
  FastKernels forward;
  FastBackward backward;
  Checkpoint checkpoint;
  std::unique_ptr<LanguageModel> model;
  std::unique_ptr<Trainer> trainer;
};

// Weights, gradients, the optimizer, activations of a call, and the tokens.
uint64_t predicted_memory(const Training& training) {
  const TrainingSettings& settings = training.settings;
  const int64_t rows =
      std::max<int64_t>(settings.context, std::min(settings.tokens_per_call, settings.tokens_per_step));
  return training_memory(training.config, rows, settings.activations).total() + training.texts.training.bytes() +
         training.texts.validation.bytes();
}

std::string model_text(const ModelConfig& config, const TrainOptions& options) {
  const std::string layers = std::to_string(config.n_layers);
  if (config.is_recurrent()) {
    return layers + " " + name_of(config.architecture) + " layers of " + std::to_string(config.d_hidden) + ", begun " +
           description(config, options.recurrent);
  }
  return layers + " layers of " + std::to_string(config.d_model) + ", " + std::to_string(config.n_heads) +
         " heads, context " + std::to_string(config.context_length);
}

void print_plan(const Training& training, const TrainOptions& options, double peak_flops) {
  const ModelConfig& config = training.config;
  const TrainingSettings& settings = training.settings;
  const TokenData &text = training.texts.training, &held_out = training.texts.validation;
  std::fprintf(stderr, "text:  %s documents, %s tokens; held out: %s documents, %s tokens; %s pieces\n",
               with_separators(static_cast<int64_t>(text.size())).c_str(), with_separators(text.tokens()).c_str(),
               with_separators(static_cast<int64_t>(held_out.size())).c_str(),
               with_separators(held_out.tokens()).c_str(), with_separators(config.vocab_size).c_str());
  std::fprintf(stderr, "model: %s parameters, %s\n",
               scaled(static_cast<double>(parameter_count(config).total())).c_str(),
               model_text(config, options).c_str());
  const double tokens = static_cast<double>(settings.steps) * static_cast<double>(settings.tokens_per_step);
  std::fprintf(stderr, "run:   %s steps of about %s tokens, %s epochs; about %s of memory; peak %s GFLOP/s\n",
               with_separators(settings.steps).c_str(), with_separators(settings.tokens_per_step).c_str(),
               fixed(tokens / static_cast<double>(text.guesses()), 1).c_str(),
               bytes_text(predicted_memory(training)).c_str(), fixed(peak_flops / 1e9, 0).c_str());
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  const std::string rest = std::to_string(whole % 60);
  return std::to_string(whole / 60) + ":" + (rest.size() < 2 ? "0" : "") + rest;
}

std::string note(const RunReport& report) {
  return "loss " + fixed(report.mean_loss, 4) + "  " + with_separators(std::llround(report.tokens_per_second)) +
         " tokens/s  MFU " + fixed(report.utilization * 100, 0) + "%  " + bytes_text(peak_memory());
}

void print_line(const RunReport& report, int64_t steps) {
  std::string line = "step " + std::to_string(report.step.step) + "/" + std::to_string(steps) + "  " + note(report);
  if (!std::isnan(report.validation_loss)) line += "  validation " + fixed(report.validation_loss, 4);
  std::fprintf(stderr, "%s  epoch %s  %s left\n", line.c_str(), fixed(report.epochs, 2).c_str(),
               clock_text(report.seconds_left).c_str());
}

// What the new model writes, so that one sees what came of it: one text, or several where they are short.
void print_samples(Training& training) {
  constexpr int kTokens = 200, kTexts = 8;
  const Vocabulary& vocabulary = training.texts.vocabulary;
  if (vocabulary.bos == kNoToken) return;
  Arena arena;
  Sampler sampler({}, training.settings.seed);
  const TokenId prompt[] = {vocabulary.bos};
  std::string text = "It writes:\n";
  int tokens = 0;
  for (int i = 0; i < kTexts && tokens < kTokens; ++i) {
    TextStream stream(*training.texts.tokenizer, {}, vocabulary.bos);
    const auto push = [&](TokenId id) {
      text += stream.push(id);
      return true;
    };
    const GenerateOptions options{.max_tokens = kTokens - tokens, .end_tokens = vocabulary.end_tokens};
    const Generation generation = generate(*training.model, prompt, sampler, training.forward, arena, options, push);
    text += stream.flush() + "\n";
    tokens += static_cast<int>(generation.ids.size()) + 1;
  }
  print(text);
}

// Nobody shall wonder later what an option did.
void check_architecture(const TrainOptions& options) {
  const bool is_recurrent = options.architecture != Architecture::transformer;
  const std::pair<const char*, bool> recurrent_only[] = {{"--embedding", options.d_embedding > 0},
                                                         {"--tied", options.tied_head},
                                                         {"--orthogonal", options.recurrent.orthogonal},
                                                         {"--forget-bias", options.recurrent.forget_bias != 0},
                                                         {"--torch", !options.torch_folder.empty()}};
  for (const auto& [name, is_given] : recurrent_only) {
    if (!is_given || is_recurrent) continue;
    throw Error(
        {.what = "this option is for recurrent models", .where = name, .hint = "say --model lstm, for example"});
  }
  if (!options.torch_folder.empty() && options.type == "q8_0") {
    throw Error({.what = "PyTorch's files have no Q8_0", .where = "--torch", .expected = "--type f32, f16 or bf16"});
  }
}

// Hours of work are not to be lost by a flag that somebody forgot.
void check_output(const TrainOptions& options) {
  const RunFiles files = run_files(options.run.output);
  std::error_code ignored;
  if (options.resume || options.overwrite || !std::filesystem::exists(files.state, ignored)) return;
  throw Error({.what = "a run has been saved there already",
               .where = files.state,
               .hint = "--resume goes on with it, --overwrite begins anew, another --output leaves it alone"});
}

// Both forms of the GRU have the same weights: one would be resumed as the other.
void check_resumed(const std::string& path, const ModelConfig& config) {
  const ModelConfig saved = load_checkpoint(path, {.needs_tokenizer = false, .needs_weights = false}).config;
  if (saved.architecture == config.architecture) return;
  throw Error({.what = "this is another run: it was saved with another kind of model",
               .where = path,
               .expected = name_of(config.architecture),
               .found = name_of(saved.architecture),
               .hint = "give the options of that run, or another --output to begin a new one"});
}

}  // namespace

int train(const TrainOptions& options) {
  check_architecture(options);
  check_output(options);
  const int threads = options.threads > 0 ? options.threads : default_thread_count();
  Training training(options, threads);
  RunSettings run_settings = options.run;
  run_settings.type = dtype_from_name(options.type).value();
  run_settings.peak_flops = LimitMeter(size_t{1} << 20).measure(training.threads).flops_per_second;
  print_plan(training, options, run_settings.peak_flops);

  const TokenData& held_out = training.texts.validation;
  const bool has_validation = held_out.guesses() > 0;
  TrainingRun run(*training.trainer, training.checkpoint, has_validation ? &held_out : nullptr, run_settings);
  const RunFiles files = run_files(run_settings.output);
  if (options.resume) {
    check_resumed(files.state, training.config);
    run.resume();
    std::fprintf(stderr, "goes on after step %lld\n", static_cast<long long>(training.trainer->steps_taken()));
  }
  catch_interrupt();
  Progress progress("train");
  const int64_t steps = training.settings.steps;
  const RunResult result = run.run(
      [&](const RunReport& report) {
        progress.show(report.step.step, steps, note(report));
        if (!report.is_saved) return;
        progress.clear();
        print_line(report, steps);
      },
      [] { return !interrupted(); });
  progress.clear();
  if (!result.is_finished) {
    std::fprintf(stderr, "stopped after step %lld; the same command with --resume goes on\n",
                 static_cast<long long>(training.trainer->steps_taken()));
    return kInterrupted;
  }
  print(terminal_text(run.figure()) + "\n");
  print(printable(files.model) + ": " +
        (has_validation ? "validation loss " + fixed(result.validation_loss, 4) + " nats per token, " : "") +
        "after step " + std::to_string(result.best_step) + "; history in " + printable(files.log) + "\n");
  if (!options.torch_folder.empty()) {
    write_torch_recurrent(options.torch_folder, load_checkpoint(files.model));
    print("the same for PyTorch: " + printable(options.torch_folder) + "\n");
  }
  print_samples(training);
  return kDone;
}

}  // namespace orrery::cli
