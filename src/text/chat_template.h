// Conversations as the text that a model was trained on. A file says how in a template (Jinja, the key
// tokenizer.chat_template); it is not executed here, but recognised by its tell-tale pieces as one of six kinds, and
// what varies inside a kind (spaces, trims, BOS, the default system message) is read off it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace orrery {

enum class ChatRole { system, user, assistant };

struct ChatMessage {
  ChatRole role = ChatRole::user;
  std::string text;
  std::vector<TokenId> ids = {};  // of an answer: how the model said `text`; may be empty
};

struct ChatPart {
  std::string text;
  bool is_template = false;       // special tokens are taken as such; what people say stays text
  std::vector<TokenId> ids = {};  // where not empty, they stand for the text
};

enum class SystemPlace { own_turn, first_user, last_user };

struct ChatTemplate {
  std::string name;                           // "ChatML", "Mistral v3"
  std::optional<std::string> default_system;  // what the template says where nobody gives a system message
  std::vector<std::string> markers;           // special tokens that build turns: text of people never becomes one
  std::string end_of_turn;                    // ends an answer
  std::string begin;                          // BOS, or ""

  SystemPlace system_place = SystemPlace::own_turn;
  bool system_always = false;  // the turn is there even without a message
  std::string opens_system, closes_system;
  std::string opens_user, closes_user;
  std::string opens_assistant, closes_assistant;
  std::string opens_answer;  // asks for an answer; opens_assistant, or less, or more
  std::string answer_lead;   // a space that an answer begins with

  // Trims take ASCII white space off both ends.
  bool trims_system = false, trims_user = false, trims_assistant = false;
  bool trims_around_system = false;  // user text behind a system message is trimmed at its end only
  bool drops_thinking = false;       // of an answer, what stands before its last </think>
  bool shows_last_thinking = false;  // but not after the last user message

  // The whole conversation, a system message first if there is one. `asks`: with the opening of an answer.
  std::vector<ChatPart> render(std::span<const ChatMessage> messages, bool asks) const;
};

// `bos` and `eos`: the texts of the file's tokens, "" where it has none. Throws Error for a template of another kind,
// with its first words, and for an empty one: a base model.
ChatTemplate recognise_chat_template(std::string_view jinja, const std::string& bos, const std::string& eos,
                                     const std::string& where);

// The vocabulary in which the template's markers are control tokens, whatever the file says they are.
Vocabulary with_markers(Vocabulary vocabulary, const ChatTemplate& chat_template);

// Text between special tokens is encoded in one piece, whoever said it. `added` is of the tokenizer's vocabulary.
std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, const AddedTokens& added, std::span<const ChatPart> parts);
// The token that `text` is, kNoToken where it is not one special token.
TokenId special_token(const AddedTokens& added, std::string_view text);
// The parts in one text.
std::string chat_text(std::span<const ChatPart> parts);

}  // namespace orrery
