// Which kind of chat template a file has.
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/chat_template.h"

namespace orrery {
namespace {

constexpr char kQuote = '\x01';  // begins and ends a literal in a condensed template
constexpr std::string_view kBlanks = " \t\r\n";
constexpr size_t kLongestTemplate = 100'000;  // ten times the longest in use; searching takes its square
// What the Llama 3.1 template says where nobody tells it the date.
constexpr const char* kDates = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// ' in a pattern stands for the quotes of a literal.
std::string pattern(std::string text) {
  for (char& c : text) c = c == '\'' ? kQuote : c;
  return text;
}

// A template without what makes no difference: white space in code, kinds of quotes, comments, literals in pieces,
// .content for ['content']. Text outside of code loses what "-" and Jinja's trim_blocks take; what lstrip_blocks takes
// makes no difference here.
class Condenser {
 public:
  explicit Condenser(std::string_view jinja) : rest_(jinja) {}

  std::string condense() {
    while (!rest_.empty()) {
      const size_t open = find_open();
      std::string_view raw = rest_.substr(0, open);
      rest_.remove_prefix(open);
      if (trims_next_) raw.remove_prefix(std::min(raw.size(), raw.find_first_not_of(kBlanks)));
      if (drops_newline_ && raw.starts_with('\n')) raw.remove_prefix(1);
      result_ += without_end(raw);
      if (!rest_.empty()) take_code();
    }
    for (const char* name : {"message.content", "message.role", "messages[0].role", "messages[0].content"}) {
      const std::string text = name;
      const size_t dot = text.rfind('.');
      replace_all(result_, text, pattern(text.substr(0, dot) + "['" + text.substr(dot + 1) + "']"));
    }
    replace_all(result_, pattern("'+'"), "");
    replace_all(result_, pattern("'}}{{'"), "");
    return std::move(result_);
  }

 private:
  size_t find_open() const {
    for (size_t at = 0; at + 1 < rest_.size(); ++at) {
      if (rest_[at] == '{' && (rest_[at + 1] == '{' || rest_[at + 1] == '%' || rest_[at + 1] == '#')) return at;
    }
    return rest_.size();
  }

  // What stands before "{%-" and its like.
  std::string_view without_end(std::string_view raw) const {
    const bool trims = rest_.size() > 2 && rest_[2] == '-';
    return trims ? raw.substr(0, raw.find_last_not_of(kBlanks) + 1) : raw;
  }

