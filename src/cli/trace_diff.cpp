// orrery trace-diff: where two traces part, whether that is a bug or rounding, and what may be the reason.
#include "inspect/trace_diff.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "cli/session.h"
#include "inspect/hints.h"
#include "inspect/probe_names.h"

namespace orrery::cli {
namespace {

std::string ids_text(const std::vector<TokenId>& ids) {
  constexpr size_t kMostIds = 12;
  const std::vector<TokenId> shown(ids.begin(), ids.begin() + static_cast<long>(std::min(ids.size(), kMostIds)));
  return json_array(shown) + (ids.size() > kMostIds ? " and " + std::to_string(ids.size() - kMostIds) + " more" : "");
}

// "A  run.safetensors: storyteller, fast kernels, visible attention, 105 tensors, prompt [0, 777]"
std::string trace_line(const char* letter, const std::string& path, const Trace& trace) {
  std::vector<std::string> facts;
  if (!trace.header.model.empty()) facts.push_back(printable(trace.header.model));
  if (!trace.header.kernels.empty()) facts.push_back(printable(trace.header.kernels) + " kernels");
  if (!trace.header.attention.empty()) facts.push_back(printable(trace.header.attention) + " attention");
  facts.push_back(std::to_string(trace.tensors.size()) + " tensors");
  if (!trace.header.prompt_ids.empty()) facts.push_back("prompt " + ids_text(trace.header.prompt_ids));
  return std::string(letter) + "  " + printable(path) + ": " + join(facts, ", ") + "\n";
}

std::string prompts_line(const TraceHeader& a, const TraceHeader& b) {
  const auto &x = a.prompt_ids, &y = b.prompt_ids;
  if (x.empty() || y.empty() || x == y) return "";
  const size_t at = static_cast<size_t>(std::ranges::mismatch(x, y).in1 - x.begin());
  const auto id = [&](const std::vector<TokenId>& ids) {
    return at < ids.size() ? std::to_string(ids[at]) : "nothing";
  };
  return "the prompts differ: " + std::to_string(x.size()) + " ids in A, " + std::to_string(y.size()) +
         " in B; at position " + std::to_string(at) + " " + id(x) + " in A, " + id(y) + " in B\n";
}

// "head 2, position 3, key 1: 0.5 in A, 0.25 in B"
std::string element_text(const TensorVerdict& verdict, const TensorPair& pair) {
  const int64_t index = verdict.comparison.worst, width = pair.a.width(), row = index / width;
  const auto n_rows = static_cast<int64_t>(pair.positions.size());
  std::string text;
  if (pair.a.shape.size() == 3) text = "head " + std::to_string(row / n_rows) + ", ";
  text += "position " + std::to_string(pair.positions[static_cast<size_t>(row % n_rows)]) +
          (pair.a.shape.size() == 3 ? ", key " : ", element ") + std::to_string(index % width);
  char numbers[80];
  std::snprintf(numbers, sizeof numbers, ": %.7g in A, %.7g in B", pair.a.numbers[static_cast<size_t>(index)],
                pair.b.numbers[static_cast<size_t>(index)]);
  return text + numbers;
}

std::string mismatch_text(const Trace& a, const Trace& b, const TraceDiff& diff) {
  const TensorVerdict& first = *diff.first_mismatch();
  std::string text = "first mismatch: " + printable(first.name);
  if (!first.comparison.same_shape) {
    text += ": " + shape_text(TensorValues{first.shape_a, {}}) + " in A, " +
            shape_text(TensorValues{first.shape_b, {}}) + " in B";
  } else if (first.comparison.worst >= 0) {
    text += ", most at " + element_text(first, *matched_tensors(a, b, first.name));
  } else {
    text += ": A and B are the same, and both are far from the model in 64 bits";
  }
  std::vector<std::string> agreeing;
  for (const std::string& input : probe_inputs(first.name)) {
    const TensorVerdict* verdict = diff.find(input);
    if (verdict != nullptr && verdict->agrees) agreeing.push_back(input);
  }
  if (!agreeing.empty())
    text += "\n  computed from " + join(agreeing, ", ") + (agreeing.size() == 1 ? ", which agrees" : ", which agree");
  return text + "\n";
}

const char* noise_word(const Noise& noise) {
  if (noise.is_bug_in_a()) return noise.is_bug_in_b() ? "bug in A and B" : "bug in A";
  if (noise.is_bug_in_b()) return "bug in B";
  return noise.a == 0 && noise.b == 0 ? "exact" : "rounding";
}

std::string table(const TraceDiff& diff, bool has_noise) {
  char line[256];
  std::snprintf(line, sizeof line, "%-4s %-28s %9s %9s %9s %8s", "", "tensor", "max diff", "NMSE", "cosine", "arg-max");
  std::string text = line;
  if (has_noise) {
    std::snprintf(line, sizeof line, " %9s %9s %9s  verdict", "expected", "A seen", "B seen");
    text += line;
  }
  text += "\n";
  for (const TensorVerdict& verdict : diff.tensors) {
    const TensorComparison& c = verdict.comparison;
    std::snprintf(line, sizeof line, "%-4s %-28s ", verdict.agrees ? "OK" : "DIFF",
                  printable(verdict.name).substr(0, 100).c_str());
    text += line;
    if (!c.same_shape) {
      text += "shapes " + shape_text(TensorValues{verdict.shape_a, {}}) + " and " +
              shape_text(TensorValues{verdict.shape_b, {}}) + "\n";
      continue;
    }
    std::snprintf(line, sizeof line, "%9.2e %9.2e %9.6f %7.1f%%", c.max_difference, c.nmse, c.cosine,
                  100 * c.arg_max_agreement);
    text += line;
    if (verdict.noise) {
      std::snprintf(line, sizeof line, " %9.2e %9.2e %9.2e  %s", verdict.noise->expected, verdict.noise->a,
                    verdict.noise->b, noise_word(*verdict.noise));
      text += line;
    }
    text += "\n";
  }
  return text;
}

std::string missing_line(const char* letter, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  constexpr size_t kMostNames = 8;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) shown.push_back(printable(names[i]));
  return "only in " + std::string(letter) + ": " + join(shown, ", ") +
         (names.size() > kMostNames ? " and " + std::to_string(names.size() - kMostNames) + " more" : "") + "\n";
}

// The prompt of a trace once more, by the model with other kernels.
Trace computed_again(const std::shared_ptr<const Checkpoint>& checkpoint, ModelOptions options, const char* kernels,
                     const std::vector<TokenId>& ids) {
  options.kernels = kernels;
  const auto model = make_model(checkpoint, options);
  const int threads = options.threads > 0 ? options.threads : default_thread_count();
  TraceRequest request;
  request.goes_on = [] { return !interrupted(); };
  return record_trace(*model, ids, *make_kernels(kernels, threads), request);
}

}  // namespace

