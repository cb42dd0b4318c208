#include "cli/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/build_info.h"
#include "base/error.h"
#include "cli/arguments.h"
#include "cli/option_parts.h"

namespace orrery::cli {
namespace {

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
    {"attention", "who looks at whom: attention weights as a picture", add_attention},
    {"lens", "what each layer would have said", add_lens},
    {"trace", "the intermediate tensors of a forward pass", add_trace},
    {"trace-diff", "where two traces part, and what may be the reason", add_trace_diff},
    {"show", "what is in a model file, and the memory it needs", add_show},
    {"perplexity", "how well a model predicts a text", add_perplexity},
    {"bench", "measure speed beside this machine's limits", add_bench},
    {"train", "train a model from nothing", add_train},
    {"train-tokenizer", "learn byte-level BPE from text", add_train_tokenizer},
    {"doctor", "this build, this machine, and a model file", add_doctor},
    {"eval", "judge a model: stories it was made for, pairs of sentences", add_eval},
    {"compare", "recurrent networks and transformers, side by side", add_compare},
    {"stories", "tell stories of the story world, or check some", add_stories},
    {"calc", "formulas with units; what a model costs in memory, time, energy, money", add_calc},
    {"claims", "numbers that three articles state, and what is right", add_claims},
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
