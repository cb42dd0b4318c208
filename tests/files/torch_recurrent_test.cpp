// Recurrent models in files: GGUF and PyTorch's names, there and back.
#include "files/torch_recurrent.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>

#include <doctest/doctest.h>

#include "files/gguf_writer.h"
#include "files/safetensors.h"
#include "kernels/fast/fast_kernels.h"
#include "learn/vocabularies.h"
#include "recurrent/recurrent_support.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<double> logits_of(const Checkpoint& checkpoint) {
  RecurrentModel model(std::make_shared<const Checkpoint>(checkpoint));
  FastKernels fast{Threads(1)};
  return uncached_logits(model, fast, random_ids(20, checkpoint.config.vocab_size, 3));
}

// A model with a vocabulary of as many characters as it has tokens.
Checkpoint with_characters(const ModelConfig& config) {
  Checkpoint checkpoint = *random_model(config, DType::F32);
  std::string text = " \n\"\\<";
  for (char c = 'A'; text.size() + 3 < static_cast<size_t>(config.vocab_size); ++c) {
    if (text.find(c) == std::string::npos) text += c;
  }
  const std::string_view views[] = {text};
  checkpoint.vocabulary = character_vocabulary(views);
  REQUIRE(checkpoint.vocabulary.pieces.size() == static_cast<size_t>(config.vocab_size));
  return checkpoint;
}

void check_same(const Checkpoint& found, const Checkpoint& expected) {
  CHECK(found.config.architecture == expected.config.architecture);
  CHECK(found.config.d_hidden == expected.config.d_hidden);
  CHECK(found.config.d_model == expected.config.d_model);
  CHECK(found.config.tied_head == expected.config.tied_head);
  CHECK(found.config.head_bias == expected.config.head_bias);
  CHECK(found.config.context_length == expected.config.context_length);
  CHECK(found.config.family == expected.config.family);
  CHECK(logits_of(found) == logits_of(expected));
}

void check_vocabulary(const Vocabulary& found, const Vocabulary& expected) {
  CHECK(found.pieces == expected.pieces);
  CHECK(found.kinds == expected.kinds);
  CHECK(found.bos == expected.bos);
  CHECK(found.unknown == expected.unknown);
  CHECK(found.end_tokens == expected.end_tokens);
  const std::string text = "AB \"C\n";
  const EncodeOptions options;
  CHECK(make_tokenizer(found, "found")->encode(text, options) ==
        make_tokenizer(expected, "ours")->encode(text, options));
}

// A small LSTM's state as torch.nn.Module.state_dict() would give it, to be changed.
struct StateDict {
  int64_t vocab = 7, width = 3, hidden = 4, gates = 4, layers = 2;
  std::string embedding = "embedding.weight", module = "lstm.", head = "fc";
  std::string extra;

  std::string bytes() const {
    SafetensorsBuilder file;
    const auto add = [&](const std::string& name, const std::vector<int64_t>& shape) {
      int64_t n = 1;
      for (const int64_t extent : shape) n *= extent;
      file.floats(name, shape, std::vector<float>(static_cast<size_t>(n), 0.25f));
    };
    add(embedding, {vocab, width});
    for (int64_t layer = 0; layer < layers; ++layer) {
      const std::string suffix = "_l" + std::to_string(layer);
      add(module + "weight_ih" + suffix, {gates * hidden, layer == 0 ? width : hidden});
      add(module + "weight_hh" + suffix, {gates * hidden, hidden});
      add(module + "bias_ih" + suffix, {gates * hidden});
      add(module + "bias_hh" + suffix, {gates * hidden});
    }
    if (!head.empty()) {
      add(head + ".weight", {vocab, hidden});
      add(head + ".bias", {vocab});
    }
    if (!extra.empty()) add(extra, {gates * hidden, hidden});
    return file.bytes();
  }
};

const std::string kConfig =
    R"({"model_type": "lstm", "vocab_size": 7, "embedding_dim": 3, "hidden_size": 4, "num_layers": 2,
        "chars_by_id": "ab c\ndé"})";

}  // namespace

