// The tokenizer of a folder: tokenizer.json, and what the other files say about it.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "files/folder.h"
#include "files/tokenizer_json.h"

namespace orrery {
namespace {

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::optional<JsonValues> read_if_there(const std::string& path) {
  return is_there(path) ? std::optional<JsonValues>(path) : std::nullopt;
}

void add_end(TokenId id, Vocabulary& vocabulary) {
  if (std::ranges::count(vocabulary.end_tokens, id) == 0) vocabulary.end_tokens.push_back(id);
}

TokenId checked_id(const JsonValues& file, const std::string& at, const Vocabulary& vocabulary) {
  const int64_t id = file.integer(at);
  if (id < 0 || static_cast<uint64_t>(id) >= vocabulary.pieces.size()) {
    file.fail(at, "the id is not in the vocabulary", std::to_string(id),
              "0 to " + std::to_string(vocabulary.pieces.size() - 1));
  }
  return static_cast<TokenId>(id);
}

// "eos_token_id": one id, or a list of them. False where the file says nothing.
bool read_end_ids(const JsonValues& file, Vocabulary& vocabulary) {
  const std::string at = "eos_token_id";
  if (!file.has(at)) return false;
  if (!file.is(at, JsonValue::list)) {
    add_end(checked_id(file, at, vocabulary), vocabulary);
  } else {
    file.for_each(at, [&](const std::string& each) { add_end(checked_id(file, each, vocabulary), vocabulary); });
  }
  return true;
}

// "bos_token": a text, or an object with one as its "content". kNoToken where the file says nothing.
TokenId named_token(const JsonValues& file, const std::string& key, const Vocabulary& vocabulary) {
  const std::string at = file.is(key, JsonValue::object) ? key + "/content" : key;
  if (!file.has(at)) return kNoToken;
  const auto found = std::ranges::find(vocabulary.pieces, file.text(at));
  if (found == vocabulary.pieces.end()) file.fail(at, "the token is not in the vocabulary", file.text(at));
  return static_cast<TokenId>(found - vocabulary.pieces.begin());
}

// One template, or a list of named ones, of which "default" is meant.
std::string chat_template(const JsonValues& file) {
  if (!file.is("chat_template", JsonValue::list)) return file.text("chat_template");
  std::string text;
  file.for_each("chat_template", [&](const std::string& at) {
    if (file.text(at + "/name") == "default") text = file.text(at + "/template");
  });
  return text;
}

void read_tokenizer_config(const JsonValues& file, Vocabulary& vocabulary, Checkpoint& checkpoint) {
  if (const TokenId bos = named_token(file, "bos_token", vocabulary); bos != kNoToken) vocabulary.bos = bos;
  if (const TokenId eos = named_token(file, "eos_token", vocabulary); eos != kNoToken) {
    vocabulary.end_tokens = {eos};
  }
  vocabulary.add_bos = file.flag("add_bos_token", vocabulary.add_bos) && vocabulary.bos != kNoToken;
  vocabulary.add_eos = file.flag("add_eos_token", vocabulary.add_eos) && !vocabulary.end_tokens.empty();
  checkpoint.chat_template = chat_template(file);
}

}  // namespace

Vocabulary folder_vocabulary(const std::string& folder, Checkpoint& checkpoint) {
  if (!is_there(folder + "/tokenizer.json")) {
    if (!is_there(folder + "/tokenizer.model")) return {};
    throw Error({.what = "of the tokenizer there is only tokenizer.model, which is not supported",
                 .where = folder,
                 .expected = "tokenizer.json",
                 .hint = "fetch the tokenizer.json of the model, or the model as GGUF"});
  }
  Vocabulary vocabulary = read_tokenizer_json(folder + "/tokenizer.json");
  if (const auto file = read_if_there(folder + "/tokenizer_config.json")) {
    read_tokenizer_config(*file, vocabulary, checkpoint);
  }
  const auto config = read_if_there(folder + "/config.json");
  if (config && vocabulary.bos == kNoToken && config->is("bos_token_id", JsonValue::integer)) {
    vocabulary.bos = checked_id(*config, "bos_token_id", vocabulary);
  }
  const auto generation = read_if_there(folder + "/generation_config.json");
  const bool is_said = generation && read_end_ids(*generation, vocabulary);
  if (!is_said && config) read_end_ids(*config, vocabulary);
  return vocabulary;
}

}  // namespace orrery
