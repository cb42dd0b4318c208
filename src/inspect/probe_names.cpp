#include "inspect/probe_names.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

namespace orrery {
namespace {

constexpr std::string_view kBlockKinds[] = {
    "attn_norm",   "attn.q",      "attn.k",       "attn.v",   "attn.q_norm", "attn.k_norm",         "attn.q_rope",
    "attn.k_rope", "attn.scores", "attn.weights", "attn.mix", "attn.out",    "post_attention_norm", "resid_mid",
    "ffn_norm",    "ffn.gate",    "ffn.up",       "ffn.act",  "ffn.out",     "post_ffw_norm",       "resid",
};

struct Module {
  std::string_view module, kind;
};

constexpr Module kModules[] = {
    {"embed_tokens", "embed"}, {"drop", "embed"}, {"norm", "final_norm"}, {"ln_f", "final_norm"}, {"lm_head", "logits"},
};

// Of a block. GPT-2's attn.c_attn is q, k and v side by side and has no name of its own.
constexpr Module kBlockModules[] = {
    {"input_layernorm", "attn_norm"},
    {"self_attn.q_proj", "attn.q"},
    {"self_attn.k_proj", "attn.k"},
    {"self_attn.v_proj", "attn.v"},
    {"self_attn.q_norm", "attn.q_norm"},
    {"self_attn.k_norm", "attn.k_norm"},
    {"self_attn.q_rope", "attn.q_rope"},
    {"self_attn.k_rope", "attn.k_rope"},
    {"self_attn.attn_scores", "attn.scores"},
    {"self_attn.attn_weights", "attn.weights"},
    {"self_attn.o_proj.input", "attn.mix"},
    {"self_attn.o_proj", "attn.out"},
    {"pre_feedforward_layernorm.input", "resid_mid"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"mlp.gate_proj", "ffn.gate"},
    {"mlp.up_proj", "ffn.up"},
    {"mlp.down_proj.input", "ffn.act"},
    {"mlp.down_proj", "ffn.out"},
    {"", "resid"},
    // GPT-2
    {"ln_1", "attn_norm"},
    {"attn.attn_scores", "attn.scores"},
    {"attn.attn_weights", "attn.weights"},
    {"attn.c_proj.input", "attn.mix"},
    {"attn.c_proj", "attn.out"},
    {"ln_2.input", "resid_mid"},
    {"ln_2", "ffn_norm"},
    {"mlp.c_fc", "ffn.up"},
    {"mlp.c_proj.input", "ffn.act"},
    {"mlp.c_proj", "ffn.out"},
};

struct Inputs {
  std::string_view kind;
  std::vector<std::string_view> inputs;  // "" is what enters the block
};

const std::vector<Inputs>& block_inputs() {
  static const std::vector<Inputs> kInputs = {
      {"attn_norm", {""}},
      {"attn.q", {"attn_norm"}},
      {"attn.k", {"attn_norm"}},
      {"attn.v", {"attn_norm"}},
      {"attn.q_norm", {"attn.q"}},
      {"attn.k_norm", {"attn.k"}},
      {"attn.q_rope", {"attn.q_norm", "attn.q"}},
      {"attn.k_rope", {"attn.k_norm", "attn.k"}},
      {"attn.scores", {"attn.q_rope", "attn.q_norm", "attn.q", "attn.k_rope", "attn.k_norm", "attn.k"}},
      {"attn.weights", {"attn.scores"}},
      {"attn.mix", {"attn.weights", "attn.v"}},
      {"attn.out", {"attn.mix"}},
      {"post_attention_norm", {"attn.out"}},
      {"resid_mid", {"", "post_attention_norm", "attn.out"}},
      {"ffn_norm", {"resid_mid"}},
      {"ffn.gate", {"ffn_norm"}},
      {"ffn.up", {"ffn_norm"}},
      {"ffn.act", {"ffn.gate", "ffn.up"}},
      {"ffn.out", {"ffn.act"}},
      {"post_ffw_norm", {"ffn.out"}},
      {"resid", {"resid_mid", "post_ffw_norm", "ffn.out"}},
  };
  return kInputs;
}

// Of recurrent layers, in the order of computation, each with what it is computed from beside the states of the time
// step before; "" is what enters the layer.
const std::vector<Inputs>& recurrent_inputs() {
  static const std::vector<Inputs> kInputs = {
      {"input", {""}},
      {"forget", {""}},
      {"reset", {""}},
      {"update", {""}},
      {"recurrent", {"reset"}},
      {"candidate", {"", "reset", "recurrent"}},
      {"output", {""}},
      {"cell", {"input", "forget", "candidate"}},
      {"hidden", {"output", "cell", "update", "candidate"}},
      {"out", {"hidden"}},
  };
  return kInputs;
}

// Takes "PREFIX<number>" off the front; -1 where it is not there.
int take_layer(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return -1;
  int layer = -1;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, layer);
  if (error != std::errc() || layer < 0 || (rest != end && *rest != '.')) return -1;
  name.remove_prefix(static_cast<size_t>(rest - name.data()));
  if (!name.empty()) name.remove_prefix(1);
  return layer;
}

template <size_t n>
std::string_view find(const Module (&modules)[n], std::string_view module) {
  const auto* found = std::ranges::find(modules, module, &Module::module);
  return found == std::end(modules) ? "" : found->kind;
}

struct RecurrentName {
  std::string_view cell;  // "lstm."; "" for the name of something else
  int layer = -1;
  std::string_view kind;
};

RecurrentName split_recurrent_name(std::string_view name) {
  for (const std::string_view cell : {"rnn.", "lstm.", "gru."}) {
    std::string_view rest = name;
    const int layer = take_layer(rest, cell);
    if (layer >= 0) return {cell, layer, rest};
  }
  return {};
}

// A cell has not all kinds: who asks for inputs looks which of them are there.
std::vector<std::string> recurrent_probe_inputs(const RecurrentName& name) {
  const auto found = std::ranges::find(recurrent_inputs(), name.kind, &Inputs::kind);
  if (found == recurrent_inputs().end()) return {};
  const bool is_rnn = name.cell == "rnn." && name.kind == "hidden";  // without gates between
  const std::vector<std::string_view> inputs = is_rnn ? std::vector<std::string_view>{""} : found->inputs;
  const std::string begin(name.cell);
  std::vector<std::string> names;
  for (const std::string_view kind : inputs) {
    const bool is_layer_itself = !kind.empty();
    if (!is_layer_itself && name.layer == 0) {
      names.emplace_back("embed");
      continue;
    }
    const int layer = is_layer_itself ? name.layer : name.layer - 1;
    names.push_back(begin + std::to_string(layer) + "." + std::string(is_layer_itself ? kind : "out"));
  }
  return names;
}

}  // namespace

