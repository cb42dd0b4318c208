// The KV cache: why keys and values can be kept, what that saves, and how many bytes it takes.
#include <algorithm>
#include <cmath>
#include <ctime>

#include "cli/session.h"
#include "config/arithmetic.h"
#include "inspect/recorder.h"
#include "kernels/decorated_kernels.h"
#include "lesson.h"
#include "plot/line_figure.h"

using namespace orrery;

namespace {

constexpr int kHead = 2;  // of block 5, computed by hand
const std::string kPrefix = "blk.5.attn.";
constexpr size_t kPositions = 256;  // how far both texts go
using Vector = std::vector<float>;

struct HandCache {  // of one head: two lists that get longer by a row with each token
  std::vector<Vector> keys, values;

  // What the head makes of the newest token: of its query, and of all keys and values.
  Vector mix(const Vector& query) const {
    std::vector<double> weights;
    double sum = 0;
    for (const Vector& key : keys) {
      double score = 0;
      for (size_t d = 0; d < query.size(); ++d) score += query[d] * key[d];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(query.size()))));
      sum += weights.back();
    }
    Vector mixed(query.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t d = 0; d < mixed.size(); ++d) mixed[d] += static_cast<float>(weights[i] / sum) * values[i][d];
    }
    return mixed;
  }
};

struct Step {
  int rows;
  int64_t operations;
  double ms;  // of the processor: other programs do not count
  Vector logits;
  TokenId token() const { return static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()); }
};
// What comes after the text? Without a state all of it is computed, with one only what the state has not seen.
Step next(cli::Session& session, std::span<const TokenId> text, SequenceState* state, Recorder* recorder = nullptr) {
  Observer* const observers[] = {recorder};
  CountingKernels kernels(*session.kernels);
  std::vector<Row> rows;
  for (int i = state != nullptr ? state->length() : 0; i < std::ssize(text); ++i) {
    rows.push_back({text[static_cast<size_t>(i)], i, state, i + 1 == std::ssize(text)});
  }
  session.arena.reset();
  const std::clock_t start = std::clock();
  const Tensor logits = session.model->forward(rows, kernels, session.arena, std::span(observers, recorder ? 1 : 0));
  const double ms = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const float* numbers = values<float>(logits);
  return {static_cast<int>(rows.size()), sum(kernels.totals()).flops, ms, {numbers, numbers + logits.shape[1]}};
}

// The model computes the whole text anew for each token, the cache gets only the last row.
void keep_by_hand(cli::Session& session, std::span<const TokenId> text) {
  HandCache cache;
  for (size_t n = 1; n <= text.size(); ++n) {
    Recorder recorder([](std::string_view name) { return name.starts_with(kPrefix); });
    next(session, text.first(n), nullptr, &recorder);
    const auto last = [&](const char* name) {
      const Tensor& tensor = recorder[kPrefix + name];
      const int width = session.model->config().head_dim;
      const float* row = values<float>(tensor) + (tensor.shape[0] - 1) * tensor.shape[1] + kHead * width;
      return Vector(row, row + width);
    };
    cache.keys.push_back(last("k_rope"));
    cache.values.push_back(last("v"));
    std::printf("%2zu tokens: %zu keys, %zu values, 1 query: %s\n", n, cache.keys.size(), cache.values.size(),
                lesson::difference(cache.mix(last("q_rope")), last("mix")) < 1e-4 ? "the model's mix" : "ANOTHER MIX");
  }
}

// The same text twice: each token from all that came before it, and from the last one and a cache.
void generate_twice(cli::Session& session, std::vector<TokenId> text, const std::string& file) {
  const auto state = session.model->new_sequence();
  Series without{.name = "without a cache"}, with{.name = "with a cache"};
  std::printf("\n%31s%31s\n", "without a cache", "with a cache");
  std::printf("position   rows     operations      ms   rows     operations      ms");
  while (text.size() <= kPositions) {
    const Step a = next(session, text, nullptr), b = next(session, text, state.get());
    const bool is_same = a.token() == b.token() && lesson::difference(a.logits, b.logits) < 1e-3;
    if (!is_same) throw Error({.what = "with a cache the model says something else"});
    without.x.push_back(static_cast<double>(text.size())), without.y.push_back(a.ms);
    with.x.push_back(static_cast<double>(text.size())), with.y.push_back(b.ms);
    if (b.rows > 1 || text.size() % 64 == 0) {
      std::printf("\n%8zu", text.size());
      for (const Step& step : {a, b}) {
        std::printf("%7d %14s %7s", step.rows, with_separators(step.operations).c_str(),
                    lesson::measured(step.ms, 1).c_str());
      }
    }
    text.push_back(a.token());
  }
  std::printf("\nTokens and logits of both ways are the same; the cache holds %s bytes.\n",
              with_separators(static_cast<int64_t>(state->bytes())).c_str());
  const LineFigure figure{.title = "Time for a token", .x = {"position"}, .y = {"ms"}, .series = {without, with}};
  if (!file.empty()) write_png(figure, file);
}

constexpr struct {
  const char* name;
  int layers, heads, kv_heads;
} kShapes[] = {
    {"7B", 32, 32, 32}, {"13B", 40, 40, 40}, {"70B without GQA", 80, 64, 64}, {"70B", 80, 64, 8}, {"175B", 96, 96, 96}};

void count_bytes(ModelConfig config) {
  LineFigure figure{.x = {"tokens"}, .y = {"GB"}, .series = {{"13B"}, {"claimed", {2048}, {20}, Style::points}}};
  std::printf("\nshape            layers  heads  KV heads  bytes per token  2,048 tokens  tokens in 20 GB\n");
  for (const auto& shape : kShapes) {
    config.n_layers = shape.layers, config.n_kv_heads = shape.kv_heads, config.head_dim = 128;
    const auto bytes = static_cast<int64_t>(kv_bytes_per_position(config, DType::F16, DType::F16));
    const auto gigabytes = [&](int64_t tokens) { return static_cast<double>(bytes * tokens) / 1e9; };
    std::printf("%-16s %6d %6d %9d %16s %10.2f GB %16s\n", shape.name, shape.layers, shape.heads, shape.kv_heads,
                with_separators(bytes).c_str(), gigabytes(2048), with_separators(20'000'000'000 / bytes).c_str());
    if (shape.layers == 40) figure.series[0].x = {0, 30000}, figure.series[0].y = {0, gigabytes(30000)};
  }
  std::printf("\n%s", terminal_text(figure, 80, 10).c_str());
}

void teach(const std::string& figure) {
  const auto session = cli::open_session({.threads = 1}, true);
  const std::vector<TokenId> text = session->tokenizer->encode("Once upon a time");
  keep_by_hand(*session, text);
  generate_twice(*session, text, figure);
  count_bytes(session->model->config());
  lesson::check_source("08");
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
