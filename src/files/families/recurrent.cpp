// Recurrent language models: RNN, LSTM and GRU. No other program has GGUF files of them, so names and keys are ours;
// folders have PyTorch's names, behind the names that a module's author happened to give to its parts.
#include <memory>

#include "base/error.h"
#include "base/utf8.h"
#include "files/families.h"

namespace orrery {
namespace {

constexpr std::string_view kRnn = "orrery-rnn", kLstm = "orrery-lstm", kGru = "orrery-gru";
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, as vocabularies write it

std::string key(std::string_view family, const char* suffix) { return std::string(family) + "." + suffix; }

ModelConfig from_gguf(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata;
  const std::string family(metadata.text("general.architecture").value_or(""));
  ModelConfig config;
  config.family = family;
  config.architecture = family == kRnn ? Architecture::rnn : family == kLstm ? Architecture::lstm : Architecture::gru;
  if (family == kGru && !metadata.flag_or(key(family, "reset_after_product"), true)) {
    config.architecture = Architecture::gru_reset_before;
  }
  config.n_layers = metadata.count(key(family, "block_count"));
  config.d_model = metadata.count(key(family, "embedding_length"));
  config.d_hidden = metadata.count(key(family, "hidden_length"));
  config.context_length = metadata.count(key(family, "context_length"));
  config.vocab_size = metadata.count(key(family, "vocab_size"));
  config.tied_head = !file.has_tensor("output.weight");
  config.head_bias = file.has_tensor("output.bias");
  return config;
}

void to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata) {
  if (!config.is_recurrent()) throw Error({.what = "a transformer cannot be written as a recurrent model"});
  const std::string& family = config.family;
  metadata.add_uint32(key(family, "context_length"), config.context_length);
  metadata.add_uint32(key(family, "embedding_length"), config.d_model);
  metadata.add_uint32(key(family, "hidden_length"), config.d_hidden);
  metadata.add_uint32(key(family, "block_count"), config.n_layers);
  metadata.add_uint32(key(family, "vocab_size"), config.vocab_size);
  if (family == kGru) {
    metadata.add_flag(key(family, "reset_after_product"), config.architecture == Architecture::gru);
  }
}

ModelConfig read_folder(const FolderModel& model, Architecture architecture, std::string_view family) {
  const JsonValues& file = model.config;
  ModelConfig config;
  config.family = family;
  config.architecture = architecture;
  config.n_layers = file.count("num_layers");
  config.d_hidden = file.count("hidden_size");
  config.d_model = file.count_or("embedding_dim", config.d_hidden);
  config.vocab_size = file.count("vocab_size");
  config.context_length = file.count_or("context_length", kUnboundedContext);
  if (file.flag("bidirectional", false))
    file.fail("bidirectional", "a model that reads both ways cannot go on with a text");
  if (file.count_or("proj_size", 0) != 0) file.fail("proj_size", "projections of the hidden state are not supported");
  if (const std::string nonlinearity = file.text("nonlinearity", "tanh"); nonlinearity != "tanh") {
    file.fail("nonlinearity", "this activation is not supported", nonlinearity, "tanh");
  }
  config.tied_head = file.flag("tie_weights", false) || !model.has_weight("output.weight");
  config.head_bias = model.has_weight("output.bias");
  return config;
}

ModelConfig rnn_from_folder(const FolderModel& model) { return read_folder(model, Architecture::rnn, kRnn); }
ModelConfig lstm_from_folder(const FolderModel& model) { return read_folder(model, Architecture::lstm, kLstm); }
ModelConfig gru_from_folder(const FolderModel& model) {
  const bool is_after = model.config.flag("reset_after_product", true);
  return read_folder(model, is_after ? Architecture::gru : Architecture::gru_reset_before, kGru);
}

// "weight_ih_l0" of "blk.0.cell_ih.weight".
std::string torch_name(std::string_view ours) {
  const size_t dot = ours.find('.', 4);
  const std::string layer(ours.substr(4, dot - 4));
  const std::string_view rest = ours.substr(dot + 1);  // "cell_ih.weight"
  const std::string_view part = rest.substr(5, 2), kind = rest.substr(rest.rfind('.') + 1);
  return std::string(kind) + "_" + std::string(part) + "_l" + layer;
}

// Modules call their parts as they like: the first of the usual names that the files have.
std::string find_name(std::string_view ours, const std::function<bool(const std::string&)>& is_there) {
  const std::string suffix(ours.substr(ours.rfind('.')));  // ".weight"
  std::vector<std::string> names;
  if (ours.starts_with("blk.")) {
    for (const char* module : {"rnn.", "lstm.", "gru.", ""}) names.push_back(module + torch_name(ours));
  } else if (ours.starts_with("output.")) {
    for (const char* module : {"decoder", "fc", "head", "linear"}) names.push_back(module + suffix);
  } else {
    for (const char* module : {"encoder", "embedding", "embed"}) names.push_back(module + suffix);
  }
  for (const std::string& name : names) {
    if (is_there(name)) return name;
  }
  return names.front();
}

// The pieces of a vocabulary of single characters, in the order of their ids: "chars_by_id", one text of them all, or
// "pieces", a list in which a byte is "<0x0A>" and a space U+2581.
std::vector<std::string> pieces_of(const JsonValues& file) {
  std::vector<std::string> pieces;
  file.for_each("pieces", [&](const std::string& at) { pieces.push_back(file.text(at)); });
  const std::string text = file.text("chars_by_id");
  for (size_t at = 0; at < text.size();) {
    const size_t size = utf8_length(std::string_view(text).substr(at));
    if (size == 0) file.fail("chars_by_id", "this is not UTF-8");
    const std::string character = text.substr(at, size);
    pieces.push_back(character == " " ? std::string(kSpace) : character);
    at += size;
  }
  return pieces;
}

bool is_byte_piece(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>';
}

// A special token's id; kNoToken where the file does not have one.
TokenId special_id(const JsonValues& file, const std::string& at, Vocabulary& vocabulary, PieceKind kind) {
  const int id = file.count_or(at, -1);
  if (id < 0) return kNoToken;
  if (static_cast<size_t>(id) >= vocabulary.pieces.size()) {
    file.fail(at, "there is no such token", std::to_string(id), "below " + std::to_string(vocabulary.pieces.size()));
  }
  vocabulary.kinds[static_cast<size_t>(id)] = kind;
  return id;
}

Vocabulary characters(const JsonValues& file) {
  const std::vector<std::string> pieces = pieces_of(file);
  Vocabulary vocabulary;
  if (pieces.empty()) return vocabulary;
  auto storage = std::make_shared<std::string>();
  for (const std::string& piece : pieces) *storage += piece;
  vocabulary.model = "llama";
  vocabulary.add_space_prefix = false;
  size_t begin = 0;
  for (const std::string& piece : pieces) {
    vocabulary.pieces.push_back(std::string_view(*storage).substr(begin, piece.size()));
    vocabulary.scores.push_back(0);
    vocabulary.kinds.push_back(is_byte_piece(piece) ? PieceKind::byte : PieceKind::normal);
    begin += piece.size();
  }
  vocabulary.unknown = special_id(file, "unk_token_id", vocabulary, PieceKind::unknown);
  vocabulary.bos = special_id(file, "bos_token_id", vocabulary, PieceKind::control);
  file.for_each("eos_token_id", [&](const std::string& at) {
    vocabulary.end_tokens.push_back(special_id(file, at, vocabulary, PieceKind::control));
  });
  vocabulary.add_bos = vocabulary.bos != kNoToken;
  vocabulary.storage = storage;
  return vocabulary;
}

FolderLayout folder(std::string_view model_type, ModelConfig (*config)(const FolderModel& model)) {
  FolderLayout layout;
  layout.model_type = model_type;
  layout.config = config;
  layout.head = "decoder";
  layout.find_name = find_name;
  layout.vocabulary = characters;
  return layout;
}

}  // namespace

const Family kRnnFamily = {.name = kRnn, .from_gguf = from_gguf, .to_gguf = to_gguf};
const Family kLstmFamily = {.name = kLstm, .from_gguf = from_gguf, .to_gguf = to_gguf};
const Family kGruFamily = {.name = kGru, .from_gguf = from_gguf, .to_gguf = to_gguf};
const FolderLayout kRnnFolder = folder("rnn", rnn_from_folder);
const FolderLayout kLstmFolder = folder("lstm", lstm_from_folder);
const FolderLayout kGruFolder = folder("gru", gru_from_folder);

}  // namespace orrery