ProbeName split_probe_name(std::string_view name) {
  ProbeName result;
  result.layer = take_layer(name, "blk.");
  result.kind = name;
  return result;
}

bool has_heads_outside(std::string_view name) {
  const std::string_view kind = split_probe_name(name).kind;
  return kind == "attn.scores" || kind == "attn.weights";
}

std::string probe_name(int layer, std::string_view kind) {
  return (layer < 0 ? "" : "blk." + std::to_string(layer) + ".") + std::string(kind);
}

int64_t probe_order(std::string_view name) {
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  if (name == "embed") return 0;
  if (name == "final_norm") return kUnknown - 2;
  if (name == "logits") return kUnknown - 1;
  if (const RecurrentName recurrent = split_recurrent_name(name); recurrent.layer >= 0) {
    const auto kind = std::ranges::find(recurrent_inputs(), recurrent.kind, &Inputs::kind);
    if (kind == recurrent_inputs().end()) return kUnknown;
    return (int64_t{recurrent.layer} + 1) * std::ssize(recurrent_inputs()) + (kind - recurrent_inputs().begin());
  }
  const ProbeName split = split_probe_name(name);
  const auto* found = std::ranges::find(kBlockKinds, split.kind);
  if (split.layer < 0 || found == std::end(kBlockKinds)) return kUnknown;
  return (int64_t{split.layer} + 1) * std::ssize(kBlockKinds) + (found - std::begin(kBlockKinds));
}

std::vector<std::string> probe_inputs(std::string_view name) {
  if (name == "logits") return {"final_norm"};
  if (const RecurrentName recurrent = split_recurrent_name(name); recurrent.layer >= 0) {
    return recurrent_probe_inputs(recurrent);
  }
  const ProbeName split = split_probe_name(name);
  const auto found = std::ranges::find(block_inputs(), split.kind, &Inputs::kind);
  if (split.layer < 0 || found == block_inputs().end()) return {};
  std::vector<std::string> names;
  for (const std::string_view kind : found->inputs) {
    const std::string entering = split.layer == 0 ? "embed" : probe_name(split.layer - 1, "resid");
    names.push_back(kind.empty() ? entering : probe_name(split.layer, kind));
  }
  return names;
}

std::string probe_name_of_module(std::string_view module, bool has_post_norms) {
  for (const std::string_view prefix : {"model.language_model.", "language_model.model.", "model.", "transformer."}) {
    if (!module.starts_with(prefix)) continue;
    module.remove_prefix(prefix.size());
    break;
  }
  if (module.ends_with(".output")) module.remove_suffix(std::string_view(".output").size());
  int layer = take_layer(module, "layers.");
  if (layer < 0) layer = take_layer(module, "h.");
  if (layer < 0) return std::string(find(kModules, module));
  std::string_view kind = find(kBlockModules, module);
  if (module == "post_attention_layernorm") kind = has_post_norms ? "post_attention_norm" : "ffn_norm";
  if (module == "post_attention_layernorm.input" && !has_post_norms) kind = "resid_mid";
  return kind.empty() ? "" : probe_name(layer, kind);
}

}  // namespace orrery
