// The recurrent layers against PyTorch 1.13, which computed tests/data/torch/recurrent.safetensors in double precision:
// two-layer networks of width 5 on four sequences of nine steps of six numbers. And against the few numbers of
// tests/data/numbers/rnn.json, which were worked out by a plain implementation of the papers.
#include <cstring>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "kernels/backward_support.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;
using nlohmann::json;

namespace {

constexpr int64_t kSteps = 9, kSequences = 4, kIn = 6, kHidden = 5;

// The tensors of the file, each with a leading name as PyTorch has it: "lstm.weight_ih_l0".
class TorchFile {
 public:
  TorchFile() : bytes_(file_bytes(data_file("torch/recurrent.safetensors"))) {
    uint64_t size = 0;
    std::memcpy(&size, bytes_.data(), sizeof size);
    header_ = json::parse(bytes_.substr(sizeof size, size));
    begin_ = sizeof size + size;
  }

  Numbers operator[](const std::string& name) const {
    const json& entry = header_.at(name);
    Numbers numbers(DType::F32, entry["shape"].get<std::vector<int64_t>>());
    std::memcpy(numbers.tensor.data, bytes_.data() + begin_ + entry["data_offsets"][0].get<size_t>(),
                n_bytes(numbers.tensor));
    return numbers;
  }
  // [time, sequence, width] as rows of one sequence after the other.
  Numbers rows(const std::string& name) const {
    const Numbers given = (*this)[name];
    const int64_t width = given.tensor.shape[2];
    Numbers result(DType::F32, {kSequences * kSteps, width});
    for (int64_t t = 0; t < kSteps; ++t) {
      for (int64_t s = 0; s < kSequences; ++s) {
        std::copy_n(values<float>(given.tensor) + (t * kSequences + s) * width, width,
                    result.floats() + (s * kSteps + t) * width);
      }
    }
    return result;
  }

 private:
  std::string bytes_;
  json header_;
  size_t begin_ = 0;
};

struct Pair {
  std::unique_ptr<Kernels> forward;
  std::unique_ptr<BackwardKernels> backward;
};

std::vector<Pair> all_pairs() {
  std::vector<Pair> all;
  const Threads threads(2);
  all.push_back(
      {std::make_unique<ReferenceKernels<double>>(threads), std::make_unique<ReferenceBackward<double>>(threads)});
  all.push_back(
      {std::make_unique<ReferenceKernels<float>>(threads), std::make_unique<ReferenceBackward<float>>(threads)});
  for (const InstructionSet set : instruction_sets()) {
    all.push_back({std::make_unique<FastKernels>(threads, set), std::make_unique<FastBackward>(threads, set)});
  }
  return all;
}

void check_same(const Tensor& found, const Numbers& expected) {
  REQUIRE(n_elements(found) == n_elements(expected.tensor));
  std::vector<double> numbers(static_cast<size_t>(n_elements(found)));
  convert_row(found.dtype, found.data, DType::F64, reinterpret_cast<std::byte*>(numbers.data()), n_elements(found));
  const std::vector<double> there = expected.doubles();
  double largest = 0;
  for (size_t i = 0; i < numbers.size(); ++i) largest = std::max(largest, std::abs(numbers[i] - there[i]));
  CHECK(largest < 1e-5);
}

// Two layers there and back, with the gradient of the file.
void check_network(const TorchFile& file, Cell cell, const std::string& name, const Pair& pair) {
  CAPTURE(name);
  CAPTURE(std::string(pair.forward->name()));
  const DType type = pair.forward->activation_type();
  std::vector<Numbers> weights[2], gradients[2];
  LayerShape shapes[] = {{cell, std::vector<int>(kSequences, kSteps), kIn, kHidden},
                         {cell, std::vector<int>(kSequences, kSteps), kHidden, kHidden}};
  std::vector<std::string> names[2];
  for (const size_t layer : {0, 1}) {
    for (const char* part : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
      names[layer].push_back(name + "." + part + "_l" + std::to_string(layer));
      weights[layer].push_back(file[names[layer].back()].as(type));
    }
    for (const auto& sizes : shapes[layer].inputs()) gradients[layer].emplace_back(type, sizes);
  }
  const Numbers x = file.rows("x").as(type);
  const auto inputs = [&](size_t layer, const Tensor& from) {
    std::vector<Tensor> all = {from};
    for (const Numbers& weight : weights[layer]) all.push_back(weight.tensor);
    return all;
  };
  const LayerRun first(*pair.forward, shapes[0], inputs(0, x.tensor));
  const LayerRun second(*pair.forward, shapes[1], inputs(1, first.hidden()));
  check_same(second.hidden(), file.rows(name + ".output"));
  const Numbers last_hidden = file[name + ".last_hidden"];  // [layer, sequence, width]
  for (int64_t s = 0; s < kSequences; ++s) {
    const Tensor row = slice_rows(first.hidden(), s * kSteps + kSteps - 1, 1);
    Numbers expected(DType::F32, {1, kHidden});
    std::copy_n(values<float>(last_hidden.tensor) + s * kHidden, kHidden, expected.floats());
    check_same(row, expected);
  }
  // The gradient of the cells is zero: the file's loss looks at the outputs alone.
  const int64_t n = kSequences * kSteps;
  const auto go_back = [&](size_t layer, const Tensor& from, const Tensor& dhidden) {
    Numbers dy(type, {(cell == Cell::lstm ? 2 : 1) * n, kHidden});
    std::copy_n(dhidden.data, n_bytes(dhidden), dy.tensor.data + n_bytes(dy.tensor) - n_bytes(dhidden));
    std::vector<Tensor> d;
    for (const Numbers& gradient : gradients[layer]) d.push_back(gradient.tensor);
    layer_back(*pair.backward, shapes[layer], inputs(layer, from), dy.tensor, d);
  };
  go_back(1, first.hidden(), file.rows("grad_output").as(type).tensor);
  go_back(0, x.tensor, gradients[1][0].tensor);
  check_same(gradients[0][0].tensor, file.rows(name + ".x.grad"));
  for (const size_t layer : {0, 1}) {
    for (size_t i = 0; i < names[layer].size(); ++i) {
      CAPTURE(names[layer][i]);
      check_same(gradients[layer][i + 1].tensor, file[names[layer][i] + ".grad"]);
    }
  }
}

}  // namespace

