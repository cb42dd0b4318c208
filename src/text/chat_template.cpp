#include "text/chat_template.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r\x1C\x1D\x1E\x1F";
constexpr std::string_view kThinkBegin = "<think>";
constexpr std::string_view kThinkEnd = "</think>";

std::string without_begin(const std::string& text, std::string_view characters) {
  const size_t begin = text.find_first_not_of(characters);
  return begin == std::string::npos ? "" : text.substr(begin);
}

std::string without_end(const std::string& text, std::string_view characters) {
  const size_t last = text.find_last_not_of(characters);
  return last == std::string::npos ? "" : text.substr(0, last + 1);
}

std::string trimmed(const std::string& text, bool trims) {
  return trims ? without_begin(without_end(text, kSpaces), kSpaces) : text;
}

// What stands behind the last </think>.
std::string conclusion(const std::string& answer) {
  const size_t at = answer.rfind(kThinkEnd);
  return at == std::string::npos ? answer : without_begin(answer.substr(at + kThinkEnd.size()), "\n");
}

// What stands before the first </think>, behind the last <think> there.
std::string thinking(const std::string& answer) {
  const size_t end = answer.find(kThinkEnd);
  if (end == std::string::npos) return "";
  const std::string before = answer.substr(0, end);
  const size_t begin = before.rfind(kThinkBegin);
  const std::string inside = begin == std::string::npos ? before : before.substr(begin + kThinkBegin.size());
  return without_begin(without_end(inside, "\n"), "\n");
}

class Renderer {
 public:
  Renderer(const ChatTemplate& chat_template, std::span<const ChatMessage> messages) : template_(chat_template) {
    system_ = chat_template.default_system;
    if (!messages.empty() && messages[0].role == ChatRole::system) {
      system_ = messages[0].text;
      messages = messages.subspan(1);
    }
    messages_ = messages;
  }

  std::vector<ChatPart> render(bool asks) {
    add(template_.begin);
    if (template_.system_place == SystemPlace::own_turn && (system_ || template_.system_always)) add_system();
    for (size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].role == ChatRole::assistant) {
        add_answer(messages_[i], i);
      } else {
        add_user(messages_[i].text, i);
      }
    }
    if (asks) add(template_.opens_answer);
    return std::move(parts_);
  }

 private:
  void add(const std::string& text) {
    if (!text.empty()) parts_.push_back({text, true});
  }
  void say(const std::string& text, const std::vector<TokenId>& ids = {}) { parts_.push_back({text, false, ids}); }

  void add_system() {
    add(template_.opens_system);
    say(trimmed(system_.value_or(""), template_.trims_system));
    add(template_.closes_system);
  }

  void add_user(const std::string& text, size_t index) {
    const bool is_place = (template_.system_place == SystemPlace::first_user && index == 0) ||
                          (template_.system_place == SystemPlace::last_user && index + 1 == messages_.size());
    add(template_.opens_user);
    if (system_ && is_place) {
      add_system();
      say(template_.trims_around_system ? without_end(text, kSpaces) : trimmed(text, template_.trims_user));
    } else {
      say(trimmed(text, template_.trims_user));
    }
    add(template_.closes_user);
  }

  void add_answer(const ChatMessage& answer, size_t index) {
    const auto is_user = [](const ChatMessage& message) { return message.role == ChatRole::user; };
    const bool is_last = std::ranges::none_of(messages_.subspan(index), is_user);
    std::string text = template_.drops_thinking ? conclusion(answer.text) : answer.text;
    const std::string thought = thinking(answer.text);
    if (template_.shows_last_thinking && is_last && (index + 1 == messages_.size() || !thought.empty())) {
      text = "<think>\n" + thought + "\n</think>\n\n" + without_begin(text, "\n");
    }
    text = trimmed(text, template_.trims_assistant);
    add(template_.opens_assistant);
    say(template_.answer_lead + text, text == answer.text ? answer.ids : std::vector<TokenId>());
    add(template_.closes_assistant);
  }

  const ChatTemplate& template_;
  std::span<const ChatMessage> messages_;  // without the system message
  std::optional<std::string> system_;
  std::vector<ChatPart> parts_;
};

bool begins_with_special(const AddedTokens& added, std::string_view text) {
  return !text.empty() && added.cut(text, true).front().id != kNoToken;
}

}  // namespace

std::vector<ChatPart> ChatTemplate::render(std::span<const ChatMessage> messages, bool asks) const {
  return Renderer(*this, messages).render(asks);
}

Vocabulary with_markers(Vocabulary vocabulary, const ChatTemplate& chat_template) {
  for (size_t id = 0; id < vocabulary.pieces.size() && id < vocabulary.kinds.size(); ++id) {
    if (vocabulary.kinds[id] != PieceKind::user_defined) continue;
    if (std::ranges::count(chat_template.markers, vocabulary.pieces[id]) > 0) vocabulary.kinds[id] = PieceKind::control;
  }
  return vocabulary;
}

std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, const AddedTokens& added,
                                 std::span<const ChatPart> parts) {
  std::vector<TokenId> ids;
  std::string text;  // since the last special token
  const auto end_text = [&] {
    const std::vector<TokenId> more = tokenizer.encode(text, {.bos = false, .parse_special = false});
    if (!text.empty()) ids.insert(ids.end(), more.begin(), more.end());
    text.clear();
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    const ChatPart& part = parts[i];
    const bool is_cut_behind = i + 1 == parts.size() || begins_with_special(added, parts[i + 1].text);
    if (!part.ids.empty() && is_cut_behind) {
      end_text();
      ids.insert(ids.end(), part.ids.begin(), part.ids.end());
      continue;
    }
    if (!part.is_template) {
      text += part.text;
      continue;
    }
    for (const AddedTokens::Part& piece : added.cut(part.text, true)) {
      if (piece.id == kNoToken) {
        text += piece.text;
      } else {
        end_text();
        ids.push_back(piece.id);
      }
    }
  }
  end_text();
  return ids;
}

TokenId special_token(const AddedTokens& added, std::string_view text) {
  if (text.empty()) return kNoToken;
  const std::vector<AddedTokens::Part> parts = added.cut(text, true);
  return parts.size() == 1 ? parts[0].id : kNoToken;
}

std::string chat_text(std::span<const ChatPart> parts) {
  std::string text;
  for (const ChatPart& part : parts) text += part.text;
  return text;
}

}  // namespace orrery
