// A character LSTM that others trained on Shakespeare: the loss that it should have, and what it writes.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "data/public_data.h"
#include "generate/generate.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "measure/perplexity.h"
#include "recurrent/recurrent_model.h"
#include "support/files.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("char-lstm-shakespeare has PyTorch's loss on its own text, and writes lines of a play") {
  const auto checkpoint = std::make_shared<const Checkpoint>(load_checkpoint(data_path("char-lstm-shakespeare")));
  const auto tokenizer = make_tokenizer(checkpoint->vocabulary, checkpoint->path);
  RecurrentModel model(checkpoint);
  FastKernels fast{Threads(2)};
  Arena arena;
  const std::string text = file_bytes(data_path("tinyshakespeare/input.txt")).substr(0, 100'000);
  const std::vector<TokenId> ids = tokenizer->encode(text, {});
  CHECK(ids.size() == text.size());
  const auto length = static_cast<int>(ids.size());
  const PerplexityResult result = perplexity(model, ids, {.window = length, .stride = length - 1}, fast, arena);
  // torch.nn.LSTM of PyTorch 1.13 on the same 100,000 characters, from zeros.
  CHECK(std::abs(result.mean_loss - 1.306949) < 1e-5);

  const std::vector<TokenId> start(ids.begin(), ids.begin() + 300);
  ReferenceKernels<double> exact{Threads(2)};
  const std::vector<double> expected = uncached_logits(model, exact, start);
  CHECK(largest_difference(uncached_logits(model, fast, start), expected) < 1e-4 * largest_magnitude(expected));

  SamplerSettings settings;
  settings.temperature = 0.6;
  Sampler sampler(settings, 1);
  const auto prompt = tokenizer->encode("\n\nKING", {});
  const auto made = generate(model, prompt, sampler, fast, arena, {.max_tokens = 600}, [](TokenId) { return true; });
  const std::string written = tokenizer->decode(made.ids);
  CAPTURE(written);
  // Mostly words that the text has, in lines of a verse's length, and somebody is named who speaks.
  size_t words = 0, known = 0, begin = 0;
  for (size_t i = 0; i <= written.size(); ++i) {
    if (i < written.size() && std::isalpha(static_cast<unsigned char>(written[i])) != 0) continue;
    if (i - begin >= 3) {
      ++words;
      known += text.find(written.substr(begin, i - begin)) != std::string::npos ? 1 : 0;
    }
    begin = i + 1;
  }
  CHECK(words > 60);
  CHECK(known > words * 7 / 10);
  CHECK(std::ranges::count(written, '\n') > 8);
  CHECK(written.find(":\n") != std::string::npos);
}
