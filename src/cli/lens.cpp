// orrery lens: what each layer would have said.
#include "inspect/lens.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "cli/positions.h"
#include "cli/session.h"
#include "generate/generate.h"

namespace orrery::cli {
namespace {

constexpr size_t kPieceColumns = 12;

std::string depth_name(int depth) { return depth == 0 ? "embedding" : "layer " + std::to_string(depth - 1); }

// A line for each depth: the likeliest tokens with their probabilities.
std::string table(const Session& session, const Lens& lens, int position, TokenId token) {
  const Tokenizer* tokenizer = session.tokenizer.get();
  std::string text = "after " + quoted_piece(tokenizer, token) + " at position " + std::to_string(position) + "\n";
  for (int depth = 0; depth < lens.n_depths(); ++depth) {
    char cell[32];
    std::snprintf(cell, sizeof cell, "%-10s", depth_name(depth).c_str());
    text += cell;
    for (const Guess& guess : lens.at(depth, position)) {
      std::snprintf(cell, sizeof cell, "  %5.1f%% ", 100 * guess.probability);
      text += cell + quoted_piece(tokenizer, guess.token, kPieceColumns);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

// {"position": 3, "token": 17, "depths": [[{"token": 5, "probability": 0.25}, ...], ...]}
std::string json(const Lens& lens, int position, TokenId token) {
  std::string text =
      "{\"position\": " + std::to_string(position) + ", \"token\": " + std::to_string(token) + ", \"depths\": [";
  for (int depth = 0; depth < lens.n_depths(); ++depth) {
    text += depth > 0 ? ", [" : "[";
    bool is_first = true;
    for (const Guess& guess : lens.at(depth, position)) {
      char entry[80];
      std::snprintf(entry, sizeof entry, "%s{\"token\": %d, \"probability\": %.9g}", is_first ? "" : ", ", guess.token,
                    guess.probability);
      text += entry;
      is_first = false;
    }
    text += "]";
  }
  return text + "]}";
}

}  // namespace

int lens(const LensOptions& options) {
  const auto session = open_session(options.model, !options.text.ids);
  const auto prompt = prompt_ids(*session, options.text, {.bos = true, .parse_special = options.special});
  const int n_positions = static_cast<int>(prompt.size());
  std::vector<int> chosen = {n_positions - 1};
  if (!options.positions.empty()) chosen = parse_positions(options.positions, n_positions);
  Lens lens(transformer_of(*session), *session->kernels, options.top,
            [&](int position) { return options.all || std::ranges::find(chosen, position) != chosen.end(); });
  Observer* const observers[] = {&lens};
  const auto state = session->model->new_sequence();
  catch_interrupt();
  prefill(
      *session->model, *state, prompt, *session->kernels, session->arena, [] { return !interrupted(); }, observers);
  if (interrupted()) return kInterrupted;
  std::string text;
  for (const int position : lens.positions()) {
    const TokenId token = prompt[static_cast<size_t>(position)];
    if (options.json) {
      text += (text.empty() ? "[" : ",\n ") + json(lens, position, token);
    } else {
      text += (text.empty() ? "" : "\n") + table(*session, lens, position, token);
    }
  }
  print(options.json ? text + "]\n" : text);
  return kDone;
}

}  // namespace orrery::cli
