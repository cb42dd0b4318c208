// One block put together from kernels, compared with the model's own, and every parameter and operation counted.
#include <numeric>

#include "config/arithmetic.h"
#include "config/catalogue.h"
#include "inspect/recorder.h"
#include "kernels/decorated_kernels.h"
#include "lesson.h"
#include "model/transformer.h"
#include "plot/bar_figure.h"

using namespace orrery;

namespace {

// One block on n tokens: a line for each step, and what the steps share.
struct Block {
  Kernels& kernels;
  Arena& arena;
  const ModelConfig& config;
  BlockWeights weights;
  std::vector<int> positions;
  Tensor cosine, sine;  // how far RoPE turns each pair of numbers at each position

  Tensor make(int64_t width) { return arena.make("", DType::F32, {int64_t(positions.size()), width}); }
  Tensor norm(const Tensor& x, const NormWeights& by) {
    Tensor y = make(x.shape[1]);
    kernels.rms_norm(x, by.gain, config.norm_epsilon, y);
    return y;
  }
  Tensor linear(const Tensor& x, const LinearWeights& by) {
    Tensor y = make(by.weight.shape[0]);
    kernels.matmul(x, by.weight, y);
    return y;
  }
  Tensor turned(const Tensor& x) {
    Tensor y = make(x.shape[1]);
    kernels.rope(x, cosine, sine, config.rope_layout, config.head_dim, y);
    return y;
  }
  Tensor sum(const Tensor& a, const Tensor& b) {
    Tensor y = make(a.shape[1]);
    kernels.add(a, b, y);
    return y;
  }
  // Tokens exchange what they know.
  Tensor attention(const Tensor& x) {
    const Tensor q = turned(linear(x, weights.q));
    const KeyValueSpan all[] = {{turned(linear(x, weights.k)), linear(x, weights.v)}};
    const AttentionGroup groups[] = {{0, positions, all}};
    Tensor mix = make(config.q_dim());
    const double scale = 1 / std::sqrt(config.head_dim);
    kernels.attention({config.n_heads, config.n_kv_heads, config.head_dim, scale}, groups, q, mix);
    return linear(mix, weights.attn_out);
  }
  // Each token works on its own.
  Tensor feed_forward(const Tensor& x) {
    Tensor act = make(config.d_ff);
    kernels.activate_gated(config.activation, linear(x, weights.gate), linear(x, weights.up), act);
    return linear(act, weights.down);
  }
  Tensor forward(const Tensor& x) {
    const Tensor middle = sum(x, attention(norm(x, weights.attn_norm)));
    return sum(middle, feed_forward(norm(middle, weights.ffn_norm)));
  }
};

void print_counts(const BlockWeights& w, int64_t n, const TotalsByName& counted) {
  std::printf("  %-24s%-12s%12s%16s\n", "matrix", "[out, in]", "parameters", "operations");
  int64_t all = 0;
  const auto line = [&](const char* name, const std::string& shape, int64_t parameters) {
    std::printf("  %-24s%-12s%12s%16s\n", name, shape.c_str(), with_separators(parameters).c_str(),
                with_separators(2 * n * parameters).c_str());
    all += parameters;
  };
  for (const LinearWeights* each : {&w.q, &w.k, &w.v, &w.attn_out, &w.gate, &w.up, &w.down}) {
    line(each->weight.name, shape_text(each->weight), n_elements(each->weight));
  }
  line("together", "", all);
  const int64_t products = counted.at("matmul").flops, rest = sum(counted).flops - products;
  std::printf("  counted in these products%39s\n", with_separators(products).c_str());
  std::printf("  counted in all else%45s\n", with_separators(rest).c_str());
}

// If f is linear, it does not matter whether one adds before or after it.
template <class F>
const char* linearity(Block& block, const Tensor& a, const Tensor& b, const F& f) {
  return lesson::difference(f(block.sum(a, b)), block.sum(f(a), f(b))) < 1e-4 ? "linear" : "not linear";
}

// Where the operations of a forward pass go, at growing length of the text.
void shares(const ModelConfig& c, const std::string& figure) {
  BarFigure bars{c.name + ": where the operations go", {}, "tokens", {.label = "%"}};
  bars.series = {{"q k v out"}, {"attention"}, {"feed-forward"}, {"vocabulary"}};
  bars.style = BarStyle::stacked;
  std::printf("\n%s, %% of the operations:\n  %12s", c.name.c_str(), "tokens");
  for (const BarSeries& part : bars.series) std::printf("%14s", part.name.c_str());
  for (int64_t n = 128; n <= c.context_length; n *= 4) {
    const FlopParts parts = forward_flop_parts(c, consecutive_rows(c, 0, n, n));
    const int64_t operations[] = {parts.projections, parts.attention, parts.feed_forward, parts.head};
    const auto all = static_cast<double>(std::accumulate(operations, operations + 4, int64_t{0}));
    bars.names.push_back(with_separators(n));
    std::printf("\n  %12s", bars.names.back().c_str());
    for (int part = 0; part < 4; ++part) {
      bars.series[part].values.push_back(100 * static_cast<double>(operations[part]) / all);
      std::printf("%14.1f", bars.series[part].values.back());
    }
  }
  std::printf("\n");
  if (!figure.empty()) write_png(bars, figure);
}

void teach(const std::string& figure) {
  const auto session = cli::open_session({.threads = 1}, true);
  const ModelConfig& config = session->model->config();
  const std::vector<TokenId> ids = session->tokenizer->encode("There lived a fox named Tom. Tom");
  Recorder recorder({"embed", "blk.0.resid"});
  CountingKernels whole(*session->kernels);
  lesson::forward(*session, ids, whole, recorder);

  CountingKernels counted(*session->kernels);
  Block block{counted, session->arena, config, transformer_weights(*session->checkpoint).blocks[0]};
  for (int i = 0; i < static_cast<int>(ids.size()); ++i) block.positions.push_back(i);
  block.cosine = block.make(config.rope_dims / 2);
  block.sine = block.make(config.rope_dims / 2);
  counted.rope_angles(block.positions, lesson::rope_turns(config), block.cosine, block.sine);
  const Tensor ours = block.forward(recorder["embed"]);

  const auto n = static_cast<int64_t>(ids.size());
  std::printf("Block 0 on %zu tokens, put together here, against the model's own: %s\n\n", ids.size(),
              lesson::difference(ours, recorder["blk.0.resid"]) < 1e-4 ? "equal within 0.0001" : "DIFFERENT");
  print_counts(block.weights, n, counted.totals());
  std::printf("\nThe whole model on these tokens, counted: %s operations\n",
              with_separators(sum(whole.totals()).flops).c_str());
  std::printf("the same by formula, forward_flops():     %s\n",
              with_separators(forward_flops(config, consecutive_rows(config, 0, n, n)).total()).c_str());
  const Tensor& x = recorder["embed"];
  const auto two = [&](const Tensor& in) {
    return block.linear(block.linear(in, block.weights.up), block.weights.down);
  };
  std::printf("\nup, then down: %s\n", linearity(block, ours, x, two));
  std::printf("feed-forward:  %s\n",
              linearity(block, ours, x, [&](const Tensor& in) { return block.feed_forward(in); }));
  shares(runnable_shape("Llama-3.2-1B"), figure);
  lesson::check_source("06");
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
