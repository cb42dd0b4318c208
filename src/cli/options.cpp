#include "cli/options.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

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

void add_threads(CLI::App& verb, ModelOptions& options) {
  verb.add_option("-t,--threads", options.threads, "threads (default: one for each core, or OMP_NUM_THREADS)")
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

Verb add_run(CLI::App& verb) {
  const auto o = std::make_shared<RunOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model);
  add_text(verb, o->text, true);
  verb.add_option("-n,--n-predict", o->max_tokens, "tokens to make; -1: until the text ends or the context is full")
      ->check(at_least(-1))
      ->capture_default_str();
  verb.add_option("-s,--seed", o->seed, "the same seed gives the same text (default: drawn and printed)");
  SamplerSettings& s = o->sampler;
  verb.add_option("--temp", s.temperature, "temperature; 0 always takes the likeliest")->capture_default_str();
  verb.add_option("--top-k", s.top_k, "draw from the k likeliest; 0: from all")->capture_default_str();
  verb.add_option("--top-p", s.top_p, "draw from the likeliest that reach this probability")->capture_default_str();
  verb.add_option("--min-p", s.min_p, "draw from those with this share of the largest")->capture_default_str();
  verb.add_option("--repeat-penalty", s.repeat_penalty, "1: off; above 1, the last 64 tokens become less likely")
      ->capture_default_str();
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
  add_threads(verb, o->model);
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
  add_threads(verb, o->model);
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

Verb add_eval(CLI::App& verb) {
  const auto o = std::make_shared<EvalOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model);
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
    {"tokenize", "cut a text into tokens", add_tokenize},
    {"detokenize", "put tokens together again", add_detokenize},
    {"logits", "the scores of the next token", add_logits},
    {"show", "what is in a model file, and the memory it needs", add_show},
    {"perplexity", "how well a model predicts a text", add_perplexity},
    {"bench", "measure speed beside this machine's limits", add_bench},
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
