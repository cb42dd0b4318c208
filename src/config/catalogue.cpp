#include "config/catalogue.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/format.h"

namespace orrery {
namespace {

constexpr char kModels[] =
#include "config/models.table.inc"
    ;
constexpr char kMixtures[] =
#include "config/mixtures.table.inc"
    ;
constexpr char kChips[] =
#include "config/chips.table.inc"
    ;

using Cells = std::map<std::string, std::string>;

ModelConfig config_of(const Cells& cell) {
  const auto number = [&](const char* column) { return std::stoi(cell.at(column)); };
  const auto flag = [&](const char* column) { return cell.at(column) == "1"; };
  ModelConfig c;
  c.name = cell.at("name");
  c.family = cell.at("family");
  c.n_layers = number("n_layers");
  c.d_model = number("d_model");
  c.n_heads = number("n_heads");
  c.n_kv_heads = number("n_kv_heads");
  c.head_dim = number("head_dim");
  c.d_ff = number("d_ff");
  c.vocab_size = number("vocab_size");
  c.context_length = number("context_length");
  c.norm = cell.at("norm") == "rms" ? Norm::rms : Norm::layer;
  c.norm_epsilon = std::stod(cell.at("epsilon"));
  c.rope_base = std::stod(cell.at("rope"));
  c.positions = c.rope_base > 0 ? Positions::rope : Positions::learned;
  c.rope_dims = c.rope_base > 0 ? c.head_dim : 0;
  c.activation = cell.at("activation") == "silu" ? Activation::silu : Activation::gelu_tanh;
  c.gated_ffn = flag("gated");
  c.attention_bias = c.output_bias = c.ffn_bias = flag("biases");
  c.qk_norm = flag("qk_norm");
  c.tied_head = flag("tied");
  check(c, "catalogue of models: " + c.name);
  return c;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Tables separate columns by spaces, so words in a cell are joined by other characters.
std::string words(std::string text, char joint) {
  std::replace(text.begin(), text.end(), joint, ' ');
  return text;
}

void add_mixture(CataloguedModel& model, const Cells& cell) {
  const auto number = [&](const char* column) { return std::stoi(cell.at(column)); };
  model.experts = {.count = number("experts"),
                   .active = number("active"),
                   .shared = number("shared"),
                   .width = number("width"),
                   .dense_layers = number("dense")};
  model.latent = {.q_rank = number("q_rank"),
                  .kv_rank = number("kv_rank"),
                  .nope_dims = number("nope_dims"),
                  .rope_dims = number("rope_dims"),
                  .value_dims = number("value_dims")};
}

Chip chip_of(const Cells& cell) {
  constexpr double kGiga = 1e9, kTera = 1e12;
  const auto number = [&](const char* column) { return std::stod(cell.at(column)); };
  Chip c{.name = cell.at("name"), .maker = cell.at("maker"), .year = static_cast<int>(number("year"))};
  c.fp64 = number("fp64") * kTera;
  c.fp32 = number("fp32") * kTera;
  c.tf32 = number("tf32") * kTera;
  c.fp16 = number("fp16") * kTera;
  c.bf16 = number("bf16") * kTera;
  c.fp8 = number("fp8") * kTera;
  c.int8 = number("int8") * kTera;
  c.fp4 = number("fp4") * kTera;
  c.sparse = number("sparse");
  c.memory = number("memory") * kGiga;
  c.bandwidth = number("bandwidth") * kGiga;
  c.link = number("link") * kGiga;
  c.power = number("tdp");
  c.is_confirmed = cell.at("confirmed") == "yes";
  c.reference = words(cell.at("reference"), '_');
  return c;
}

template <class Entry>
const Entry& by_name(const std::vector<Entry>& all, const std::string& name, const char* what,
                     const std::string& (*name_of)(const Entry&)) {
  std::vector<std::string> names;
  for (const Entry& entry : all) {
    if (lower(name_of(entry)) == lower(name)) return entry;
    names.push_back(name_of(entry));
  }
  throw Error({.what = what, .where = name, .expected = "one of " + join(names, ", ")});
}

}  // namespace

std::vector<TableRow> parse_table(const char* text, const std::string& where) {
  std::vector<TableRow> rows;
  std::vector<std::string> columns;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string word; words >> word;) cells.push_back(word);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    if (cells.size() != columns.size()) {
      throw Error({.what = "a line has another number of columns than the first",
                   .where = where + ": " + line,
                   .expected = std::to_string(columns.size()),
                   .found = std::to_string(cells.size())});
    }
    TableRow& row = rows.emplace_back();
    for (size_t i = 0; i < cells.size(); ++i) row.emplace_back(columns[i], cells[i]);
  }
  return rows;
}

const std::vector<CataloguedModel>& model_catalogue() {
  static const std::vector<CataloguedModel> models = [] {
    std::vector<CataloguedModel> result;
    for (const TableRow& row : parse_table(kModels, "catalogue of models")) {
      const Cells cell(row.begin(), row.end());
      CataloguedModel& model = result.emplace_back();
      model.config = config_of(cell);
      model.training_tokens = std::stod(cell.at("tokens")) * 1e9;
      if (cell.at("obstacle") != "-") model.obstacle = words(cell.at("obstacle"), '-');
    }
    for (const TableRow& row : parse_table(kMixtures, "catalogue of mixtures")) {
      const Cells cell(row.begin(), row.end());
      for (CataloguedModel& model : result) {
        if (model.config.name == cell.at("name")) add_mixture(model, cell);
      }
    }
    return result;
  }();
  return models;
}

const CataloguedModel& catalogued_model(const std::string& name) {
  return by_name<CataloguedModel>(model_catalogue(), name, "this shape is not in the catalogue",
                                  [](const CataloguedModel& model) -> const std::string& { return model.config.name; });
}

const ModelConfig& runnable_shape(const std::string& name) {
  const CataloguedModel& model = catalogued_model(name);
  if (model.obstacle.empty()) return model.config;
  throw Error({.what = "this model cannot be run here: " + model.obstacle + " is missing",
               .where = model.config.name,
               .hint = "'orrery calc --model " + model.config.name + "' counts what it costs"});
}

const std::vector<Chip>& chip_catalogue() {
  static const std::vector<Chip> chips = [] {
    std::vector<Chip> result;
    for (const TableRow& row : parse_table(kChips, "catalogue of chips")) {
      result.push_back(chip_of(Cells(row.begin(), row.end())));
    }
    return result;
  }();
  return chips;
}

const Chip& catalogued_chip(const std::string& name) {
  return by_name<Chip>(chip_catalogue(), name, "this chip is not in the catalogue",
                       [](const Chip& chip) -> const std::string& { return chip.name; });
}

double peak_of(const Chip& chip, const std::string& format) {
  const std::pair<const char*, double> peaks[] = {{"fp64", chip.fp64}, {"fp32", chip.fp32}, {"tf32", chip.tf32},
                                                  {"fp16", chip.fp16}, {"bf16", chip.bf16}, {"fp8", chip.fp8},
                                                  {"int8", chip.int8}, {"fp4", chip.fp4}};
  std::vector<std::string> names;
  for (const auto& [name, peak] : peaks) {
    if (peak <= 0) continue;
    if (format == name) return peak;
    names.push_back(name);
  }
  throw Error({.what = "the chip does not compute in this format",
               .where = chip.name,
               .expected = "one of " + join(names, ", "),
               .found = format});
}

}  // namespace orrery