int trace_diff(const TraceDiffOptions& options) {
  const Trace a = read_trace(options.a);
  Trace b;
  if (!options.b.empty()) b = read_trace(options.b);
  std::shared_ptr<const Checkpoint> checkpoint;
  std::optional<Trace> single, twofold;
  if (!options.model.path.empty()) {
    const std::vector<TokenId>& ids = a.header.prompt_ids.empty() ? b.header.prompt_ids : a.header.prompt_ids;
    if (ids.empty()) {
      throw Error({.what = "the trace does not say of which prompt it is, so that the model cannot compute it again",
                   .where = options.a,
                   .expected = "prompt_ids in its header"});
    }
    checkpoint = open_checkpoint(options.model, {.tokenizer_path = options.model.tokenizer, .needs_tokenizer = false});
    catch_interrupt();
    single = computed_again(checkpoint, options.model, "reference", ids);
    twofold = computed_again(checkpoint, options.model, "double", ids);
    if (interrupted()) return kInterrupted;
    if (options.b.empty()) b = *twofold;
  }
  const DiffSettings settings{options.tolerance, single ? &*single : nullptr, twofold ? &*twofold : nullptr};
  const TraceDiff diff = compare_traces(a, b, settings);
  const std::string name_b = options.b.empty() ? options.model.path : options.b;
  if (diff.tensors.empty()) {
    throw Error({.what = "the traces have no tensor in common",
                 .where = options.a + " and " + name_b,
                 .expected = "names as in src/model/PROBES.md, or of the modules of transformers"});
  }

  std::string text = trace_line("A", options.a, a) + trace_line("B", name_b, b) + prompts_line(a.header, b.header);
  const auto n_agreeing = std::ranges::count(diff.tensors, true, &TensorVerdict::agrees);
  if (diff.first_mismatch() != nullptr) {
    text += mismatch_text(a, b, diff);
    for (const Hint& hint : find_hints(a, b, diff, checkpoint.get())) {
      text += "hint: " + std::string(symptom_name(hint.symptom)) + ": " + hint.text + "\n";
    }
  }
  text += table(diff, single.has_value()) + missing_line("A", diff.only_in_a) + missing_line("B", diff.only_in_b);
  text += std::to_string(n_agreeing) + " of " + std::to_string(diff.tensors.size()) + " tensors agree\n";
  print(text);
  return n_agreeing == std::ssize(diff.tensors) ? kDone : kDiffers;
}

}  // namespace orrery::cli
