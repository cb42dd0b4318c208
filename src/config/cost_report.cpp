#include "config/cost_report.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/format.h"
#include "units/formula.h"

namespace orrery {
namespace {

// As short as it can be without losing a bit, so that the formula gives the very value.
std::string exact(double value) {
  char buffer[40];
  std::string text(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
  if (const size_t plus = text.find('+'); plus != std::string::npos) text.erase(plus, 1);
  return text;
}

class Report {
 public:
  explicit Report(const CostQuestion& question) : q_(question), model_(*question.model) {
    if (q_.length == 0) q_.length = model_.config.context_length;
    if (q_.tokens == 0) q_.tokens = model_.training_tokens;
    weight_bytes_ = bytes_per_number(q_.type);
    kv_bytes_ = bytes_per_number(q_.kv_type);
    parameters_ = model_parameters(model_);
    if (q_.chip == nullptr) return;
    if (q_.format.empty()) q_.format = q_.chip->bf16 > 0 ? "bf16" : q_.chip->fp16 > 0 ? "fp16" : "fp32";
    peak_ = peak_of(*q_.chip, q_.format);
  }

  std::vector<CostLine> lines() {
    size();
    inference();
    if (q_.chip != nullptr) inference_on_chips();
    training();
    if (q_.tokens > 0) training_run();
    return std::move(lines_);
  }

 private:
  void add(const std::string& name, double value, const std::string& unit, const std::string& formula,
           const std::string& source) {
    lines_.push_back({section_, name, {value, parse_quantity(unit).dimension}, formula, source});
  }

  std::string attention(double visible) const {
    const ModelConfig& c = model_.config;
    const int value_dim = model_.latent.kv_rank > 0 ? model_.latent.value_dims : c.head_dim;
    return "2 FLOP/token * " + std::to_string(c.n_layers) + " * " + std::to_string(c.n_heads) + " * (" +
           std::to_string(c.head_dim) + " + " + std::to_string(value_dim) + ") * " + exact(visible);
  }

  std::string kv_formula() const {
    const ModelConfig& c = model_.config;
    const std::string numbers = model_.latent.kv_rank > 0
                                    ? std::to_string(c.n_layers) + " * (" + std::to_string(model_.latent.kv_rank) +
                                          " + " + std::to_string(model_.latent.rope_dims) + ")"
                                    : "2 * " + std::to_string(c.n_layers) + " * " + std::to_string(c.n_kv_heads) +
                                          " * " + std::to_string(c.head_dim);
    return numbers + " * " + exact(kv_bytes_) + " B/token";
  }

  void size() {
    section_ = "model";
    add("parameters", parameters_.total, "1", "", "counted matrix by matrix from the shape");
    if (parameters_.active != parameters_.total) {
      add("active for a token", parameters_.active, "1", "",
          "the shared matrices and the experts that the router picks");
    }
  }

  void inference() {
    section_ = "inference";
    add("weights in " + q_.type, parameters_.total * weight_bytes_, "B",
        exact(parameters_.total) + " * " + exact(weight_bytes_) + " B", "parameters * bytes of each");
    const double kv = kv_numbers_per_token(model_) * kv_bytes_;
    if (kv > 0) {
      add("KV cache of a token", kv, "B/token", kv_formula(),
          model_.latent.kv_rank > 0 ? "layers * (rank + RoPE key), DeepSeek-V2 (2024)"
                                    : "2 * layers * KV heads * head size, Pope et al. (2022)");
      add("KV cache of a sequence", kv * q_.length, "B", kv_formula() + " * " + exact(q_.length) + " token",
          "of " + exact(q_.length) + " tokens");
      if (q_.batch != 1) {
        add("KV cache of the batch", kv * q_.length * q_.batch, "B",
            kv_formula() + " * " + exact(q_.length) + " token * " + exact(q_.batch), exact(q_.batch) + " sequences");
      }
    }
    add("forward, first token", forward_flops_per_token(model_, 0), "FLOP/token",
        "2 FLOP/token * " + exact(parameters_.active), "2 N, Kaplan et al. (2020), section 2.1");
    add("forward, last token", forward_flops_per_token(model_, q_.length), "FLOP/token",
        "2 FLOP/token * " + exact(parameters_.active) + " + " + attention(q_.length),
        "and 2 * layers * heads * (key + value size) * tokens seen");
  }

  void inference_on_chips() {
    section_ = "inference on " + q_.chip->name;
    const double kv = kv_numbers_per_token(model_) * kv_bytes_;
    if (q_.chip->memory > 0) {
      const double bytes = parameters_.total * weight_bytes_ + kv * q_.length * q_.batch;
      add("chips that hold it", std::ceil(bytes / q_.chip->memory), "1",
          "ceil((" + exact(parameters_.total) + " * " + exact(weight_bytes_) + " B + " +
              exact(kv * q_.length * q_.batch) + " B) / (" + exact(q_.chip->memory) + " B))",
          "weights and KV cache / memory");
    }
    const double read = weights_read(model_, q_.batch);
    if (kv > 0 && q_.chip->bandwidth > 0) {
      add("decoding, at most",
          q_.chips *
              decode_tokens_per_second(model_, q_.batch, q_.length, weight_bytes_, kv_bytes_, q_.chip->bandwidth),
          "token/s",
          exact(q_.batch) + " token * " + exact(q_.chips) + " * " + exact(q_.chip->bandwidth) + " B/s / (" +
              exact(read) + " * " + exact(weight_bytes_) + " B + " + exact(q_.batch) + " * " + exact(q_.length) +
              " * " + exact(kv) + " B)",
          "bandwidth / (weights and cache read), Pope et al. (2022), section 2");
    }
    add("prefill, at most", q_.chips * prefill_tokens_per_second(model_, q_.length, peak_), "token/s",
        exact(q_.chips) + " * " + exact(peak_) + " FLOP/s / (2 FLOP/token * " + exact(parameters_.active) + " + " +
            attention(q_.length / 2) + ")",
        q_.format + " peak / operations; a token sees half of the prompt on average");
  }

  void training() {
    section_ = "training";
    add("computing for a token", training_flops_per_token(model_), "FLOP/token",
        "6 FLOP/token * " + exact(parameters_.active), "6 N, Kaplan et al. (2020), section 2.1");
    add("with attention", training_flops_per_token_with_attention(model_, q_.length), "FLOP/token",
        "6 FLOP/token * " + exact(parameters_.active) + " + 3 * " + attention(q_.length),
        "Chowdhery et al. (2022), appendix B");
    const std::string n = exact(parameters_.total);
    add("weights, gradients, Adam", parameters_.total * kTrainingBytes, "B", n + " * (2 + 2 + 4 + 4 + 4) B",
        "16-bit weights and gradients, two moments, master copy, Rajbhandari et al. (2020), section 3.1");
    for (const int stage : {1, 2, 3}) {
      if (q_.chips <= 1) break;
      const std::string share = exact(q_.chips);
      const std::string formula = stage == 1   ? "(2 + 2 + 12 / " + share + ")"
                                  : stage == 2 ? "(2 + 14 / " + share + ")"
                                               : "(16 / " + share + ")";
      add("  a card, ZeRO stage " + std::to_string(stage), zero_bytes_per_card(parameters_.total, stage, q_.chips), "B",
          n + " * " + formula + " B", "Rajbhandari et al. (2020), section 5");
    }
    const ModelConfig& c = model_.config;
    const std::string sbh = std::to_string(c.n_layers) + " * " + exact(q_.length) + " * " + exact(q_.batch) + " * " +
                            std::to_string(c.d_model);
    const std::string source = "Korthikanti et al. (2022), a GPT-like block";
    add("activations", activation_bytes(model_, q_.batch, q_.length, Recompute::none), "B",
        sbh + " * (34 + 5 * " + std::to_string(c.n_heads) + " * " + exact(q_.length) + " / " +
            std::to_string(c.d_model) + ") B",
        source);
    add("  attention recomputed", activation_bytes(model_, q_.batch, q_.length, Recompute::selective), "B",
        sbh + " * 34 B", source);
    add("  all recomputed", activation_bytes(model_, q_.batch, q_.length, Recompute::full), "B", sbh + " * 2 B",
        source);
  }

  void training_run() {
    section_ = "training on " + scaled(q_.tokens) + " tokens";
    const double flops = training_flops_per_token(model_) * q_.tokens;
    const std::string computing = "6 FLOP/token * " + exact(parameters_.active) + " * " + exact(q_.tokens) + " token";
    add("computing", flops, "FLOP", computing, "6 N D, Kaplan et al. (2020)");
    if (q_.chip == nullptr) return;
    const double seconds = training_seconds(flops, q_.chips, peak_, q_.mfu);
    const std::string time =
        computing + " / (" + exact(q_.chips) + " * " + exact(peak_) + " FLOP/s * " + exact(q_.mfu) + ")";
    add("time", seconds, "s", time, "operations / (chips * " + q_.format + " peak * MFU)");
    const double joules = seconds * q_.chips * q_.chip->power * q_.pue;
    const std::string energy = exact(q_.chips) + " * " + exact(q_.chip->power) + " W * " + exact(q_.pue) + " * " + time;
    if (q_.chip->power > 0) {
      add("energy", joules, "J", energy, "chips * power * time * PUE");
      add("electricity", joules / 3.6e6 * q_.price_kwh, "$", energy + " * " + exact(q_.price_kwh) + " $/kWh",
          "energy * price");
    }
    if (q_.price_hour > 0) {
      add("rent", q_.chips * seconds / 3600 * q_.price_hour, "$",
          exact(q_.chips) + " * " + exact(q_.price_hour) + " $/h * " + time, "chips * time * price");
    }
  }

  CostQuestion q_;
  const CataloguedModel& model_;
  ModelParameters parameters_;
  double weight_bytes_ = 0, kv_bytes_ = 0, peak_ = 0;
  std::string section_;
  std::vector<CostLine> lines_;
};

void check_positive(const char* name, double value, bool may_be_zero, double most) {
  const bool is_right = std::isfinite(value) && value <= most && (may_be_zero ? value >= 0 : value > 0);
  if (is_right) return;
  throw Error({.what = std::string("the ") + name + " makes no sense",
               .expected = std::string(may_be_zero ? "0 to " : "above 0, at most ") + exact(most),
               .found = exact(value)});
}

}  // namespace

std::vector<CostLine> cost_report(const CostQuestion& q) {
  constexpr double kMost = 1e18;
  check_positive("number of chips", q.chips, false, kMost);
  check_positive("number of tokens", q.tokens, true, kMost);
  check_positive("batch", q.batch, false, kMost);
  check_positive("length", q.length, true, kMost);
  check_positive("MFU", q.mfu, false, 1);
  check_positive("PUE", q.pue, false, 100);
  check_positive("price of an hour", q.price_hour, true, kMost);
  check_positive("price of a kWh", q.price_kwh, true, kMost);
  return Report(q).lines();
}

}  // namespace orrery
