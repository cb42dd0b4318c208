#include "cli/option_parts.h"

#include <cstdlib>
#include <limits>

#include <CLI/CLI.hpp>

namespace orrery::cli {

CLI::Validator whole_threads() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.find('.') == std::string::npos) return std::string();
        return "threads are whole numbers; did you mean --temp " + text + "?";
      },
      "");
}

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

void add_model(CLI::App& verb, ModelOptions& options, bool computes) {
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
      ->check(whole_threads())
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

void add_inspection(CLI::App& verb, InspectionOptions& inspection) {
  const auto add = [&](const char* name, auto& values, const char* description) {
    return verb.add_option(name, values, description)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  };
  add("--stop-at", inspection.stop_at,
      "stop at a tensor: blk.3.attn.scores@5, blk.*.resid@3-7, logits@last; prints it and ends with status 4, under a "
      "debugger halts there. May be given several times, as the next three");
  add("--stop-on", inspection.stop_on,
      "stop at the first tensor with a NaN or infinity: nan; at the first that differs from a trace: first-diff=FILE");
  add("--patch", inspection.patches,
      "what if: blk.2.attn.out=zero, =mean (over the positions of the call) or =FILE.npy ([d] or [n, d])");
  add("--skip-layer", inspection.skipped_layers, "what if: leave a block out")->check(at_least(0));
}

void add_sampler(CLI::App& verb, SamplerSettings& s, std::optional<uint64_t>& seed) {
  verb.add_option("-s,--seed", seed, "the same seed gives the same text (default: drawn and printed)");
  add_draws(verb, s);
}

void add_draws(CLI::App& verb, SamplerSettings& s) {
  verb.add_option("--temp", s.temperature, "temperature; 0 always takes the likeliest")->capture_default_str();
  verb.add_option("--top-k", s.top_k, "draw from the k likeliest; 0: from all")->capture_default_str();
  verb.add_option("--top-p", s.top_p, "draw from the likeliest that reach this probability")->capture_default_str();
  verb.add_option("--min-p", s.min_p, "draw from those with this share of the largest")->capture_default_str();
  verb.add_option("--repeat-penalty", s.repeat_penalty, "1: off; above 1, the last 64 tokens become less likely")
      ->capture_default_str();
}

}  // namespace orrery::cli