TEST_CASE("recurrent models in GGUF: read as they were written, in every type") {
  const TemporaryFolder folder;
  for (const Architecture architecture : kRecurrent) {
    for (int variant = 0; variant < kRecurrentVariants; ++variant) {
      CAPTURE(std::string(name_of(architecture)));
      const Checkpoint checkpoint = with_characters(small_recurrent_config(architecture, variant));
      const std::string path = folder / "m.gguf";
      write_gguf(path, checkpoint);
      const Checkpoint read = load_checkpoint(path);
      check_same(read, checkpoint);
      check_vocabulary(read.vocabulary, checkpoint.vocabulary);
    }
  }
  const Checkpoint checkpoint = with_characters(small_recurrent_config(Architecture::gru));
  write_gguf(folder / "q8.gguf", checkpoint,
             {.type_of = [](const std::string&, const Tensor&) { return DType::Q8_0; }});
  const std::vector<double> exact = logits_of(checkpoint);
  const double difference = largest_difference(logits_of(load_checkpoint(folder / "q8.gguf")), exact);
  CHECK(difference > 0);
  CHECK(difference < 0.05 * largest_magnitude(exact));
}

TEST_CASE("recurrent models with PyTorch's names: written, and read as a folder, as its file, and as a file alone") {
  const TemporaryFolder folder;
  for (const Architecture architecture : kRecurrent) {
    for (int variant = 0; variant < kRecurrentVariants; ++variant) {
      CAPTURE(std::string(name_of(architecture)));
      CAPTURE(variant);
      const Checkpoint checkpoint = with_characters(small_recurrent_config(architecture, variant));
      const std::string name = folder / (std::string(name_of(architecture)) + std::to_string(variant));
      write_torch_recurrent(name, checkpoint);
      for (const std::string& path : {name, name + "/model.safetensors"}) {
        const Checkpoint read = load_checkpoint(path);
        check_same(read, checkpoint);
        check_vocabulary(read.vocabulary, checkpoint.vocabulary);
      }
      std::filesystem::create_directories(folder / "alone");
      std::filesystem::copy_file(name + "/model.safetensors", folder / "alone/m.safetensors",
                                 std::filesystem::copy_options::overwrite_existing);
      const Checkpoint alone = load_checkpoint(folder / "alone/m.safetensors", {.needs_tokenizer = false});
      CHECK(alone.vocabulary.empty());
      if (architecture == Architecture::gru_reset_before) continue;  // the file alone does not tell
      CHECK(logits_of(alone) == logits_of(checkpoint));
    }
  }
}

TEST_CASE("the names are those that PyTorch's modules have, and the numbers lie where PyTorch puts them") {
  const TemporaryFolder folder;
  const Checkpoint checkpoint = with_characters(small_recurrent_config(Architecture::lstm, 1));
  write_torch_recurrent(folder / "m", checkpoint);
  const SafetensorsFile file = read_safetensors(folder / "m/model.safetensors");
  std::vector<std::string> names;
  for (const FileTensor& tensor : file.tensors) {
    names.push_back(tensor.name);
    if (tensor.name != "rnn.weight_hh_l1") continue;
    CHECK(tensor.shape == std::vector<int64_t>{128, 32});
    CHECK(std::memcmp(file.file->bytes().data() + tensor.offset, checkpoint.weights.at("blk.1.cell_hh.weight").data,
                      tensor.bytes) == 0);
  }
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"decoder.bias", "decoder.weight", "encoder.weight", "rnn.bias_hh_l0",
                                          "rnn.bias_hh_l1", "rnn.bias_ih_l0", "rnn.bias_ih_l1", "rnn.weight_hh_l0",
                                          "rnn.weight_hh_l1", "rnn.weight_ih_l0", "rnn.weight_ih_l1"});
}

