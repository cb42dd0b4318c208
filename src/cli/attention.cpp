// orrery attention: who looks at whom, as a picture or in the terminal.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <unistd.h>

#include "base/error.h"
#include "cli/inspection.h"
#include "generate/generate.h"
#include "inspect/attention_map.h"
#include "plot/heat_map.h"

namespace orrery::cli {
namespace {

// A map of more tokens would have cells smaller than a pixel.
constexpr size_t kMostTokens = 512;

void check_head(const AttentionOptions& options, const ModelConfig& config) {
  const auto check = [](const char* flag, int value, int count) {
    if (value < count) return;
    throw Error({.what = "the model has no such " + std::string(flag + 2),
                 .where = flag,
                 .expected = "0 to " + std::to_string(count - 1),
                 .found = std::to_string(value)});
  };
  check("--layer", options.layer, config.n_layers);
  check("--head", options.head.value_or(0), config.n_heads);
}

// What stands at an axis: the piece, in one line; the id where the file has no tokenizer.
std::vector<std::string> token_names(const Session& session, std::span<const TokenId> ids) {
  std::vector<std::string> names;
  for (const TokenId id : ids) {
    const bool begins = names.empty() && session.tokenizer && id == session.tokenizer->vocabulary().bos;
    const std::string piece = session.tokenizer ? session.tokenizer->piece_bytes(id, true) : std::to_string(id);
    names.push_back(begins ? "(start)" : printable(piece));
  }
  return names;
}

// Panels side by side, and pixels, so that as many cells as can be find room for their names.
void lay_out(HeatMap& figure) {
  constexpr int kCell = 26, kBeside = 300, kNarrowest = 960, kWidest = 2400;
  const auto n_panels = static_cast<int>(figure.panels.size());
  const int n = static_cast<int>(figure.n_columns);
  figure.n_across = std::min({n_panels, 4, static_cast<int>(std::ceil(std::sqrt(1.5 * n_panels)))});
  figure.width = std::clamp(kBeside + figure.n_across * n * kCell, kNarrowest, kWidest);
}

HeatMap figure_of(const AttentionMap& map, const AttentionOptions& options, const std::vector<std::string>& names) {
  const size_t n = names.size();
  std::string title = "Attention weights, layer " + std::to_string(options.layer);
  if (options.head) title += ", head " + std::to_string(*options.head);
  HeatMap figure{.title = title,
                 .n_rows = n,
                 .n_columns = n,
                 .row_names = names,
                 .column_names = names,
                 .rows_label = "looks",
                 .columns_label = "at",
                 .has_numbers = options.head.has_value()};
  figure.values.low = 0;
  figure.values.high = 1;
  for (size_t head = 0; head < map.heads().size(); ++head) {
    HeatMapPanel panel{.values = map.weights()[head]};
    if (!options.head) panel.title = "head " + std::to_string(map.heads()[head]);
    for (size_t i = 0; i < n * n; ++i) panel.is_missing.push_back(i % n > i / n);
    figure.panels.push_back(std::move(panel));
  }
  lay_out(figure);
  return figure;
}

}  // namespace

int attention(const AttentionOptions& options) {
  const auto session = open_session(options.model, !options.text.ids);
  const ModelConfig& config = session->model->config();
  check_head(options, config);
  const auto prompt = prompt_ids(*session, options.text, {.bos = true, .parse_special = options.special});
  if (prompt.size() > kMostTokens) {
    throw Error({.what = "the text is too long for a map",
                 .where = "prompt",
                 .expected = "at most " + std::to_string(kMostTokens) + " tokens",
                 .found = std::to_string(prompt.size())});
  }
  AttentionMap map(options.layer, options.head, static_cast<int>(prompt.size()));
  const Inspection inspection(options.inspection, *session, {&map});
  const auto state = session->model->new_sequence();
  catch_interrupt();
  prefill(
      *session->model, *state, prompt, *session->kernels, session->arena, [] { return !interrupted(); },
      inspection.observers());
  if (interrupted()) return kInterrupted;
  inspection.print_notes();
  const HeatMap figure = figure_of(map, options, token_names(*session, prompt));
  if (!options.output.empty()) {
    write_png(figure, options.output);
    return kDone;
  }
  // NO_COLOR: https://no-color.org
  const bool colours = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  print(terminal_text(figure, options.width, 1000, colours));
  return kDone;
}

}  // namespace orrery::cli
