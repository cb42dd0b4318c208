// Attention by hand: one head in plain loops, each step printed, then all heads compared with the model's own.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/session.h"
#include "inspect/recorder.h"
#include "lesson.h"
#include "plot/heat_map.h"

using namespace orrery;
using lesson::Matrix;

namespace {

constexpr const char* kText = "There lived a fox named Tom. One night";
constexpr size_t kAsked = 7;  // the full stop, which has looked back at the name

int64_t operations = 0;  // a multiplication and an addition are two

// How well each query fits each key: their dot product, divided by the root of their length.
Matrix scores_of(const Matrix& q, const Matrix& k) {
  Matrix scores(q.size(), std::vector<double>(k.size()));
  for (size_t i = 0; i < q.size(); ++i) {
    for (size_t j = 0; j < k.size(); ++j) {
      double dot = 0;
      for (size_t d = 0; d < q[i].size(); ++d) {
        dot += q[i][d] * k[j][d];
        operations += 2;
      }
      scores[i][j] = dot / std::sqrt(static_cast<double>(q[i].size()));
    }
  }
  return scores;
}

// A position sees itself and what came before it.
Matrix masked(Matrix scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = i + 1; j < scores[i].size(); ++j) scores[i][j] = -INFINITY;
  }
  return scores;
}

// Each row becomes shares that add up to 1.
Matrix softmax(Matrix scores) {
  for (std::vector<double>& row : scores) {
    const double largest = *std::ranges::max_element(row);
    double sum = 0;
    for (double& score : row) sum += score = std::exp(score - largest);
    for (double& score : row) score /= sum;
  }
  return scores;
}

// Each position takes from the values of all positions, by its weights.
Matrix mix_of(const Matrix& weights, const Matrix& v) {
  Matrix mix(weights.size(), std::vector<double>(v[0].size(), 0));
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t j = 0; j < v.size(); ++j) {
      for (size_t d = 0; d < v[j].size(); ++d) {
        mix[i][d] += weights[i][j] * v[j][d];
        operations += 2;
      }
    }
  }
  return mix;
}

struct Head {
  int layer, index;
  Matrix q, k, v, mix;  // as the model has them: [n, head_dim]
};

// A head's columns of the tensors that the model announced.
Head head_of(const Recorder& recorder, const ModelConfig& config, int layer, int index) {
  const auto columns = [&](const char* name, int64_t which) {
    const Tensor& tensor = recorder["blk." + std::to_string(layer) + ".attn." + name];
    return lesson::columns(tensor, which * config.head_dim, config.head_dim);
  };
  const int shared = index / (config.n_heads / config.n_kv_heads);  // several heads may read the same keys and values
  return {
      layer, index, columns("q_rope", index), columns("k_rope", shared), columns("v", shared), columns("mix", index)};
}

void draw(const Matrix& open, const Matrix& closed, const std::vector<std::string>& words, const std::string& path) {
  HeatMap map{.title = "Weights of one head",
              .n_rows = words.size(),
              .n_columns = words.size(),
              .row_names = words,
              .column_names = words,
              .rows_label = "looks",
              .columns_label = "at",
              .has_numbers = true};
  map.panels = {{.title = "without a mask"}, {.title = "with the causal mask"}};
  for (size_t i = 0; i < words.size(); ++i) {
    for (size_t j = 0; j < words.size(); ++j) {
      map.panels[0].values.push_back(open[i][j]);
      map.panels[0].is_missing.push_back(false);
      map.panels[1].values.push_back(closed[i][j]);
      map.panels[1].is_missing.push_back(j > i);
    }
  }
  write_png(map, path);
}

void teach(const std::string& figure) {
  const auto session = cli::open_session({.threads = 1}, true);
  const ModelConfig& config = session->model->config();
  const std::vector<TokenId> ids = session->tokenizer->encode(kText);
  std::vector<std::string> words = {"(start)"};
  for (size_t i = 1; i < ids.size(); ++i) words.push_back(session->tokenizer->piece_bytes(ids[i]));

  // One forward pass of the model, watched while it computes.
  Recorder recorder([](std::string_view name) { return name.find(".attn.") != name.npos; });
  lesson::forward(*session, ids, *session->kernels, recorder);

  // Every head of every block; the one that looks from the last token to the full stop the most is shown.
  Head shown;
  Matrix best;
  double largest = 0;
  for (int layer = 0; layer < config.n_layers; ++layer) {
    for (int index = 0; index < config.n_heads; ++index) {
      Head head = head_of(recorder, config, layer, index);
      const Matrix weights = softmax(masked(scores_of(head.q, head.k)));
      largest = std::max(largest, lesson::difference(mix_of(weights, head.v), head.mix));
      if (!best.empty() && weights.back()[kAsked] <= best.back()[kAsked]) continue;
      best = weights;
      shown = std::move(head);
    }
  }
  const int64_t counted = operations;
  std::printf("\"%s\": %zu tokens. Block %d, head %d\n", kText, ids.size(), shown.layer, shown.index);
  lesson::print("Queries, the first 8 of 32 numbers: what a token looks for", shown.q, words, 8);
  lesson::print("Keys: what a token is found by", shown.k, words, 8);
  lesson::print("Scores: query times key, divided by the root of 32", scores_of(shown.q, shown.k), words, words.size());
  lesson::print("Weights: only what came before, softmax; each row adds up to 1", best, words, words.size());
  const auto n = static_cast<int64_t>(ids.size());
  std::printf("\nAll %d heads of all %d blocks against the model's own: %s\n", config.n_heads, config.n_layers,
              largest < 1e-5 ? "equal within 0.00001" : "DIFFERENT");
  std::printf("Operations counted in the loops: %s\n", with_separators(counted).c_str());
  std::printf("4 * n^2 * d for each block:      %s\n",
              with_separators(4 * n * n * config.d_model * config.n_layers).c_str());
  lesson::check_source("05");
  if (!figure.empty()) draw(softmax(scores_of(shown.q, shown.k)), best, words, figure);
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
