#include "cli/options.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include <CLI/CLI.hpp>

#include "base/build_info.h"
#include "base/error.h"
#include "cli/arguments.h"

namespace orrery::cli {
namespace {

using Verb = std::function<int()>;

const CLI::Validator kThreads = CLI::Validator(
    [](std::string& text) {
      if (text.find('.') == std::string::npos) return std::string();
      return "threads are whole numbers; did you mean --temp " + text + "?";
    },
    "");

// CLI::Range would show its upper end in the help.
CLI::Validator at_least(int least) {
  const std::string words = "at least " + std::to_string(least);
  return CLI::Validator(
      [least, words](std::string& text) {
        char* end = nullptr;
        const long long value = std::strtoll(text.c_str(), &end, 10);
        const bool is_right = *end == '\0' && value >= least && value <= std::numeric_limits<int>::max();
        return is_right ? std::string() : words + " is expected, not " + text;
      },
      words);
}

void add_model(CLI::App& verb, ModelOptions& options, bool computes = true) {
  verb.add_option("-m,--model,model", options.path,
                  "a .gguf or llama2.c .bin file (default: the model that ships with orrery)");
  verb.add_option("--tokenizer", options.tokenizer,
                  "tokenizer of a llama2.c file (default: tokenizer.bin beside the model)");
  if (!computes) return;
  verb.add_option("-c,--ctx-size", options.context, "context, in tokens (default: what the model knows)")
      ->check(at_least(1));
  verb.add_option("--kernels", options.kernels, "fast, reference (plain loops) or double (plain loops, 64 bits)")
      ->check(CLI::IsMember({"fast", "reference", "double"}))
      ->capture_default_str();
  verb.add_option("--cache-type-k", options.key_type, "keys in the cache: f32, f16 or bf16 (also -ctk)")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str();
  verb.add_option("--cache-type-v", options.value_type, "values in the cache (also -ctv)")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str();
}

void add_threads(CLI::App& verb, int& threads) {
  verb.add_option("-t,--threads", threads, "threads (default: one for each core, or OMP_NUM_THREADS)")
      ->check(kThreads)
      ->check(CLI::Range(1, 512));
}

void add_text(CLI::App& verb, TextOptions& text, bool ids) {
  CLI::Option* prompt = verb.add_option("-p,--prompt", text.prompt, "the text");
  CLI::Option* file = verb.add_option("-f,--file", text.file, "a file with the text, taken as it is; - is stdin");
  file->excludes(prompt);
  if (!ids) return;
  verb.add_option("--prompt-ids", text.ids, "token ids instead of text, fed as they are: 1,2,3")
      ->excludes(prompt)
      ->excludes(file);
}

void add_sampler(CLI::App& verb, SamplerSettings& s, std::optional<uint64_t>& seed) {
  verb.add_option("-s,--seed", seed, "the same seed gives the same text (default: drawn and printed)");
  verb.add_option("--temp", s.temperature, "temperature; 0 always takes the likeliest")->capture_default_str();
  verb.add_option("--top-k", s.top_k, "draw from the k likeliest; 0: from all")->capture_default_str();
  verb.add_option("--top-p", s.top_p, "draw from the likeliest that reach this probability")->capture_default_str();
  verb.add_option("--min-p", s.min_p, "draw from those with this share of the largest")->capture_default_str();
  verb.add_option("--repeat-penalty", s.repeat_penalty, "1: off; above 1, the last 64 tokens become less likely")
      ->capture_default_str();
}

Verb add_run(CLI::App& verb) {
  const auto o = std::make_shared<RunOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  add_text(verb, o->text, true);
  verb.add_option("-n,--n-predict", o->max_tokens, "tokens to make; -1: until the text ends or the context is full")
      ->check(at_least(-1))
      ->capture_default_str();
  add_sampler(verb, o->sampler, o->seed);
  verb.add_option("--stop", o->stops, "end before this text; may be given several times")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  verb.add_flag("--ignore-eos", o->ignore_end, "never draw an end token");
  verb.add_flag("--special", o->special, "take special tokens in the prompt as such");
  verb.add_flag("--verbose-prompt", o->verbose_prompt, "print the token ids that are fed");
  verb.add_flag("!--no-display-prompt", o->display_prompt, "print only what is new");
  verb.add_flag("--print-ids", o->print_ids, "print the new ids as a JSON array instead of text");
  return [o] { return run(*o); };
}

Verb add_chat(CLI::App& verb) {
  const auto o = std::make_shared<ChatOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  verb.add_option("--system", o->system, "system message (also -sys; default: the template's own)");
  verb.add_option("-p,--prompt", o->first, "first message, before standard input is read");
  verb.add_option("-n,--n-predict", o->max_tokens, "longest answer, in tokens; -1: as long as it likes")
      ->check(at_least(-1))
      ->capture_default_str();
  add_sampler(verb, o->sampler, o->seed);
  verb.add_flag("--verbose-prompt", o->verbose_prompt, "print the token ids that are fed");
  return [o] { return chat(*o); };
}

Verb add_tokenize(CLI::App& verb) {
  const auto o = std::make_shared<TokenizeOptions>();
  add_model(verb, o->model, false);
  add_text(verb, o->text, false);
  verb.add_flag("--ids", o->ids, "print the ids as a JSON array");
  verb.add_flag("--steps", o->steps, "print every merge")->excludes("--ids");
  verb.add_flag("--special", o->special, "take special tokens in the text as such");
  verb.add_flag("!--no-bos", o->bos, "without the token that begins a text");
  return [o] { return tokenize(*o); };
}

Verb add_detokenize(CLI::App& verb) {
  const auto o = std::make_shared<DetokenizeOptions>();
  add_model(verb, o->model, false);
  verb.add_option("--ids", o->ids, "token ids: 1,2,3")->required();
  verb.add_flag("--special", o->special, "print special tokens too");
  return [o] { return detokenize(*o); };
}

Verb add_logits(CLI::App& verb) {
  const auto o = std::make_shared<LogitsOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  add_text(verb, o->text, true);
  verb.add_flag("--json", o->json, "all logits of the last position as a JSON array");
  verb.add_option("--top", o->top, "how many of the largest to print")->check(at_least(1))->capture_default_str();
  verb.add_flag("--special", o->special, "take special tokens in the prompt as such");
  return [o] { return logits(*o); };
}

Verb add_show(CLI::App& verb) {
  const auto o = std::make_shared<ShowOptions>();
  add_model(verb, o->model, false);
  verb.add_option("-c,--ctx-size", o->model.context, "context for the memory plan")->check(at_least(1));
  verb.add_flag("--metadata", o->metadata, "also all keys and values of the file");
  return [o] { return show(*o); };
}

Verb add_perplexity(CLI::App& verb) {
  const auto o = std::make_shared<PerplexityOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  add_text(verb, o->text, false);
  verb.add_option("--window", o->window, "tokens that the model sees at a time")
      ->check(at_least(2))
      ->capture_default_str();
  verb.add_option("--stride", o->stride, "tokens from one window to the next (default: half a window)")
      ->check(at_least(1));
  return [o] { return perplexity(*o); };
}

Verb add_bench(CLI::App& verb) {
  const auto o = std::make_shared<BenchOptions>();
  add_model(verb, o->model);
  verb.add_option("--shape", o->shape, "random weights of a catalogued shape instead of a file: SmolLM2-135M, ...");
  verb.add_option("--type", o->type, "type of the random matrices: f32, f16, bf16 or q8_0")->capture_default_str();
  verb.add_option("--save", o->save, "also write the random model as a GGUF file");
  const CLI::Range counts(0, 1 << 24);
  verb.add_option("-p,--n-prompt", o->prompt, "prompt lengths: 128,512; 0: none")->delimiter(',')->check(counts);
  verb.add_option("-n,--n-gen", o->generate, "tokens to make: 64,128; 0: none")->delimiter(',')->check(counts);
  verb.add_option("-d,--depth", o->depth, "tokens already in the cache: 0,1000")->delimiter(',')->check(counts);
  verb.add_option("-t,--threads", o->threads, "numbers of threads: 1,2")
      ->delimiter(',')
      ->check(kThreads)
      ->check(CLI::Range(1, 512));
  verb.add_option("-r,--repetitions", o->repetitions, "how often each is measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb.add_option("-o,--output", o->output, "md, csv or json")
      ->check(CLI::IsMember({"md", "csv", "json"}))
      ->capture_default_str();
  verb.add_flag("--operations", o->operations, "also where the time goes, by operation");
  return [o] { return bench(*o); };
}

Verb add_doctor(CLI::App& verb) {
  const auto o = std::make_shared<DoctorOptions>();
  add_model(verb, o->model, false);
  CLI::Option* model = verb.get_option("--model");
  return [o, model] {
    o->has_model = model->count() > 0;
    return doctor(*o);
  };
}

void add_data(CLI::App& verb, std::vector<std::string>& data) {
  verb.add_option("data", data, "text files, and folders of them")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Verb add_train_tokenizer(CLI::App& verb) {
  const auto o = std::make_shared<TrainTokenizerOptions>();
  add_data(verb, o->data);
  verb.add_option("-o,--output", o->output, "where the tokenizer.json goes")->capture_default_str();
  verb.add_option("--vocab-size", o->vocabulary_size, "pieces: special tokens, 256 bytes, and merges")
      ->check(at_least(257))
      ->capture_default_str();
  verb.add_option("--special", o->special_tokens, "special tokens; the first begins and ends a text")
      ->allow_extra_args(false)
      ->capture_default_str();
  verb.add_flag("--han-apart", o->han_apart, "no piece joins two Chinese characters");
  return [o] { return train_tokenizer(*o); };
}

void add_shape(CLI::App& verb, TrainOptions& o) {
  verb.add_option("--layers", o.n_layers, "blocks")->check(at_least(1))->capture_default_str();
  verb.add_option("--width", o.d_model, "numbers of a position (d_model)")->check(at_least(1))->capture_default_str();
  verb.add_option("--heads", o.n_heads, "heads of attention")->check(at_least(1))->capture_default_str();
  verb.add_option("--kv-heads", o.n_kv_heads, "heads of keys and values (default: as many)")->check(at_least(1));
  verb.add_option("--feed-forward", o.d_ff, "width of the feed-forward layer (default: 8/3 of the width)")
      ->check(at_least(1));
  verb.add_option("-c,--ctx-size", o.training.context, "context, in tokens")->check(at_least(1))->capture_default_str();
}

void add_training(CLI::App& verb, TrainingSettings& s, double& lowest_rate) {
  static const std::map<std::string, OptimizerKind> kOptimizers = {{"adamw", OptimizerKind::adamw},
                                                                   {"sgd", OptimizerKind::sgd}};
  verb.add_option("--steps", s.steps, "updates of the weights")->check(at_least(1))->capture_default_str();
  verb.add_option("--batch", s.tokens_per_step, "tokens of a step")->check(at_least(1))->capture_default_str();
  verb.add_option("--micro-batch", s.tokens_per_call, "tokens computed at a time: less memory, the same gradient")
      ->check(at_least(1))
      ->capture_default_str();
  verb.add_flag_function(
      "--checkpointing", [&s](int64_t) { s.activations = Activations::compute; },
      "compute intermediates again on the way back: less memory, more time");
  verb.add_option("--optimizer", s.optimizer, "adamw or sgd")->transform(CLI::CheckedTransformer(kOptimizers));
  verb.add_option("--rate", s.rate, "highest learning rate")->capture_default_str();
  verb.add_option("--lowest-rate", lowest_rate, "where its cosine ends (default: a tenth)");
  verb.add_option("--warmup", s.warmup_steps, "steps until it is reached")->check(at_least(0))->capture_default_str();
  verb.add_option("--weight-decay", s.weight_decay, "of matrices")->capture_default_str();
  verb.add_option("--beta1", s.beta1, "AdamW's memory of gradients")->capture_default_str();
  verb.add_option("--beta2", s.beta2, "and of their squares")->capture_default_str();
  verb.add_option("--momentum", s.momentum, "of SGD")->capture_default_str();
  verb.add_option("--clip", s.clip, "longest gradient; 0: any")->capture_default_str();
  verb.add_option("--dropout", s.dropout, "share of what blocks add that is left out")->capture_default_str();
  verb.add_option("-s,--seed", s.seed, "of weights, batches and held-out text")->capture_default_str();
}

Verb add_train(CLI::App& verb) {
  static const std::map<std::string, Boundary> kBoundaries = {
      {"file", Boundary::file}, {"line", Boundary::line}, {"empty-line", Boundary::empty_line}};
  const auto o = std::make_shared<TrainOptions>();
  verb.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // after the config file's
  add_data(verb, o->data);
  // with_config_file() has put its lines in front of all other arguments.
  verb.add_option("--config", "a file with options, a line each: steps = 1000; the command line counts more");
  verb.add_option("-o,--output", o->run.output, "the model; NAME.state.gguf, .csv and .png come beside it")
      ->capture_default_str();
  verb.add_flag("--resume", o->resume, "go on where a run with the same options was stopped");
  verb.add_flag("--overwrite", o->overwrite, "begin anew where the output of another run lies");
  verb.add_option("--documents", o->corpus.boundary, "a document is a file, line or empty-line (what is between them)")
      ->transform(CLI::CheckedTransformer(kBoundaries));
  verb.add_option("--held-out", o->corpus.held_out, "share of the documents for validation")->capture_default_str();
  verb.add_option("--tokenizer", o->tokenizer, "bpe, characters, a tokenizer.json or a model file")
      ->capture_default_str();
  verb.add_option("--vocab-size", o->vocabulary_size, "pieces to learn with bpe")
      ->check(at_least(257))
      ->capture_default_str();
  verb.add_option("--name", o->name, "the model's name (default: that of its file)");
  add_shape(verb, *o);
  add_training(verb, o->training, o->lowest_rate);
  verb.add_option("--save-every", o->run.save_every, "steps from one validation and saving to the next")
      ->check(at_least(1))
      ->capture_default_str();
  verb.add_option("--validation-tokens", o->run.validation_tokens, "tokens of a validation; 0: all held out")
      ->check(at_least(0))
      ->capture_default_str();
  verb.add_option("--floor", o->run.floor, "a loss that no model can pass, drawn into the figure");
  verb.add_option("--type", o->type, "of the matrices in the model file: f32, f16, bf16 or q8_0")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "q8_0"}))
      ->capture_default_str();
  add_threads(verb, o->threads);
  return [o] { return train(*o); };
}

Verb add_eval(CLI::App& verb) {
  const auto o = std::make_shared<EvalOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  verb.add_option("--pairs", o->pairs, "sentence pairs, as BLiMP has them: columns paradigm, field, good and bad");
  verb.add_option("--stories", o->stories, "loss on so many new stories, beside the lowest possible one (default: 500)")
      ->check(at_least(1));
  verb.add_option("--recall", o->recall, "questions about facts, for each range of distance (default: 200)")
      ->check(at_least(1));
  verb.add_option("--tell", o->tell, "stories that the model tells and the grammar judges (default: 200)")
      ->check(at_least(1));
  verb.add_option("--training", o->training, "the stories it was trained on, one a line: which does it repeat?");
  verb.add_option("-s,--seed", o->seed, "of stories, questions and draws; not that of the training text")
      ->capture_default_str();
  verb.add_option("--temp", o->temperature, "temperature of --tell")->capture_default_str();
  verb.add_flag("--json", o->json, "print one JSON object instead of tables");
  return [o] { return eval(*o); };
}

Verb add_stories(CLI::App& verb) {
  const auto o = std::make_shared<StoriesOptions>();
  verb.add_option("-n,--count", o->count, "stories to tell (default: 10; for --statistics 10,000 of each language)")
      ->check(at_least(1));
  verb.add_option("--language", o->language, "english, chinese, or both by turns")
      ->check(CLI::IsMember({"english", "chinese", "both"}))
      ->capture_default_str();
  verb.add_option("-s,--seed", o->seed, "the same seed tells the same stories (default: drawn and printed)");
  verb.add_option("--check", o->check, "say of each line of a file whether it is a story; - is stdin");
  verb.add_flag("--statistics", o->statistics, "entropy, length and vocabulary instead of stories")
      ->excludes("--check");
  return [o] { return stories(*o); };
}

struct VerbEntry {
  const char* name;
  const char* description;
  Verb (*add)(CLI::App&);
};

constexpr VerbEntry kVerbs[] = {
    {"run", "continue a text", add_run},
    {"chat", "talk with a model, a line at a time", add_chat},
    {"tokenize", "cut a text into tokens", add_tokenize},
    {"detokenize", "put tokens together again", add_detokenize},
    {"logits", "the scores of the next token", add_logits},
    {"show", "what is in a model file, and the memory it needs", add_show},
    {"perplexity", "how well a model predicts a text", add_perplexity},
    {"bench", "measure speed beside this machine's limits", add_bench},
    {"train", "train a model from nothing", add_train},
    {"train-tokenizer", "learn byte-level BPE from text", add_train_tokenizer},
    {"doctor", "this build, this machine, and a model file", add_doctor},
    {"eval", "judge a model: stories it was made for, pairs of sentences", add_eval},
    {"stories", "tell stories of the story world, or check some", add_stories},
};

// CLI11 would only say that a subcommand is missing.
void check_verb(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return;
  std::string names;
  for (const VerbEntry& entry : kVerbs) {
    if (arguments[0] == entry.name) return;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  const bool is_model = arguments[0].find('.') != std::string::npos;
  throw CLI::ValidationError(is_model ? "the verb comes first: orrery run " + arguments[0]
                                      : "there is no verb '" + arguments[0] + "'; there are " + names);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App app("Orrery: see a language model compute.", "orrery");
  app.set_version_flag("--version", std::string("orrery ") + build_info().version);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    const CLI::App* verb = failed;
    for (const CLI::App* chosen : failed->get_subcommands()) verb = chosen;
    const std::string name = verb == failed ? "orrery" : "orrery " + verb->get_name();
    return name + ": " + printable(error.what()) + "\nSee '" + name + " --help'.\n";
  });
  std::vector<std::pair<CLI::App*, Verb>> verbs;
  for (const VerbEntry& entry : kVerbs) {
    CLI::App* verb = app.add_subcommand(entry.name, entry.description);
    verbs.emplace_back(verb, entry.add(*verb));
  }
  std::vector<std::string> arguments = plain_arguments(argc, argv);
  try {
    check_verb(arguments);
    arguments = with_config_file(std::move(arguments));
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsageAtFault;
  }
  for (const auto& [verb, call] : verbs) {
    if (verb->parsed()) return call();
  }
  return kUsageAtFault;
}

}  // namespace orrery::cli
