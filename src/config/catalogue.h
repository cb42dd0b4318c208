// Shapes of models that people know, from models.table and mixtures.table, and chips, from chips.table.
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"

namespace orrery {

// A mixture of experts: of several feed-forward layers a router picks some for each token (Shazeer et al., 2017).
struct Experts {
  int count = 0;   // 0: one feed-forward layer that all tokens pass
  int active = 0;  // picked for a token
  int shared = 0;  // seen by every token besides
  int width = 0;
  int dense_layers = 0;  // the first ones have a common feed-forward layer of width d_ff
};

// Multi-head latent attention (DeepSeek-AI, 2024): keys and values are made out of few cached numbers.
struct LatentAttention {
  int q_rank = 0;
  int kv_rank = 0;  // cached for a position, beside a key of rope_dims; 0: common attention
  int nope_dims = 0;
  int rope_dims = 0;
  int value_dims = 0;
};

struct CataloguedModel {
  ModelConfig config;  // where experts or latent attention say otherwise, they count
  Experts experts;
  LatentAttention latent;
  double training_tokens = 0;  // 0: not published
  std::string obstacle;        // what our forward pass lacks to run it; empty: nothing
};

const std::vector<CataloguedModel>& model_catalogue();

// By name, in any case of letters. Throws Error that lists the names.
const CataloguedModel& catalogued_model(const std::string& name);

// The config of a model that our forward pass can run. Throws Error for the others, and says what is missing.
const ModelConfig& runnable_shape(const std::string& name);

struct Chip {
  std::string name, maker;
  int year = 0;
  // Operations per second, dense; 0: the chip has no such format.
  double fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0, int8 = 0, fp4 = 0;
  double sparse = 1;     // data sheets multiply the matrix units' figures with it where two in four weights are zero
  double memory = 0;     // bytes
  double bandwidth = 0;  // bytes per second
  double link = 0;       // bytes per second, both directions added
  double power = 0;      // watts at most
  bool is_confirmed = false;
  std::string reference;
};

const std::vector<Chip>& chip_catalogue();
const Chip& catalogued_chip(const std::string& name);  // as catalogued_model()

// Operations per second in a format ("fp32", "bf16", ...), dense. Throws Error when the chip has none.
double peak_of(const Chip& chip, const std::string& format);

// Rows of a table: words separated by spaces, the first row names the columns, '#' begins a comment line.
using TableRow = std::vector<std::pair<std::string, std::string>>;              // column and value
std::vector<TableRow> parse_table(const char* text, const std::string& where);  // throws Error

}  // namespace orrery
