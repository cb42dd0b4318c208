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

ModelConfig config_of(const TableRow& row) {
  const std::map<std::string, std::string> cell(row.begin(), row.end());
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

const std::vector<ModelConfig>& model_catalogue() {
  static const std::vector<ModelConfig> models = [] {
    std::vector<ModelConfig> result;
    for (const TableRow& row : parse_table(kModels, "catalogue of models")) result.push_back(config_of(row));
    return result;
  }();
  return models;
}

const ModelConfig& catalogued_model(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelConfig& model : model_catalogue()) {
    if (lower(model.name) == lower(name)) return model;
    names.push_back(model.name);
  }
  throw Error({.what = "this shape is not in the catalogue", .where = name, .expected = "one of " + join(names, ", ")});
}

}  // namespace orrery
