#include "cli/conversation.h"

#include <algorithm>

#include "base/error.h"
#include "text/text_stream.h"

namespace orrery::cli {

Conversation::Conversation(const ChatTemplate& chat_template, const Tokenizer& tokenizer, LanguageModel& model,
                           Kernels& kernels)
    : template_(chat_template),
      tokenizer_(tokenizer),
      model_(model),
      kernels_(kernels),
      added_(tokenizer.vocabulary()),
      end_tokens_(tokenizer.vocabulary().end_tokens),
      state_(model.new_sequence()) {
  const TokenId end = special_token(added_, template_.end_of_turn);
  if (end == kNoToken) {
    stops_.push_back(template_.end_of_turn);
  } else if (!tokenizer.is_end(end)) {
    end_tokens_.push_back(end);
  }
}

std::vector<TokenId> Conversation::rendered(bool asks) const {
  std::vector<ChatMessage> all;
  if (system_) all.push_back({ChatRole::system, *system_});
  all.insert(all.end(), messages_.begin(), messages_.end());
  return encode_chat(tokenizer_, added_, template_.render(all, asks));
}

bool Conversation::lacks_bos(const std::vector<TokenId>& ids) const {
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  return vocabulary.add_bos && vocabulary.bos != kNoToken && (ids.empty() || ids[0] != vocabulary.bos);
}

std::vector<TokenId> Conversation::encoded(bool asks) const {
  std::vector<TokenId> ids = rendered(asks);
  if (lacks_bos(ids)) ids.insert(ids.begin(), tokenizer_.vocabulary().bos);
  return ids;
}

BosOfTemplate Conversation::bos_of_template() const {
  const std::vector<ChatMessage> sample = {{ChatRole::user, "a"}};
  const std::vector<TokenId> ids = encode_chat(tokenizer_, added_, template_.render(sample, true));
  const TokenId bos = tokenizer_.vocabulary().bos;
  if (lacks_bos(ids)) return BosOfTemplate::left_out;
  return bos != kNoToken && ids.size() > 1 && ids[0] == bos && ids[1] == bos ? BosOfTemplate::twice
                                                                             : BosOfTemplate::right;
}

// The ids of the conversation, without the oldest turns that leave no room.
std::vector<TokenId> Conversation::make_room(int& turns_dropped) {
  const int context = model_.context_length();
  const int room = std::min(context / 4, kAnswerRoom);
  std::vector<TokenId> ids = encoded(true);
  while (static_cast<int>(ids.size()) + room > context && messages_.size() > 1) {
    messages_.erase(messages_.begin(), messages_.begin() + 2);  // a message and its answer
    ++turns_dropped;
    ids = encoded(true);
  }
  if (static_cast<int>(ids.size()) <= context) return ids;
  messages_.pop_back();
  throw Error({.what = "the message is longer than the context",
               .where = kChatPlace,
               .expected = "at most " + std::to_string(context) + " tokens with the system message",
               .found = std::to_string(ids.size()),
               .hint = "say it in fewer words, or use a larger -c"});
}

Answer Conversation::say(const std::string& text, Sampler& sampler, int max_tokens, const ConversationHooks& hooks) {
  messages_.push_back({ChatRole::user, text});
  Answer answer;
  const std::vector<TokenId> ids = make_room(answer.turns_dropped);
  const auto differs = std::ranges::mismatch(ids, seen_).in1;
  // The last token is always computed: its logits are wanted.
  answer.begins_at = std::min(static_cast<int>(differs - ids.begin()), static_cast<int>(ids.size()) - 1);
  answer.fed.assign(ids.begin() + answer.begins_at, ids.end());
  state_->truncate(answer.begins_at);
  if (hooks.on_prompt) hooks.on_prompt(answer);

  ChatMessage said{ChatRole::assistant, ""};
  const Generation generation = generate_answer(ids, sampler, max_tokens, hooks, said);
  answer.text = said.text;
  answer.reason = generation.reason;
  if (generation.ids.empty() && generation.reason == StopReason::asked) {
    messages_.pop_back();
  } else {
    messages_.push_back(std::move(said));
  }
  seen_ = ids;
  seen_.insert(seen_.end(), generation.ids.begin(), generation.ids.end());
  seen_.resize(static_cast<size_t>(state_->length()));
  return answer;
}

Generation Conversation::generate_answer(const std::vector<TokenId>& ids, Sampler& sampler, int max_tokens,
                                         const ConversationHooks& hooks, ChatMessage& answer) {
  TextStream stream(tokenizer_, stops_, ids.back());
  Detokenizer detokenizer(tokenizer_, ids.back());
  std::string bytes;
  bool is_begin = true;
  const auto take = [&](std::string text) {
    if (text.empty()) return;
    if (is_begin && text.starts_with(template_.answer_lead)) {
      text.erase(0, template_.answer_lead.size());
      bytes.erase(0, template_.answer_lead.size());
    }
    is_begin = false;
    answer.text += text;
    if (hooks.on_text && !text.empty()) hooks.on_text(text);
  };
  const auto on_token = [&](TokenId id) {
    bytes += detokenizer.next(id);
    take(stream.push(id));
    return !stream.stopped();
  };
  const GenerateOptions options{.max_tokens = max_tokens, .end_tokens = end_tokens_};
  Generation generation = generate(model_, *state_, ids, sampler, kernels_, arena_, options, on_token, hooks.goes_on);
  take(stream.flush());
  if (stream.stopped()) generation.reason = StopReason::end_token;
  if (answer.text == bytes) answer.ids = generation.ids;
  return generation;
}

}  // namespace orrery::cli
