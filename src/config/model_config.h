// What differs between decoder-only models, as plain data. Every value comes from the model's file.
#pragma once

#include <string>

namespace orrery {

enum class Norm { rms, layer };                     // RMSNorm (Zhang and Sennrich, 2019), LayerNorm (Ba et al., 2016)
enum class Positions { rope, learned };             // rotary (Su et al., 2021), or a table that is added
enum class RopeLayout { interleaved, half_split };  // which two elements turn together: (2i, 2i+1) or (i, i + dims/2)
enum class Activation { silu, gelu_tanh };          // x * sigmoid(x); GELU's tanh form (Hendrycks and Gimpel, 2016)

// RoPE for texts longer than the model was first trained on (Peng et al., 2023, "YaRN").
struct Yarn {
  double factor = 1;         // slow pairs turn slower by it; 1: no YaRN
  int original_context = 0;  // what the model was first trained on
  double beta_fast = 32;     // pairs that turn more often than this within it stay as they are,
  double beta_slow = 1;      // those that turn less often are slow, between them is a ramp
  double magnitude = 1;      // of queries and keys, after they turned
};

// What computes between embedding and head: blocks of attention and feed-forward, or recurrent layers: RNN with tanh
// (Elman, 1990), LSTM (Hochreiter and Schmidhuber, 1997), GRU (Cho et al., 2014) with its reset gate after or before
// the matrix product.
enum class Architecture { transformer, rnn, lstm, gru, gru_reset_before };

struct ModelConfig {
  std::string name;    // "SmolLM2-135M"; may be empty
  std::string family;  // "llama"
  Architecture architecture = Architecture::transformer;

  int n_layers = 0;
  int d_model = 0;
  int n_heads = 0;
  int n_kv_heads = 0;  // fewer than n_heads: several query heads share one (Ainslie et al., 2023)
  int head_dim = 0;    // need not be d_model / n_heads
  int d_ff = 0;
  int vocab_size = 0;
  int context_length = 0;
  int d_hidden = 0;  // of a recurrent layer's state; models of such layers have neither heads nor d_ff

  Norm norm = Norm::rms;
  double norm_epsilon = 0;

  Positions positions = Positions::rope;
  RopeLayout rope_layout = RopeLayout::interleaved;
  int rope_dims = 0;      // elements of each head that turn; the rest pass unchanged
  double rope_base = 0;   // theta
  double rope_scale = 1;  // positions are divided by it ("linear" scaling)
  Yarn yarn;

  int window = 0;        // a row of a windowed layer sees so many positions, its own the last; 0: all layers see all
  int global_every = 0;  // of so many layers the last is not windowed; 0: all are windowed
  double local_rope_base = 0;  // of windowed layers, whose positions are not scaled; 0: they turn as all do

  Activation activation = Activation::silu;
  bool gated_ffn = true;        // activation(gate) * up (Shazeer, 2020)
  bool attention_bias = false;  // q, k, v have a bias
  bool output_bias = false;     // the attention's output projection has one
  bool ffn_bias = false;
  bool qk_norm = false;        // q and k are normed per head before RoPE (Qwen3, Gemma 3)
  bool post_norms = false;     // what attention and feed-forward give is normed before it is added (Gemma 3)
  bool tied_head = false;      // the output projection is the token embedding
  bool head_bias = false;      // the output projection has a bias (recurrent models only)
  double embedding_scale = 1;  // the token embedding is multiplied by it
  double query_size = 0;       // scores are divided by its square root; 0: head_dim

  bool is_recurrent() const { return architecture != Architecture::transformer; }
  int q_dim() const { return n_heads * head_dim; }
  int kv_dim() const { return n_kv_heads * head_dim; }
  bool is_windowed(int layer) const { return window > 0 && (global_every == 0 || (layer + 1) % global_every != 0); }
};

const char* name_of(Architecture architecture);  // "lstm"
// How many gates a recurrent layer's matrices have, one below the other.
int gates_of(Architecture architecture);
// A recurrent model can go on for ever; this is as far as positions are counted.
constexpr int kUnboundedContext = 1 << 27;

// Throws Error (its `where` is `where`) when a value is missing, absurd or contradicts another.
void check(const ModelConfig& config, const std::string& where);

}  // namespace orrery
