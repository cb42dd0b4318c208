// orrery tokenize and detokenize: between text and token ids.
#include "base/error.h"
#include "base/format.h"
#include "cli/session.h"

namespace orrery::cli {
namespace {

// Why a merge was chosen: by its score (SentencePiece), or by its rank in the list of merges (byte-level BPE).
std::string reason(const MergeStep& step, bool has_scores) {
  return has_scores ? fixed(step.score, 3) : "rank " + fixed(-step.score, 0);
}

std::string steps_text(const std::vector<MergeStep>& steps, bool has_scores) {
  std::string text;
  for (const MergeStep& step : steps) {
    text +=
        step.merged.empty() ? step.stage + ":" : "'" + printable(step.merged) + "' (" + reason(step, has_scores) + "):";
    for (const std::string& symbol : step.symbols) text += " '" + printable(symbol) + "'";
    text += "\n";
  }
  return text;
}

}  // namespace

int tokenize(const TokenizeOptions& options) {
  const auto [checkpoint, tokenizer] = open_tokenizer(options.model);
  const std::string text = given_text(options.text, "");
  if (options.steps) {
    print(steps_text(tokenizer->explain(text), tokenizer->vocabulary().model == "llama"));
    return kDone;
  }
  const auto ids = tokenizer->encode(text, {.bos = options.bos, .parse_special = options.special});
  if (options.ids) {
    print(json_array(ids) + "\n");
    return kDone;
  }
  std::string lines;
  for (const TokenId id : ids) {
    const std::string number = std::to_string(id);
    lines += std::string(number.size() < 8 ? 8 - number.size() : 0, ' ') + number + "  '" +
             printable(tokenizer->piece_bytes(id, true)) + "'\n";
  }
  print(lines);
  return kDone;
}

int detokenize(const DetokenizeOptions& options) {
  const auto [checkpoint, tokenizer] = open_tokenizer(options.model);
  print(tokenizer->decode(parse_ids(options.ids), options.special) + "\n");
  return kDone;
}

}  // namespace orrery::cli
