// orrery chat: messages in, answers out.
#include <cerrno>
#include <cstdio>

#include <unistd.h>

#include "base/error.h"
#include "cli/conversation.h"

namespace orrery::cli {
namespace {

constexpr size_t kLongestLine = size_t{1} << 26;

enum class Input { line, end, interrupted };

// Lines of standard input, so that Ctrl-C ends the waiting: C++ streams would go on reading.
class Lines {
 public:
  Input next(std::string& line) {
    for (;;) {
      const size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos || (is_over_ && !buffer_.empty())) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end == std::string::npos ? end : end + 1);
        searched_ = 0;
        if (line.ends_with('\r')) line.pop_back();
        return Input::line;
      }
      if (is_over_) return Input::end;
      searched_ = buffer_.size();
      if (searched_ > kLongestLine) {
        throw Error({.what = "a line is longer than any context", .where = "standard input"});
      }
      if (interrupted() || !read_more()) return Input::interrupted;
    }
  }

 private:
  bool read_more() {
    char bytes[4096];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return false;
    if (count > 0) buffer_.append(bytes, static_cast<size_t>(count));
    is_over_ = count <= 0;
    return true;
  }

  std::string buffer_;
  size_t searched_ = 0;
  bool is_over_ = false;
};

// What the file's vocabulary and template make possible.
struct Speaker {
  ChatTemplate chat_template;
  std::unique_ptr<Tokenizer> tokenizer;
};

Speaker make_speaker(const Checkpoint& checkpoint) {
  const Vocabulary& vocabulary = checkpoint.vocabulary;
  const auto piece = [&](TokenId id) { return id == kNoToken ? "" : std::string(vocabulary.pieces[id]); };
  const TokenId eos = vocabulary.end_tokens.empty() ? kNoToken : vocabulary.end_tokens[0];
  Speaker speaker;
  speaker.chat_template =
      recognise_chat_template(checkpoint.chat_template, piece(vocabulary.bos), piece(eos), checkpoint.path);
  speaker.tokenizer = make_tokenizer(with_markers(vocabulary, speaker.chat_template), checkpoint.path);
  return speaker;
}

class Chat {
 public:
  Chat(const ChatOptions& options, Session& session, const Speaker& speaker, Sampler sampler)
      : options_(options),
        session_(session),
        speaker_(speaker),
        conversation_(speaker.chat_template, *speaker.tokenizer, *session.model, *session.kernels),
        sampler_(std::move(sampler)) {
    conversation_.set_system(options.system);
  }

  void print_facts() const {
    const ChatTemplate& t = speaker_.chat_template;
    const std::optional<std::string> system = options_.system ? options_.system : t.default_system;
    std::fprintf(stderr, "template %s; %s\n", t.name.c_str(),
                 system ? ("system message: " + printable(*system)).c_str() : "no system message");
    const BosOfTemplate bos = conversation_.bos_of_template();
    if (bos == BosOfTemplate::twice) {
      std::fprintf(stderr, "note: the conversation begins with two BOS tokens, as the template has it\n");
    }
    if (bos == BosOfTemplate::left_out) {
      std::fprintf(stderr, "note: the template leaves out BOS, which the tokenizer asks for; it is put first\n");
    }
  }

  int run() {
    const bool is_terminal = isatty(STDIN_FILENO) != 0;
    if (options_.first) answer(*options_.first);
    std::string line;
    for (;;) {
      catch_interrupt();
      if (is_terminal) std::fputs("> ", stderr);
      const Input input = lines_.next(line);
      if (input != Input::line && is_terminal) std::fputc('\n', stderr);
      if (input == Input::interrupted) return kInterrupted;
      if (input == Input::end || line == "/bye") return kDone;
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      if (!obey(line)) answer(line);
    }
  }

 private:
  // False where the line is a message. A command is a slash and letters, alone or before a space.
  bool obey(const std::string& line) {
    const std::string word = line.substr(0, line.find(' '));
    constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (!word.starts_with('/') || word.find_first_not_of(kLetters, 1) != std::string::npos) return false;
    if (word == "/clear") {
      conversation_.clear();
    } else if (word == "/system") {
      const bool has_text = line.size() > word.size() + 1;
      conversation_.set_system(has_text ? std::optional(line.substr(word.size() + 1)) : std::nullopt);
    } else {
      std::fprintf(stderr,
                   "there is no command %s; there are /clear, /system TEXT and /bye (a space before a message "
                   "makes it one)\n",
                   printable(word).c_str());
    }
    return true;
  }

  void answer(const std::string& text) {
    const ConversationHooks hooks{.on_prompt = [&](const Answer& a) { print_prompt(a); },
                                  .on_text = [](const std::string& more) { print(more); },
                                  .goes_on = [] { return !interrupted(); }};
    catch_interrupt();
    Answer answer;
    try {
      answer = conversation_.say(text, sampler_, options_.max_tokens, hooks);
    } catch (const Error& error) {
      if (error.parts().where != kChatPlace) throw;
      std::fprintf(stderr, "%s\n", error.what());
      return;
    }
    print("\n");
    if (answer.reason == StopReason::context_full) {
      std::fprintf(stderr, "the context of %d tokens is full: the answer ends here\n",
                   session_.model->context_length());
    }
    forget_interrupt();
  }

  void print_prompt(const Answer& answer) const {
    if (answer.turns_dropped > 0) {
      std::fprintf(stderr, "the context of %d tokens is full: the oldest %d turn%s forgotten\n",
                   session_.model->context_length(), answer.turns_dropped, answer.turns_dropped == 1 ? " is" : "s are");
    }
    if (!options_.verbose_prompt) return;
    std::fprintf(stderr, "from position %d, ", answer.begins_at);
    print_prompt_ids(speaker_.tokenizer.get(), answer.fed);
  }

  const ChatOptions& options_;
  Session& session_;
  const Speaker& speaker_;
  Conversation conversation_;
  Sampler sampler_;
  Lines lines_;
};

}  // namespace

int chat(const ChatOptions& options) {
  check(options.sampler);
  const auto session = open_session(options.model, true);
  const Speaker speaker = make_speaker(*session->checkpoint);
  print_banner(*session, options.model);
  Chat chat(options, *session, speaker, make_sampler(options.sampler, options.seed));
  chat.print_facts();
  return chat.run();
}

}  // namespace orrery::cli
