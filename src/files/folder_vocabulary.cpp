// The tokenizer of a folder: tokenizer.json, or vocab.json and merges.txt, and what the other files say about it.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"
#include "files/folder.h"
#include "files/pre_tokenizations.h"
#include "files/tokenizer_json.h"
#include "files/tokenizer_json_parse.h"

namespace orrery {
namespace {

constexpr size_t kMostTemplateBytes = 1 << 20;
constexpr int kMostTokens = 1 << 18;  // that a folder's tokenizer_config.json is looked through for

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

// What special_tokens_map.json and tokenizer_config.json name: texts, objects with one, or lists of these.
void collect_named_tokens(const JsonValues& file, std::vector<AddedToken>& tokens) {
  const auto collect = [&](const std::string& at) {
    const std::string text = file.is(at, JsonValue::object) ? file.text(at + "/content") : file.text(at);
    if (!text.empty()) tokens.push_back({.text = text});
  };
  for (const char* key : {"bos_token", "eos_token", "unk_token", "pad_token"}) collect(key);
  file.for_each("additional_special_tokens", collect);
}

// The added tokens of a folder without tokenizer.json: from up to three files, what says more about a token last.
std::vector<AddedToken> added_tokens(const std::string& folder) {
  std::vector<AddedToken> tokens;
  if (is_there(folder + "/added_tokens.json")) {
    for (const auto& [text, id] : TokenizerJson::vocabulary_alone(folder + "/added_tokens.json").vocabulary) {
      tokens.push_back({text, id, true});
    }
  }
  for (const char* name : {"/special_tokens_map.json", "/tokenizer_config.json"}) {
    const auto file = read_if_there(folder + name);
    if (!file) continue;
    collect_named_tokens(*file, tokens);
    // Under their ids, of which JsonValues can only be asked one by one.
    const std::string decoder = "added_tokens_decoder";
    for (int id = 0; file->is(decoder, JsonValue::object) && id < kMostTokens; ++id) {
      const std::string at = decoder + "/" + std::to_string(id);
      if (!file->has(at + "/content")) continue;
      for (const char* flag : {"/single_word", "/lstrip", "/rstrip"}) {
        if (file->flag(at + flag, false)) file->fail(at + flag, "added tokens of this sort are not supported");
      }
      tokens.push_back({file->text(at + "/content"), id, file->flag(at + "/special", false)});
    }
  }
  if (tokens.empty()) tokens.push_back({.text = "<|endoftext|>"});  // GPT-2's own folder has no other file
  return tokens;
}

// transformers' tokenizers that have these two files differ in how they cut text before merging.
std::string cutting_of(const std::string& folder) {
  const auto file = read_if_there(folder + "/tokenizer_config.json");
  if (file && file->flag("add_prefix_space", false)) {
    file->fail("add_prefix_space", "with a space before the text is not supported");
  }
  const auto config = read_if_there(folder + "/config.json");
  const bool is_qwen = config && config->text("model_type").starts_with("qwen");
  std::string name = file ? file->text("tokenizer_class") : "";
  if (name.empty()) name = is_qwen ? "Qwen2Tokenizer" : "GPT2Tokenizer";
  if (name.starts_with("GPT2Tokenizer")) return "gpt-2";
  if (name.starts_with("Qwen2Tokenizer")) return "qwen2";
  file->fail("tokenizer_class", "from vocab.json and merges.txt alone this tokenizer cannot be made", name,
             "GPT2Tokenizer, Qwen2Tokenizer, or a tokenizer.json");
}

Vocabulary read_vocabulary(const std::string& folder) {
  if (is_there(folder + "/tokenizer.json")) return read_tokenizer_json(folder + "/tokenizer.json");
  if (is_there(folder + "/vocab.json") && is_there(folder + "/merges.txt")) {
    return read_vocab_and_merges(folder + "/vocab.json", folder + "/merges.txt",
                                 pre_tokenization_named(cutting_of(folder)), added_tokens(folder));
  }
  if (!is_there(folder + "/tokenizer.model")) return {};
  throw Error({.what = "of the tokenizer there is only tokenizer.model, which is not supported",
               .where = folder,
               .expected = "tokenizer.json",
               .hint = "fetch the tokenizer.json of the model, or the model as GGUF"});
}

}  // namespace

Vocabulary folder_vocabulary(const std::string& folder, Checkpoint& checkpoint) {
  Vocabulary vocabulary = read_vocabulary(folder);
  if (vocabulary.empty()) return vocabulary;
  if (const auto file = read_if_there(folder + "/tokenizer_config.json")) {
    read_tokenizer_config(*file, vocabulary, checkpoint);
  }
  // Newer folders have the template in a file of its own.
  if (const std::string path = folder + "/chat_template.jinja"; is_there(path)) {
    checkpoint.chat_template = read_file(path, kMostTemplateBytes);
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
