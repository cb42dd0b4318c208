#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output_file.h"
#include "files/pre_tokenizations.h"
#include "files/tokenizer_json.h"
#include "text/added_tokens.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written here

std::string text_of(const Vocabulary& vocabulary, TokenId id) { return std::string(vocabulary.pieces[id]); }

Json added_tokens(const Vocabulary& vocabulary) {
  Json tokens = Json::array();
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    if (!stands_as_it_is(vocabulary.kinds[id])) continue;
    tokens.push_back({{"id", id},
                      {"content", vocabulary.pieces[id]},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", vocabulary.kinds[id] != PieceKind::user_defined}});
  }
  return tokens;
}

Json byte_level(bool cuts_like_gpt2) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", cuts_like_gpt2}};
}

Json pre_tokenizer(const std::vector<std::string>& patterns) {
  if (patterns == pre_tokenization_named("gpt-2").patterns) return byte_level(true);
  Json steps = Json::array();
  for (const std::string& pattern : patterns) {
    steps.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back(byte_level(false));
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

// BOS before a text and EOS after it, for one text and for two.
Json post_processor(const Vocabulary& vocabulary) {
  const bool has_bos = vocabulary.add_bos && vocabulary.bos != kNoToken;
  const bool has_eos = vocabulary.add_eos && !vocabulary.end_tokens.empty();
  if (!has_bos && !has_eos) return byte_level(true);
  Json special_tokens = Json::object();
  const auto add_token = [&](Json& sequence, TokenId id, int type) {
    const std::string text = text_of(vocabulary, id);
    sequence.push_back({{"SpecialToken", {{"id", text}, {"type_id", type}}}});
    special_tokens[text] = {{"id", text}, {"ids", Json::array({id})}, {"tokens", Json::array({text})}};
  };
  const auto add_text = [&](Json& sequence, const char* name, int type) {
    if (has_bos) add_token(sequence, vocabulary.bos, type);
    sequence.push_back({{"Sequence", {{"id", name}, {"type_id", type}}}});
    if (has_eos) add_token(sequence, vocabulary.end_tokens.front(), type);
  };
  Json single = Json::array();
  add_text(single, "A", 0);
  Json pair = single;
  add_text(pair, "B", 1);
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special_tokens}};
}

Json model(const Vocabulary& vocabulary) {
  Json ids = Json::object();
  // Json looks through all keys before it adds one; the vector that it is does not. That no key is there twice is
  // known.
  auto& entries = static_cast<std::vector<std::pair<const std::string, Json>>&>(ids.get_ref<Json::object_t&>());
  entries.reserve(vocabulary.pieces.size());
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) entries.emplace_back(vocabulary.pieces[id], id);
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", vocabulary.unknown == kNoToken ? Json() : Json(text_of(vocabulary, vocabulary.unknown))},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", vocabulary.pre_tokenization.ignore_merges},
          {"vocab", std::move(ids)},
          {"merges", vocabulary.merges}};
}

void check_is_writable(const Vocabulary& vocabulary, const std::string& path) {
  if (vocabulary.model != "gpt2" || vocabulary.pre_tokenization.patterns.empty()) {
    throw Error({.what = "only byte-level BPE that says how text is cut can be written as tokenizer.json",
                 .where = path,
                 .found = "a vocabulary of the kind '" + vocabulary.model + "'"});
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string_view piece : vocabulary.pieces) {
    if (!seen.insert(piece).second) {
      throw Error({.what = "tokenizer.json has no place for two tokens that are written alike",
                   .where = path,
                   .found = "'" + std::string(piece) + "'"});
    }
  }
}

}  // namespace

void write_tokenizer_json(const std::string& path, const Vocabulary& vocabulary) {
  check_is_writable(checked(vocabulary, path), path);
  const Json nfc = {{"type", "NFC"}};
  const Json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", added_tokens(vocabulary)},
                          {"normalizer", vocabulary.pre_tokenization.nfc ? nfc : Json()},
                          {"pre_tokenizer", pre_tokenizer(vocabulary.pre_tokenization.patterns)},
                          {"post_processor", post_processor(vocabulary)},
                          {"decoder", byte_level(true)},
                          {"model", model(vocabulary)}};
  std::string text;
  try {
    text = tokenizer.dump(2);
  } catch (const Json::exception& error) {
    throw Error({.what = std::string("the vocabulary cannot be written as JSON: ") + error.what(), .where = path});
  }
  OutputFile file(path);
  file.write(text + "\n");
  file.commit();
}

}  // namespace orrery
