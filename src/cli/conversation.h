// A conversation with a model: what was said, and one cache that holds as much of it as the model has seen.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "generate/generate.h"
#include "text/chat_template.h"

namespace orrery::cli {

// Where an Error is said to be that the user can do something about without leaving.
constexpr const char* kChatPlace = "chat";

// `left_out`: the vocabulary asks for BOS and the template does not have it; it is fed all the same.
enum class BosOfTemplate { right, left_out, twice };

struct Answer {
  std::string text;
  StopReason reason = StopReason::end_token;
  std::vector<TokenId> fed;  // computed for this message: what the cache did not hold
  int begins_at = 0;         // their first position
  int turns_dropped = 0;     // the oldest messages with their answers, for which there was no room
};

struct ConversationHooks {
  std::function<void(const Answer&)> on_prompt;          // before anything is computed; `text` is empty
  std::function<void(const std::string& text)> on_text;  // the answer as it comes
  std::function<bool()> goes_on;                         // asked before every forward pass
};

class Conversation {
 public:
  // `tokenizer` is of with_markers(). All must outlive the conversation.
  Conversation(const ChatTemplate& chat_template, const Tokenizer& tokenizer, LanguageModel& model, Kernels& kernels);

  // Nothing: the template's own message, where it has one.
  void set_system(std::optional<std::string> text) { system_ = std::move(text); }
  void clear() { messages_.clear(); }  // the system message stays

  // Says `text` and returns the answer. Before it, the oldest messages and their answers are dropped until a quarter
  // of the context, but at most kAnswerRoom tokens, is free for the answer, or only `text` is left. Throws Error where
  // `text` alone does not fit; it is not part of the conversation then, nor where goes_on ended the answer before it
  // began.
  Answer say(const std::string& text, Sampler& sampler, int max_tokens, const ConversationHooks& hooks);

  // What render() makes of all that was said, encoded, with BOS in front where the vocabulary asks for it. `asks`: with
  // the opening of an answer.
  std::vector<TokenId> encoded(bool asks) const;
  // What the template does about BOS, by one message.
  BosOfTemplate bos_of_template() const;

  static constexpr int kAnswerRoom = 256;

 private:
  std::vector<TokenId> rendered(bool asks) const;
  bool lacks_bos(const std::vector<TokenId>& ids) const;
  std::vector<TokenId> make_room(int& turns_dropped);
  Generation generate_answer(const std::vector<TokenId>& ids, Sampler& sampler, int max_tokens,
                             const ConversationHooks& hooks, ChatMessage& answer);

  const ChatTemplate& template_;
  const Tokenizer& tokenizer_;
  LanguageModel& model_;
  Kernels& kernels_;
  AddedTokens added_;
  Arena arena_;
  std::vector<TokenId> end_tokens_;
  std::vector<std::string> stops_;  // the end of a turn, where it is not one token

  std::optional<std::string> system_;
  std::vector<ChatMessage> messages_;  // without the system message
  std::unique_ptr<SequenceState> state_;
  std::vector<TokenId> seen_;  // the tokens of `state_`
};

}  // namespace orrery::cli