TEST_CASE("two-layer RNN, LSTM and GRU have PyTorch's outputs, states and gradients") {
  const TorchFile file;
  for (const Pair& pair : all_pairs()) {
    check_network(file, Cell::rnn, "rnn_tanh", pair);
    check_network(file, Cell::lstm, "lstm", pair);
    check_network(file, Cell::gru, "gru", pair);
  }
}

TEST_CASE("the last cells of PyTorch's LSTM") {
  const TorchFile file;
  ReferenceKernels<double> kernels{Threads(1)};
  Numbers x = file.rows("x").as(DType::F64);
  const Numbers last_cell = file["lstm.last_cell"];  // [layer, sequence, width]
  for (int64_t layer = 0; layer < 2; ++layer) {
    std::vector<Tensor> in = {x.tensor};
    std::vector<Numbers> weights;
    for (const char* part : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
      weights.push_back(file["lstm." + std::string(part) + "_l" + std::to_string(layer)].as(DType::F64));
      in.push_back(weights.back().tensor);
    }
    LayerRun run(kernels, {Cell::lstm, std::vector<int>(kSequences, kSteps), x.tensor.shape[1], kHidden}, in);
    for (int64_t s = 0; s < kSequences; ++s) {
      for (int64_t j = 0; j < kHidden; ++j) {
        const double found = values<double>(run[4])[(s * kSteps + kSteps - 1) * kHidden + j];
        const float expected = values<float>(last_cell.tensor)[(layer * kSequences + s) * kHidden + j];
        CHECK(found == doctest::Approx(expected).epsilon(1e-6));
      }
    }
    x = std::move(run.made.back());
  }
}

TEST_CASE("LSTM and both forms of the GRU on a few numbers") {
  const json file = json::parse(file_bytes(data_file("numbers/rnn.json")));
  const auto numbers = [](const json& from, std::vector<int64_t> shape) {
    Numbers made(DType::F64, std::move(shape));
    double* to = values<double>(made.tensor);
    for (const json& value : from) {
      if (value.is_array()) {
        for (const double number : value) *to++ = number;
      } else {
        *to++ = value.get<double>();
      }
    }
    return made;
  };
  const auto check = [&](Cell cell, const char* kind, const char* expected) {
    CAPTURE(std::string(expected));
    const json& given = file.at(kind);
    const LayerShape shape{cell, {3}, 2, 2};
    const auto sizes = shape.inputs();
    std::vector<Numbers> inputs;
    inputs.push_back(numbers(file.at("x"), sizes[0]));
    inputs.push_back(numbers(given.at("w_ih"), sizes[1]));
    inputs.push_back(numbers(given.at("w_hh"), sizes[2]));
    inputs.push_back(numbers(given.at("b_ih"), sizes[3]));
    inputs.push_back(numbers(given.at("b_hh"), sizes[4]));
    const Numbers states = numbers(given.at(expected), {3, 2});
    for (const Pair& pair : all_pairs()) {
      std::vector<Numbers> converted;
      std::vector<Tensor> in;
      for (const Numbers& input : inputs) converted.push_back(input.as(pair.forward->activation_type()));
      for (const Numbers& input : converted) in.push_back(input.tensor);
      const LayerRun run(*pair.forward, shape, in);
      const std::vector<double> found = run.made.back().doubles(), there = states.doubles();
      for (size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - there[i]) < 1e-6);
    }
  };
  check(Cell::lstm, "lstm", "h");
  check(Cell::gru, "gru", "h_reset_after_pytorch");
  check(Cell::gru_reset_before, "gru", "h_reset_before_paper");
}
