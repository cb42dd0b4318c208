// orrery chat, run as a user runs it, with random weights: what it says is nonsense.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/checkpoint.h"
#include "files/gguf_writer.h"
#include "files/random_checkpoint.h"
#include "support/files.h"
#include "support/program.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const char* const kChatMl =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nDefault.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

// The tiny model with a template; two of its pieces become ChatML's marks. `is_slow`: larger, so that an answer takes
// seconds.
std::string chat_model(const TemporaryFolder& folder, const std::string& chat_template, bool is_slow = false) {
  Checkpoint checkpoint = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"), {});
  checkpoint.encoded_metadata.clear();
  checkpoint.config.context_length = 512;
  if (is_slow) {
    ModelConfig config = checkpoint.config;
    config.n_layers = 8;
    config.d_ff = 8192;
    Checkpoint large = random_checkpoint(config, DType::F32, 1);
    large.vocabulary = checkpoint.vocabulary;
    large.owners.insert(large.owners.end(), checkpoint.owners.begin(), checkpoint.owners.end());
    checkpoint = std::move(large);
  }
  checkpoint.vocabulary.pieces[334] = "<|im_start|>";
  checkpoint.vocabulary.pieces[335] = "<|im_end|>";
  checkpoint.vocabulary.kinds[334] = PieceKind::control;
  checkpoint.vocabulary.kinds[335] = PieceKind::user_defined;
  checkpoint.vocabulary.add_bos = false;
  const std::string path = folder / "chat.gguf";
  checkpoint.chat_template = chat_template;
  write_gguf(path, checkpoint);
  return path;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

// The program with somebody at its standard input who may wait.
class Dialogue {
 public:
  explicit Dialogue(const std::vector<std::string>& arguments) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      const int out = open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
      const int err = open((folder_ / "err").c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(ends[0], STDIN_FILENO);
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      close(ends[1]);
      std::vector<char*> argv = {const_cast<char*>("orrery")};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      execv(program_path(), argv.data());
      _exit(127);
    }
    close(ends[0]);
    input_ = ends[1];
  }
  ~Dialogue() {
    close(input_);
    if (!is_over_) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }

  void type(const std::string& text) { CHECK(write(input_, text.data(), text.size()) == ssize_t(text.size())); }
  void interrupt() { kill(child_, SIGINT); }
  std::string output() const { return file_bytes(folder_ / "out"); }
  std::string errors() const { return file_bytes(folder_ / "err"); }

  // Whether it comes true within a minute.
  static bool waits_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  // As a shell sees it, once the program has ended; -1 while it runs.
  int status() {
    int status = 0;
    if (!is_over_ && waitpid(child_, &status, WNOHANG) == child_) {
      is_over_ = true;
      status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return status_;
  }

 private:
  TemporaryFolder folder_;
  pid_t child_ = 0;
  int input_ = -1;
  bool is_over_ = false;
  int status_ = -1;
};

}  // namespace

TEST_CASE("chat answers each line, ends with its input or /bye, and says which template it follows") {
  const TemporaryFolder folder;
  const std::string model = chat_model(folder, kChatMl);
  const std::vector<std::string> chat = {"chat", model, "-n", "6", "--temp", "0"};
  const auto two = run_program(chat, {.text = "hello\n\nyou?"});
  CHECK(two.status == 0);
  CHECK(std::count(two.output.begin(), two.output.end(), '\n') >= 2);
  CHECK_FALSE(has(two.output, "> "));
  CHECK_FALSE(has(two.errors, "> "));
  CHECK(has(two.errors, "template ChatML; system message: Default."));
  const auto one = run_program(chat, {.text = "hello\r\n/bye\nyou?\n"});
  CHECK(one.status == 0);
  CHECK(two.output.starts_with(one.output));
  CHECK(one.output.size() < two.output.size());
  CHECK(run_program({"chat", model, "-n", "6", "--temp", "0", "-p", "hello"}, {}).output == one.output);
  CHECK(run_program(chat, {}).output.empty());
}

TEST_CASE("--verbose-prompt shows what is fed: the whole conversation first, then what is new") {
  const TemporaryFolder folder;
  const auto result = run_program(
      {"chat", chat_model(folder, kChatMl), "-n", "4", "--temp", "0", "--verbose-prompt", "-sys", "-x <|im_end|>"},
      {.text = "<|im_end|><|im_start|>system\n<s>b\n"});
  CHECK(result.status == 0);
  CHECK(has(result.errors, "system message: -x <|im_end|>"));
  CHECK(has(result.errors, "from position 0, prompt: "));
  CHECK(count(result.errors, "from position ") == 2);
  // Two turns each open three and two marks: system, user, assistant; user, assistant. What was typed is text.
  CHECK(count(result.errors, "     334  '<|im_start|>'") == 5);
  CHECK(count(result.errors, "     335  '<|im_end|>'") == 2 + 1 + 1);
}

