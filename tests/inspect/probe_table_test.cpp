// The tables in src/model/PROBES.md against what models of every kind announce.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "recurrent/recurrent_model.h"
#include "recurrent/recurrent_support.h"
#include "support/families.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Cells = std::vector<std::string>;

Cells cells_of(const std::string& line) {
  Cells cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
  return cells;
}

// What stands in backticks.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  std::istringstream stream(cell);
  std::string part;
  for (int i = 0; std::getline(stream, part, '`'); ++i) {
    if (i % 2 == 1) names.push_back(part);
  }
  return names;
}

struct Tables {
  std::map<std::string, std::string> shapes;                     // of the first table, by name
  std::vector<std::string> order;                                // its names
  std::map<std::string, std::string> recurrent_shapes;           // of the second
  std::map<std::string, std::vector<std::string>> gguf_weights;  // of the third
};

Tables read_tables() {
  Tables tables;
  std::ifstream file(data_file("../../src/model/PROBES.md"));
  REQUIRE(file);
  int table = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) ++table;
    if (!line.starts_with("| `")) continue;
    const Cells cells = cells_of(line);
    REQUIRE(cells.size() == (table == 2 ? 5 : 3));
    for (const std::string& name : names_in(cells[0])) {
      if (table == 1) tables.recurrent_shapes[name] = cells[1];
      if (table == 2) tables.gguf_weights[name] = names_in(cells[1]);
      if (table > 0) continue;
      tables.shapes[name] = cells[1];
      tables.order.push_back(name);
    }
  }
  return tables;
}

// " [n, n_heads * head_dim] " for this model and call, as shape_text writes it.
std::string shape_of(const std::string& cell, const ModelConfig& config, int n, int n_wanting) {
  const std::map<std::string, int> sizes = {{"n", n},
                                            {"m", n},
                                            {"rows that want them", n_wanting},
                                            {"d_model", config.d_model},
                                            {"d_hidden", config.d_hidden},
                                            {"n_heads", config.n_heads},
                                            {"n_heads * head_dim", config.q_dim()},
                                            {"n_kv_heads * head_dim", config.kv_dim()},
                                            {"d_ff", config.d_ff},
                                            {"vocab_size", config.vocab_size}};
  const size_t begin = cell.find('[') + 1;
  std::istringstream stream(cell.substr(begin, cell.find(']') - begin));
  std::string text;
  for (std::string size; std::getline(stream, size, ',');) {
    size.erase(0, size.find_first_not_of(' '));
    CAPTURE(size);
    REQUIRE(sizes.contains(size));
    text += (text.empty() ? "" : ", ") + std::to_string(sizes.at(size));
  }
  return "[" + text + "]";
}

struct Announcement {
  std::string name;  // with L in place of the layer
  int layer;
  std::string shape;
  std::vector<int> positions;  // of its rows
};

struct Listener : Observer {
  std::vector<Announcement> heard;
  bool wants(const Probe&) const override { return true; }
  void on_tensor(const Probe& probe, Tensor& tensor) override {
    std::string name(probe.name);
    if (const size_t begin = name.find('.') + 1; begin > 0) {  // "blk.3.attn.q", "lstm.0.forget"
      const size_t end = name.find('.', begin);
      CHECK(name.substr(begin, end - begin) == std::to_string(probe.layer));
      name.replace(begin, end - begin, "L");
    } else {
      CHECK(probe.layer == -1);
    }
    Announcement announcement{name, probe.layer, shape_text(tensor), {}};
    for (const Row& row : probe.rows) announcement.positions.push_back(row.position);
    heard.push_back(announcement);
  }
};

std::vector<Announcement> announcements_of(LanguageModel& model) {
  ReferenceKernels<float> kernels{Threads(1)};
  Listener listener;
  Observer* const observers[] = {&listener};
  const Row rows[] = {{1, 0, nullptr, false}, {2, 1, nullptr, true}, {3, 2, nullptr, true}};
  Arena arena;
  model.forward(rows, kernels, arena, observers);
  return listener.heard;
}

// A weight of a block or of the whole model.
bool has_weight(const Checkpoint& checkpoint, const std::string& name) {
  return checkpoint.find_weight(name) != nullptr || checkpoint.find_weight("blk.0." + name) != nullptr;
}

}  // namespace

TEST_CASE("probe table: what models of every kind announce is in it, with name, layer, rows and shape") {
  const Tables tables = read_tables();
  std::vector<std::shared_ptr<const Checkpoint>> models;
  for (int variant = 0; variant < kVariants; ++variant)
    models.push_back(random_model(small_config(variant), DType::F32));
  for (const char* family : {"llama", "mistral", "qwen2", "qwen3", "gemma3", "gpt2"}) {
    models.push_back(std::make_shared<const Checkpoint>(family_model(family)));
  }
  std::set<std::string> seen;
  for (const auto& checkpoint : models) {
    CAPTURE(checkpoint->config.family);
    Transformer model(checkpoint);
    const auto announcements = announcements_of(model);
    REQUIRE(announcements.size() > 10);
    std::set<std::string> of_this;
    auto place = tables.order.begin();
    for (const auto& [name, layer, shape, positions] : announcements) {
      CAPTURE(name);
      REQUIRE(tables.shapes.contains(name));
      CHECK(shape == shape_of(tables.shapes.at(name), checkpoint->config, 3, 2));
      CHECK(positions == (name == "logits" ? std::vector{1, 2} : std::vector{0, 1, 2}));
      of_this.insert(name);
      // The table's order is the order in a block; a new block begins at attn_norm again.
      if (name == "blk.L.attn_norm") place = std::find(tables.order.begin(), tables.order.end(), name);
      const auto next = std::find(place, tables.order.end(), name);
      CHECK(next != tables.order.end());
      place = next;
    }
    CHECK(announcements.size() == 3 + (of_this.size() - 3) * static_cast<size_t>(checkpoint->config.n_layers));
    // Its weights have the names of the second table.
    for (const std::string& name : of_this) {
      const auto& weights = tables.gguf_weights.at(name);
      CAPTURE(name);
      CHECK((weights.empty() || has_weight(*checkpoint, weights.front()) || has_weight(*checkpoint, weights.back())));
    }
    seen.merge(of_this);
  }
  for (const std::string& name : tables.order) {
    CAPTURE(name);
    CHECK(seen.contains(name));
    CHECK(tables.gguf_weights.contains(name));
  }
  CHECK(tables.gguf_weights.size() == tables.order.size());
}

TEST_CASE("probe table: what recurrent models announce is in theirs, and nothing else is") {
  const Tables tables = read_tables();
  std::set<std::string> seen;
  for (const Architecture architecture : {Architecture::rnn, Architecture::lstm, Architecture::gru}) {
    const auto checkpoint = random_model(small_recurrent_config(architecture), DType::F32);
    RecurrentModel model(checkpoint);
    for (const auto& [name, layer, shape, positions] : announcements_of(model)) {
      CAPTURE(name);
      REQUIRE(tables.recurrent_shapes.contains(name));
      CHECK(shape == shape_of(tables.recurrent_shapes.at(name), checkpoint->config, 3, 2));
      CHECK(positions == (name == "logits" ? std::vector{1, 2} : std::vector{0, 1, 2}));
      seen.insert(name);
    }
  }
  for (const auto& [name, shape] : tables.recurrent_shapes) {
    CAPTURE(name);
    CHECK(seen.contains(name));
  }
}
