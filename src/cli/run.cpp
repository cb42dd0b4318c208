// orrery run: continue a text.
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "cli/inspection.h"
#include "cli/why.h"
#include "config/arithmetic.h"
#include "generate/generate.h"
#include "model/weights.h"
#include "text/text_stream.h"

namespace orrery::cli {
namespace {

std::string rate(int count, double seconds) {
  std::string text =
      std::to_string(count) + (count == 1 ? " token in " : " tokens in ") + fixed(seconds * 1e3, 1) + " ms";
  if (count > 0 && seconds > 0) text += " (" + fixed(count / seconds, 1) + " tokens/s)";
  return text;
}

// What a decoded token reads from memory: every weight once, and the cache.
double decode_bytes(const Session& session, const RunOptions& options, const Generation& generation) {
  const auto bytes = static_cast<double>(weight_bytes_per_token(*session.checkpoint));
  const auto keys = dtype_from_name(options.model.key_type).value();
  const auto values = dtype_from_name(options.model.value_type).value();
  const double mean_length = (generation.prompt_tokens + generation.final_length) / 2.0;
  const auto per_position = static_cast<double>(kv_bytes_per_position(session.checkpoint->config, keys, values));
  return bytes + mean_length * per_position;
}

void print_timings(const Session& session, const RunOptions& options, const Generation& generation) {
  std::fprintf(stderr, "prompt: %s; then %s", rate(generation.prompt_tokens, generation.prompt_seconds).c_str(),
               rate(generation.decode_calls, generation.decode_seconds).c_str());
  if (generation.decode_calls > 0 && generation.decode_seconds > 0) {
    const double gigabytes = decode_bytes(session, options, generation) * generation.decode_calls / 1e9;
    std::fprintf(stderr, ", %s GB/s", fixed(gigabytes / generation.decode_seconds, 1).c_str());
  }
  std::fputc('\n', stderr);
}

// The prompt, then the text as it comes.
Generation generate_text(Session& session, const RunOptions& options, const std::vector<TokenId>& prompt,
                         Sampler& sampler, const GenerateOptions& generate_options) {
  const auto goes_on = [] { return !interrupted(); };
  if (options.print_ids || session.tokenizer == nullptr) {
    const Generation generation = generate(
        *session.model, prompt, sampler, *session.kernels, session.arena, generate_options,
        [](TokenId) { return true; }, goes_on);
    print(json_array(generation.ids) + "\n");
    return generation;
  }
  TextStream stream(*session.tokenizer, options.stops, prompt.back());
  if (options.display_prompt) print(session.tokenizer->decode(prompt));
  const auto on_token = [&](TokenId id) {
    print(stream.push(id));
    return !stream.stopped();
  };
  try {
    const Generation generation =
        generate(*session.model, prompt, sampler, *session.kernels, session.arena, generate_options, on_token, goes_on);
    print(stream.flush() + "\n");
    return generation;
  } catch (const Stopped&) {  // its report shall begin a line
    print("\n");
    throw;
  }
}

}  // namespace

int run(const RunOptions& options) {
  check(options.sampler);
  const bool needs_tokenizer = !options.text.ids || !options.stops.empty();
  const auto session = open_session(options.model, needs_tokenizer);
  const auto prompt = prompt_ids(*session, options.text, {.bos = true, .parse_special = options.special});
  if (prompt.empty()) {
    throw Error({.what = "the prompt is empty, and the model has no token that begins a text",
                 .where = "prompt",
                 .hint = "give some text with -p"});
  }
  print_banner(*session, options.model);
  if (options.verbose_prompt) print_prompt_ids(session->tokenizer.get(), prompt);

  const Inspection inspection(options.inspection, *session);
  const uint64_t seed = chosen_seed(options.sampler, options.seed);
  Sampler plain(options.sampler, seed);
  ExplainedSampler explained(options.sampler, seed);
  Sampler& sampler = options.why ? explained : plain;
  GenerateOptions generate_options{.max_tokens = options.max_tokens,
                                   .end_tokens = session->checkpoint->vocabulary.end_tokens,
                                   .observers = inspection.observers()};
  if (options.ignore_end) {
    sampler.ban(generate_options.end_tokens);
    generate_options.end_tokens.clear();
  }
  catch_interrupt();
  const Generation generation = generate_text(*session, options, prompt, sampler, generate_options);
  if (generation.reason == StopReason::context_full) {
    std::fprintf(stderr, "the context of %d tokens is full\n", session->model->context_length());
  }
  if (options.why) {
    const std::string text = why_text(explained.explanations(), options.sampler, session->tokenizer.get());
    std::fputs(text.c_str(), stderr);
  }
  print_timings(*session, options, generation);
  inspection.print_notes();
  return interrupted() ? kInterrupted : kDone;
}

}  // namespace orrery::cli