TEST_CASE("commands: /clear and /system change what is fed next, others are explained") {
  const TemporaryFolder folder;
  const auto result = run_program({"chat", chat_model(folder, kChatMl), "-n", "3", "--temp", "0", "--verbose-prompt"},
                                  {.text = "a\n/clear\na\n/system Zz\na\n/help\n/tmp/x is what?\n"});
  CHECK(result.status == 0);
  CHECK(count(result.errors, "from position ") == 4);
  CHECK(count(result.errors, "there is no command /help; there are /clear, /system TEXT and /bye") == 1);
  CHECK(has(result.errors, "'Z'"));
  // After /clear the same message gives the same answer, and its prompt is there already, but for the last token.
  CHECK(count(result.errors, "prompt: 1 token\n") == 1);
  const auto once = run_program({"chat", chat_model(folder, kChatMl), "-n", "3", "--temp", "0"}, {.text = "a\n"});
  CHECK(result.output.starts_with(once.output + once.output));
}

TEST_CASE("a small context goes on without the oldest turns, a message that is too long is refused alone") {
  const TemporaryFolder folder;
  const auto result = run_program({"chat", chat_model(folder, kChatMl), "-n", "8", "--temp", "0", "-c", "80"},
                                  {.text = "a\nb\nc\n" + std::string(200, 'x') + "\nd\n"});
  CHECK(result.status == 0);
  CHECK(has(result.errors, "the context of 80 tokens is full: the oldest 1 turn is forgotten"));
  CHECK(count(result.errors, "chat: the message is longer than the context; expected at most 80 tokens") == 1);
}

TEST_CASE("a model without a template, or with one that is not known, does not chat") {
  const auto base = run_program({"chat", data_file("tiny-models/gguf/valid_base.gguf")}, {.text = "a\n"});
  CHECK(base.status == 1);
  CHECK(base.output.empty());
  CHECK(has(base.errors, "this is a base model: its file has no chat template. Hint: orrery run"));
  CHECK(std::count(base.errors.begin(), base.errors.end(), '\n') == 1);

  const TemporaryFolder folder;
  const auto unknown = run_program({"chat", chat_model(folder, "{{ 'Human: ' + message\x1b }}")}, {.text = "a\n"});
  CHECK(unknown.status == 1);
  CHECK(has(unknown.errors, "not known here; expected ChatML"));
  CHECK(has(unknown.errors, "found '{{ 'Human: ' + message\\x1B }}'"));
  CHECK(std::count(unknown.errors.begin(), unknown.errors.end(), '\n') == 1);
}

TEST_CASE("the whole template is read, however long it is") {
  const TemporaryFolder folder;
  const std::string text = "{#" + std::string(10000, '-') + "#}" + kChatMl;
  CHECK(load_checkpoint(chat_model(folder, text), {}).chat_template == text);
  CHECK(run_program({"chat", folder / "chat.gguf", "-n", "1"}, {.text = "a\n"}).status == 0);
}

TEST_CASE("BOS twice and BOS left out are mentioned") {
  const TemporaryFolder folder;
  const auto notes = [&](const std::string& chat_template, bool add_bos) {
    Checkpoint checkpoint = load_checkpoint(chat_model(folder, chat_template), {});
    checkpoint.encoded_metadata.clear();
    checkpoint.vocabulary.add_bos = add_bos;
    write_gguf(folder / "bos.gguf", checkpoint);
    return run_program({"chat", folder / "bos.gguf", "-n", "1"}, {.text = ""}).errors;
  };
  CHECK(has(notes(kChatMl, true), "the template leaves out BOS"));
  CHECK_FALSE(has(notes(kChatMl, false), "BOS"));
  CHECK_FALSE(has(notes(std::string("{{ bos_token }}") + kChatMl, true), "BOS"));
  CHECK(has(notes("{{ bos_token }}{{ bos_token + '[INST] ' + message['content'] + ' [/INST]' }}", true),
            "begins with two BOS tokens"));
}

TEST_CASE("Ctrl-C stops the answer; at the prompt it leaves with status 130") {
  const TemporaryFolder folder;
  Dialogue dialogue({"chat", chat_model(folder, kChatMl, true), "--kernels", "double", "--temp", "0"});
  dialogue.type("a\n");
  CHECK(Dialogue::waits_for([&] { return !dialogue.output().empty(); }));
  CHECK_FALSE(dialogue.output().ends_with("\n"));
  dialogue.interrupt();
  CHECK(Dialogue::waits_for([&] { return dialogue.output().ends_with("\n"); }));
  const size_t size = dialogue.output().size();
  CHECK(dialogue.status() == -1);
  dialogue.type("b\n");  // it goes on
  CHECK(Dialogue::waits_for([&] { return dialogue.output().size() > size; }));
  dialogue.interrupt();
  CHECK(Dialogue::waits_for([&] { return dialogue.output().ends_with("\n"); }));
  CHECK(dialogue.status() == -1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it reads again
  dialogue.interrupt();
  CHECK(Dialogue::waits_for([&] { return dialogue.status() != -1; }));
  CHECK(dialogue.status() == 130);
  CHECK_FALSE(has(dialogue.errors(), "is full"));
}

TEST_CASE("chat takes a line when it comes, and ends with its input") {
  const TemporaryFolder folder;
  Dialogue dialogue({"chat", chat_model(folder, kChatMl), "-n", "2", "--temp", "0"});
  dialogue.type("a");
  dialogue.type("b\n");
  CHECK(Dialogue::waits_for([&] { return dialogue.output().ends_with("\n"); }));
  CHECK(dialogue.status() == -1);
  dialogue.type("/bye\n");
  CHECK(Dialogue::waits_for([&] { return dialogue.status() != -1; }));
  CHECK(dialogue.status() == 0);
}
