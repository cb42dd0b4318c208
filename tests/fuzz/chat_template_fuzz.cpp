// Chat templates: whatever is recognised renders any conversation, and nobody's words become special tokens.
#include "fuzz/fuzz.h"
#include "text/chat_template.h"

using namespace orrery;
using namespace orrery::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto texts = pieces_of(text_of(data, size), 3);
  value_or_error([&] {
    const ChatTemplate found = recognise_chat_template(texts[0], "<s>", "</s>", "fuzz");
    const std::string said(texts[1]);
    const std::vector<ChatMessage> messages = {{.role = ChatRole::system, .text = std::string(texts[2])},
                                               {.role = ChatRole::user, .text = said},
                                               {.role = ChatRole::assistant, .text = said},
                                               {.role = ChatRole::user, .text = said}};
    for (size_t first : {0u, 1u}) {
      for (const bool asks : {true, false}) {
        chat_text(found.render(std::span(messages).subspan(first), asks));
      }
    }
  });
  return 0;
}
