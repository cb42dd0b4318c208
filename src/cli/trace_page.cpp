#include "cli/trace_page.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/format.h"
#include "base/output_file.h"
#include "cli/inspection.h"
#include "generate/generate.h"
#include "inspect/page.h"

namespace orrery::cli {
namespace {

constexpr int kLensGuesses = 8;

std::string name_of(const Checkpoint& checkpoint) {
  return checkpoint.config.name.empty() ? std::filesystem::path(checkpoint.path).filename().string()
                                        : checkpoint.config.name;
}

// The run, and after it a pass for the last token, which nothing was drawn from yet. Returns all tokens.
std::vector<TokenId> watched_run(Session& session, std::span<const TokenId> prompt, Sampler& sampler,
                                 const GenerateOptions& options) {
  LanguageModel& model = *session.model;
  const auto state = model.new_sequence();
  const Generation generation = generate(
      model, *state, prompt, sampler, *session.kernels, session.arena, options, [](TokenId) { return true; },
      [] { return !interrupted(); });
  std::vector<TokenId> tokens(prompt.begin(), prompt.end());
  tokens.insert(tokens.end(), generation.ids.begin(), generation.ids.end());
  const auto unread = std::span(tokens).subspan(static_cast<size_t>(state->length()));
  if (!unread.empty() && !interrupted() && state->length() < model.context_length()) {
    prefill(model, *state, unread, *session.kernels, session.arena, {}, options.observers);
  }
  return tokens;
}

}  // namespace

int write_page(const PageOptions& options, const InspectionOptions& what_if, Session& session,
               std::span<const TokenId> prompt, const PageRecorder::Choice& choice) {
  const Transformer& model = transformer_of(session);
  PageRecorder recorder(model.config(), choice);
  const int64_t wanted = static_cast<int64_t>(prompt.size()) + options.max_tokens;
  const int64_t longest = options.max_tokens < 0 ? model.context_length() : wanted;
  check_page_size(model.config(), static_cast<int>(recorder.attention().size()),
                  static_cast<int>(std::min<int64_t>(longest, model.context_length())));
  Lens lens(model, *session.kernels, kLensGuesses);
  const uint64_t seed = chosen_seed(options.sampler, options.seed);
  ExplainedSampler sampler(options.sampler, seed);
  const Inspection inspection(what_if, session, {&recorder, &lens});
  GenerateOptions generate_options{.max_tokens = options.max_tokens,
                                   .end_tokens = session.checkpoint->vocabulary.end_tokens,
                                   .observers = inspection.observers()};
  if (options.ignore_end) {
    sampler.ban(generate_options.end_tokens);
    generate_options.end_tokens.clear();
  }

  OutputFile file(options.path);  // now, so that a bad path does not cost a run
  catch_interrupt();
  const std::vector<TokenId> tokens = watched_run(session, prompt, sampler, generate_options);
  if (interrupted()) return kInterrupted;
  file.write(page_text({.config = model.config(),
                        .model_name = name_of(*session.checkpoint),
                        .tokenizer = session.tokenizer.get(),
                        .tokens = tokens,
                        .n_prompt = static_cast<int>(prompt.size()),
                        .settings = options.sampler,
                        .seed = options.sampler.temperature > 0 ? std::optional(seed) : std::nullopt,
                        .recorder = recorder,
                        .lens = lens,
                        .explanations = sampler.explanations(),
                        .language = options.language}));
  file.commit();
  std::fprintf(stderr, "%s: %zu tokens, %s; open it in a browser\n", options.path.c_str(), tokens.size(),
               bytes_text(file.size()).c_str());
  inspection.print_notes();
  return kDone;
}

}  // namespace orrery::cli