TEST_CASE("modules that call their parts otherwise") {
  const TemporaryFolder folder;
  write_file(folder / "config.json", kConfig);
  for (const char* embedding : {"embedding.weight", "encoder.weight", "embed.weight"}) {
    for (const char* module : {"lstm.", "rnn.", ""}) {
      for (const char* head : {"fc", "decoder", "head", "linear"}) {
        write_file(folder / "model.safetensors",
                   StateDict{.embedding = embedding, .module = module, .head = head}.bytes());
        const Checkpoint checkpoint = load_checkpoint(folder.path().string());
        CHECK(checkpoint.config.architecture == Architecture::lstm);
        CHECK(!checkpoint.config.tied_head);
        CHECK_NOTHROW(logits_of(checkpoint));
      }
    }
  }
  const Checkpoint checkpoint = load_checkpoint(folder.path().string());
  const auto tokenizer = make_tokenizer(checkpoint.vocabulary, "test");
  CHECK(tokenizer->encode("a \n\xC3\xA9", EncodeOptions{}) == std::vector<TokenId>{0, 2, 4, 6});
  CHECK(tokenizer->decode(std::vector<TokenId>{0, 2, 4, 6}) == "a \n\xC3\xA9");
  CHECK(contains(error_of([&] { tokenizer->encode("x", EncodeOptions{}); }), "no piece for 'x'"));
}

TEST_CASE("recurrent files that are not what they say are refused") {
  const TemporaryFolder folder;
  const auto folder_error = [&](const std::string& config, const StateDict& state) {
    write_file(folder / "config.json", config);
    write_file(folder / "model.safetensors", state.bytes());
    return error_of([&] { load_checkpoint(folder.path().string()); });
  };
  const auto with = [](const std::string& from, const std::string& to) {
    std::string config = kConfig;
    return config.replace(config.find(from), from.size(), to);
  };
  CHECK(folder_error(kConfig, {}) == "");
  CHECK(contains(folder_error(with("\"hidden_size\": 4", "\"hidden_size\": 5"), {}), "another shape"));
  CHECK(contains(folder_error(with("\"num_layers\": 2", "\"num_layers\": 3"), {}), "weight_ih_l2"));
  CHECK(contains(folder_error(with("\"num_layers\": 2", "\"num_layers\": 1"), {}), "does not use"));
  CHECK(contains(folder_error(with("\"num_layers\": 2", "\"num_layers\": 2000000000"), {}), "layers"));
  CHECK(contains(folder_error(with("\"num_layers\"", "\"bidirectional\": true, \"num_layers\""), {}), "both ways"));
  CHECK(contains(folder_error(with("\"num_layers\"", "\"proj_size\": 2, \"num_layers\""), {}), "projections"));
  CHECK(contains(folder_error(with("\"num_layers\"", "\"nonlinearity\": \"relu\", \"num_layers\""), {}), "relu"));
  CHECK(contains(folder_error(with("\"num_layers\"", "\"bos_token_id\": 7, \"num_layers\""), {}), "no such token"));
  CHECK(contains(folder_error(with("ab c", "ab cxyz"), {}), "do not belong together"));
  CHECK(contains(folder_error(kConfig, {.extra = "lstm.weight_hh_l0_reverse"}), "does not use"));

  std::filesystem::create_directories(folder / "alone");
  const auto file_error = [&](const std::string& bytes) {
    const std::string path = write_file(folder / "alone/m.safetensors", bytes);
    return error_of([&] { load_checkpoint(path, {.needs_tokenizer = false}); });
  };
  CHECK(file_error(StateDict{}.bytes()) == "");
  CHECK(file_error(StateDict{.gates = 3}.bytes()) == "");
  CHECK(contains(file_error(StateDict{.gates = 2}.bytes()), "no matrix of an RNN"));
  CHECK(contains(file_error(StateDict{.layers = 0}.bytes()), "config.json"));
  CHECK(contains(file_error(StateDict{.embedding = "words"}.bytes()), "encoder.weight"));
  CHECK(contains(file_error(StateDict{.extra = "other"}.bytes()), "does not use"));
  const std::string whole = StateDict{}.bytes();
  for (size_t size = 0; size < whole.size(); size += 1 + size / 8) {
    CHECK(file_error(whole.substr(0, size)) != "");
  }

  Checkpoint transformer = *random_model(small_config(0), DType::F32);
  CHECK(contains(error_of([&] { write_torch_recurrent(folder / "x", transformer); }), "only recurrent models"));
  CHECK(!std::filesystem::exists(folder / "x"));
  Checkpoint scored = with_characters(small_recurrent_config(Architecture::rnn));
  scored.vocabulary.scores[5] = 1;
  CHECK(contains(error_of([&] { write_torch_recurrent(folder / "x", scored); }), "vocabulary"));
  CHECK(!std::filesystem::exists(folder / "x"));
}
