// The options of verbs that look inside a forward pass.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/option_parts.h"

namespace orrery::cli {
namespace {

void add_page(CLI::App& verb, PageOptions& page) {
  CLI::Option* html = verb.add_option("--html", page.path,
                                      "continue the text, and write a page that shows how: tokens, choices, attention "
                                      "(of the layers whose attn.weights --filter lets through), the lens");
  html->excludes("--positions");
  verb.add_option("--language", page.language, "of the page: english or chinese")
      ->check(CLI::IsMember({"english", "chinese"}))
      ->needs(html)
      ->capture_default_str();
  verb.add_option("-n,--n-predict", page.max_tokens, "tokens to make for the page; -1: until the text ends")
      ->check(at_least(-1))
      ->needs(html)
      ->capture_default_str();
  verb.add_flag("--ignore-eos", page.ignore_end, "never draw an end token for the page")->needs(html);
  add_sampler(verb, page.sampler, page.seed);
}

}  // namespace

Verb add_trace(CLI::App& verb) {
  const auto o = std::make_shared<TraceOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  add_text(verb, o->text, true);
  verb.add_option("-o,--output", o->output, "write the tensors to this file (safetensors), with what produced them");
  verb.add_flag("--text", o->as_text, "print a line for each tensor, made for diff");
  verb.add_option("--npy", o->npy, "write NAME.npy for each tensor into this folder");
  verb.add_option("--filter", o->filter, "only tensors whose name matches this regular expression (PCRE2)");
  verb.add_option("--positions", o->positions, "only the rows of these positions: 0-7,12 (default: all)");
  verb.add_option("--precision", o->precision, "f64: plain loops in 64 bits, as --kernels double")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->excludes("--kernels");
  verb.add_flag("--special", o->special, "take special tokens in the prompt as such");
  verb.add_option("--plant", o->planted_bug, "exercise: break the model in one of eight ways, 1 to 8")
      ->check(CLI::Range(1, 8));
  add_inspection(verb, o->inspection);
  add_page(verb, o->page);
  verb.callback([o] {
    const bool stops = !o->inspection.stop_at.empty() || !o->inspection.stop_on.empty();
    if (stops || !o->output.empty() || o->as_text || !o->npy.empty() || !o->page.path.empty()) return;
    throw CLI::ValidationError("nothing says where the trace shall go: --html FILE, -o FILE, --text or --npy FOLDER");
  });
  return [o] { return trace(*o); };
}

Verb add_trace_diff(CLI::App& verb) {
  const auto o = std::make_shared<TraceDiffOptions>();
  verb.add_option("a,--a", o->a, "a trace")->required();
  verb.add_option("b,--b", o->b, "the trace that it is compared with (default, with -m: the model in 64 bits)");
  verb.add_option("-m,--model", o->model.path,
                  "the model of both: tells a bug from rounding, tensor by tensor, and tries wrong weights");
  verb.add_option("--tokenizer", o->model.tokenizer, "tokenizer of a llama2.c file");
  add_threads(verb, o->model.threads);
  verb.add_option("--tolerance", o->tolerance,
                  "without -m: the largest difference, as a share of the largest number in its row, that is none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb.footer("Exit status: 0 where the traces agree, 3 where they differ, 1 where one cannot be read.");
  verb.callback([o] {
    if (o->b.empty() && o->model.path.empty()) {
      throw CLI::ValidationError("a second trace is missing, or -m MODEL to compare with that model in 64 bits");
    }
  });
  return [o] { return trace_diff(*o); };
}

Verb add_lens(CLI::App& verb) {
  const auto o = std::make_shared<LensOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  add_text(verb, o->text, true);
  verb.add_option("--top", o->top, "how many of the likeliest to print")->check(at_least(1))->capture_default_str();
  CLI::Option* positions = verb.add_option("--positions", o->positions, "at these: 0-7,12 (default: at the last one)");
  verb.add_flag("--all", o->all, "at every position")->excludes(positions);
  verb.add_flag("--json", o->json, "as JSON: a list for each position, in it one for each depth");
  verb.add_flag("--special", o->special, "take special tokens in the prompt as such");
  return [o] { return lens(*o); };
}

}  // namespace orrery::cli
