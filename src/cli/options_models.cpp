// The options of verbs that work on a model.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/option_parts.h"

namespace orrery::cli {

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
  add_inspection(verb, o->inspection);
  verb.add_flag("--why", o->why,
                "explain each token afterwards: its rank and probability at every step of the sampler");
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
  add_inspection(verb, o->inspection);
  return [o] { return logits(*o); };
}

Verb add_attention(CLI::App& verb) {
  const auto o = std::make_shared<AttentionOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  add_text(verb, o->text, true);
  verb.add_flag("--special", o->special, "take special tokens in the prompt as such");
  verb.add_option("--layer", o->layer, "the block")->check(at_least(0))->capture_default_str();
  verb.add_option("--head", o->head, "one head (default: all, side by side)")->check(at_least(0));
  verb.add_option("-o,--output", o->output, "a PNG file, in place of the terminal");
  verb.add_option("--columns", o->width, "width of the terminal")->check(CLI::Range(20, 1000))->capture_default_str();
  add_inspection(verb, o->inspection);
  return [o] { return attention(*o); };
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
      ->check(whole_threads())
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

}  // namespace orrery::cli