  void take_code() {
    const char kind = rest_[1];
    const std::string end = std::string(1, kind == '{' ? '}' : kind) + "}";
    rest_.remove_prefix(2);
    std::string code;
    while (!rest_.empty() && !rest_.starts_with(end)) {
      if (kind != '#' && (rest_[0] == '\'' || rest_[0] == '"')) {
        take_literal(code);
      } else {
        if (!is_blank(rest_[0])) code += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    rest_.remove_prefix(std::min(rest_.size(), end.size()));
    trims_next_ = code.ends_with('-');
    drops_newline_ = kind != '{';
    if (kind == '#') return;
    if (trims_next_) code.pop_back();
    if (code.starts_with('-')) code.erase(0, 1);
    result_ += (kind == '{' ? "{{" : "{%") + code + end;
  }

  void take_literal(std::string& code) {
    const char quote = rest_[0];
    code += kQuote;
    for (rest_.remove_prefix(1); !rest_.empty() && rest_[0] != quote; rest_.remove_prefix(1)) {
      if (rest_[0] == '\\' && rest_.size() > 1) {
        rest_.remove_prefix(1);
        code += rest_[0] == 'n' ? '\n' : rest_[0] == 't' ? '\t' : rest_[0];
      } else {
        code += rest_[0];
      }
    }
    code += kQuote;
    rest_.remove_prefix(std::min<size_t>(rest_.size(), 1));
  }

  std::string_view rest_;
  std::string result_;
  bool trims_next_ = false;     // the last code ended in "-}"
  bool drops_newline_ = false;  // the last code was a block
};

class Recogniser {
 public:
  Recogniser(std::string_view jinja, std::string bos, std::string eos)
      : code_(Condenser(jinja).condense()), bos_(std::move(bos)), eos_(std::move(eos)) {}

  std::optional<ChatTemplate> recognise() {
    t_.default_system = set_system_message();
    if (has("bos_token")) t_.begin = bos_;
    const bool is_known = has("<|im_start|>")          ? chatml()
                          : has("<|start_header_id|>") ? llama3()
                          : has("<start_of_turn>")     ? gemma()
                          : has("[INST]")              ? has("<<SYS>>") ? llama2() : mistral()
                                                       : zephyr();
    if (!is_known) return std::nullopt;
    for (const std::string& token : {bos_, eos_}) {
      if (!token.empty()) t_.markers.push_back(token);
    }
    return t_;
  }

 private:
  bool has(const std::string& text) const { return code_.find(pattern(text)) != std::string::npos; }

  // The rest of a literal, or of text outside of code, from behind `begin` to `end`; nothing where a value stands in
  // between.
  std::optional<std::string> text_between(const std::string& begin, const std::string& end) const {
    const std::string from = pattern(begin), to = pattern(end);
    for (size_t at = 0; (at = code_.find(from, at)) != std::string::npos;) {
      at += from.size();
      const size_t stop = code_.find(to, at);
      if (stop == std::string::npos) return std::nullopt;
      const std::string text = code_.substr(at, stop - at);
      const bool is_plain = text.find(kQuote) == std::string::npos && text.find("{{") == std::string::npos;
      if (is_plain && text.find("{%") == std::string::npos) return text;
    }
    return std::nullopt;
  }

  // {% set system_message = '...' %}, where it is not in a branch that is never taken.
  std::optional<std::string> set_system_message() const {
    if (has("false==true") || has("USE_DEFAULT_PROMPT")) return std::nullopt;
    for (const char* name : {"setsystem_message='", "setdefault_system_message='"}) {
      const auto text = text_between(name, "'");
      if (text && !text->empty()) return text;
    }
    return std::nullopt;
  }

  bool chatml() {
    const bool names_roles = has("<|im_start|>'+message['role']+'\n") || has("<|im_start|>{{message['role']}}\n") ||
                             has("<|im_start|>{{message['role']+'\n") || has("<|im_start|>'+role+'\n") ||
                             has("<|im_start|>user\n");
    if (!names_roles || !has("<|im_end|>") || !has("<|im_start|>assistant") || has("## Metadata")) return false;
    const std::string end = has("<|im_end|>\n") ? "<|im_end|>\n" : "<|im_end|>";
    t_.name = "ChatML";
    t_.markers = {"<|im_start|>", "<|im_end|>"};
    t_.end_of_turn = "<|im_end|>";
    t_.opens_system = "<|im_start|>system\n";
    t_.opens_user = "<|im_start|>user\n";
    t_.opens_assistant = "<|im_start|>assistant\n";
    t_.closes_system = t_.closes_user = t_.closes_assistant = end;
    const std::string line = has("<|im_start|>assistant\n") ? "\n" : "";
    t_.opens_answer = "<|im_start|>assistant" + text_between("<|im_start|>assistant", "'}}").value_or(line);
    if (const auto text = text_between("<|im_start|>system\n", "<|im_end|>")) t_.default_system = text;
    t_.trims_user = t_.trims_assistant = t_.trims_system =
        has("message['content']|trim") || has("message['content'].strip()");
    t_.drops_thinking = has("split('</think>')");
    t_.shows_last_thinking = t_.drops_thinking && has("last_query_index");
    return true;
  }

  bool llama3() {
    if (!has("<|end_header_id|>\n\n") || !has("<|eot_id|>")) return false;
    const auto header = [](const std::string& role) { return "<|start_header_id|>" + role + "<|end_header_id|>\n\n"; };
    const bool has_dates = has("Cutting Knowledge Date");
    t_.name = has_dates ? "Llama 3.1" : "Llama 3";
    t_.markers = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"};
    t_.end_of_turn = "<|eot_id|>";
    t_.system_always = has_dates;
    t_.opens_system = header("system") + (has_dates ? kDates : "");
    t_.opens_user = header("user");
    t_.opens_assistant = t_.opens_answer = header("assistant");
    t_.closes_system = t_.closes_user = t_.closes_assistant = "<|eot_id|>";
    t_.trims_user = t_.trims_assistant = t_.trims_system = has("|trim");
    return true;
  }

  bool gemma() {
    if (!has("<end_of_turn>\n")) return false;
    t_.name = "Gemma";
    t_.markers = {"<start_of_turn>", "<end_of_turn>"};
    t_.end_of_turn = "<end_of_turn>";
    t_.system_place = SystemPlace::first_user;
    t_.closes_system = "\n\n";
    t_.opens_user = "<start_of_turn>user\n";
    t_.opens_assistant = t_.opens_answer = "<start_of_turn>model\n";
    t_.closes_user = t_.closes_assistant = "<end_of_turn>\n";
    t_.trims_user = t_.trims_assistant = has("|trim");
    return true;
  }

  // What Llama 2 and Mistral have in common.
  void instructions() {
    t_.markers = {"[INST]", "[/INST]"};
    t_.end_of_turn = eos_;
    t_.opens_user = std::string(has("' [INST]") ? " " : "") + "[INST]" + (has("[INST] ") ? " " : "");
    t_.closes_user = has(" [/INST]") ? " [/INST]" : "[/INST]";
    if (has("bos_token+'[INST]")) {
      t_.opens_user = bos_ + t_.opens_user;
      if (!has("{{bos_token}}")) t_.begin = "";
    }
    if (has("' '+message['content']") || has("' '+content")) t_.answer_lead = " ";
    t_.closes_assistant = (has("+' '+eos_token") ? " " : "") + eos_ + (has("eos_token+' '") ? " " : "");
    t_.system_place = has("loop.lastandsystem_message") ? SystemPlace::last_user : SystemPlace::first_user;
  }

  bool llama2() {
    instructions();
    t_.name = "Llama 2";
    t_.opens_system = "<<SYS>>\n";
    t_.closes_system = "\n<</SYS>>\n\n";
    t_.trims_user = t_.trims_assistant = t_.trims_around_system = has("content.strip()") || has("content|trim");
    return true;
  }

  bool mistral() {
    if (has("[SYSTEM_PROMPT]")) return false;  // version 7 and later
    instructions();
    const bool is_first = t_.opens_user.find(" [INST]") != std::string::npos;
    const bool ends_wide = t_.closes_user == " [/INST]";
    t_.name = is_first                             ? "Mistral v1"
              : ends_wide                          ? "Mistral v0"
              : t_.opens_user.ends_with("[INST] ") ? "Mistral v3"
                                                   : "Mistral v3 tekken";
    t_.closes_system = "\n\n";
    t_.trims_assistant = has("message['content']|trim+eos_token") || has("message['content'].strip()+eos_token");
    return true;
  }

  bool zephyr() {
    const std::string user = "'<|user|>\n'+message['content']+eos_token";
    if (!has(user) || !has("<|assistant|>")) return false;
    const std::string line = has(user + "}}\n") || has(user + "+'\n'") ? "\n" : "";
    t_.name = "Zephyr";
    t_.markers = {"<|system|>", "<|user|>", "<|assistant|>"};
    t_.end_of_turn = eos_;
    t_.opens_system = "<|system|>\n";
    t_.opens_user = "<|user|>\n";
    t_.opens_assistant = "<|assistant|>\n";
    t_.closes_system = t_.closes_user = t_.closes_assistant = eos_ + line;
    const bool breaks = has("'<|assistant|>'}}\n") || has("'<|assistant|>\n'}}");
    t_.opens_answer = breaks ? "<|assistant|>\n" : "<|assistant|>";
    return true;
  }

  std::string code_, bos_, eos_;
  ChatTemplate t_;
};

// Enough of a template to know it by, in one line.
std::string first_words(std::string_view jinja) {
  constexpr size_t kLength = 72;
  std::string words;
  for (const char c : jinja) {
    if (!is_blank(c)) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
    if (words.size() > kLength) break;
  }
  if (words.size() <= kLength) return words;
  words.resize(kLength);
  words.resize(words.size() - utf8_incomplete_tail(words));
  return words + "...";
}

}  // namespace

ChatTemplate recognise_chat_template(std::string_view jinja, const std::string& bos, const std::string& eos,
                                     const std::string& where) {
  if (jinja.find_first_not_of(kBlanks) == std::string_view::npos) {
    throw Error({.what = "this is a base model: its file has no chat template",
                 .where = where,
                 .hint = "orrery run continues a text with it"});
  }
  if (jinja.size() > kLongestTemplate) {
    throw Error({.what = "the chat template is too long to be one",
                 .where = where,
                 .expected = "at most " + std::to_string(kLongestTemplate) + " bytes",
                 .found = std::to_string(jinja.size())});
  }
  const auto found = Recogniser(jinja, bos, eos).recognise();
  if (found) return *found;
  throw Error({.what = "the chat template is of a kind not known here",
               .where = where,
               .expected = "ChatML, Llama 2, Llama 3, Mistral (before v7), Zephyr or Gemma",
               .found = "'" + first_words(jinja) + "'",
               .hint = "orrery run --special takes a prompt with special tokens in it"});
}

}  // namespace orrery
