// orrery logits: the scores of the next token.
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "base/format.h"
#include "cli/inspection.h"
#include "generate/generate.h"

namespace orrery::cli {
namespace {

// All scores, enough digits to tell two floats (or doubles) apart.
std::string json_logits(const Tensor& logits) {
  std::string text = "[";
  for (int64_t i = 0; i < n_elements(logits); ++i) {
    char number[40];
    if (logits.dtype == DType::F64) {
      std::snprintf(number, sizeof number, "%.17g", values<double>(logits)[i]);
    } else {
      std::snprintf(number, sizeof number, "%.9g", static_cast<double>(values<float>(logits)[i]));
    }
    text += (i > 0 ? ", " : "") + std::string(number);
  }
  return text + "]\n";
}

std::string table(const Session& session, const std::vector<Candidate>& all, size_t top) {
  const std::vector<double> probability = probabilities(all);
  std::string text = "      id       logit  probability  piece\n";
  for (size_t i = 0; i < std::min(top, all.size()); ++i) {
    const std::string piece = session.tokenizer ? session.tokenizer->piece_bytes(all[i].id, true) : "";
    char line[64];
    std::snprintf(line, sizeof line, "%8d  %10.4f  %11.4f  ", all[i].id, static_cast<double>(all[i].value),
                  probability[i]);
    text += line + ("'" + printable(piece) + "'\n");
  }
  return text;
}

}  // namespace

int logits(const LogitsOptions& options) {
  const auto session = open_session(options.model, !options.text.ids);
  const auto prompt = prompt_ids(*session, options.text, {.bos = true, .parse_special = options.special});
  const Inspection inspection(options.inspection, *session);
  const auto state = session->model->new_sequence();
  catch_interrupt();
  const Tensor result = prefill(
      *session->model, *state, prompt, *session->kernels, session->arena, [] { return !interrupted(); },
      inspection.observers());  // [1, vocab]
  if (interrupted()) return kInterrupted;
  inspection.print_notes();
  if (const int64_t bad = session->kernels->first_non_finite(result); bad >= 0) {
    throw Error({.what = "the logits are not finite: the model or its file is broken",
                 .where = "token " + std::to_string(bad)});
  }
  if (options.json) {
    print(json_logits(result));
    return kDone;
  }
  const Tensor row = reshape(result, {result.shape[1]});
  print(table(*session, session->kernels->largest(row, row.shape[0]), static_cast<size_t>(options.top)));
  return kDone;
}

}  // namespace orrery::cli
