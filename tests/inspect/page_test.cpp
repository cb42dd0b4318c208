// What stands in a page, read back as a browser would, and compared with what another observer saw.
#include "inspect/page.h"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "generate/generate.h"
#include "inspect/page_json.h"
#include "inspect/recorder.h"
#include "kernels/reference/reference_kernels.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;
using nlohmann::json;

namespace {

// Every token is a text that would like to be more than text.
class HostileTokenizer : public Tokenizer {
 public:
  std::vector<TokenId> encode(std::string_view, const EncodeOptions&) const override { return {}; }
  std::string piece_bytes(TokenId id, bool) const override {
    const char* const pieces[] = {"</script><script>alert(1)</script>", "\xE2\x80\xA8", "\xE2", "\"\\\n",
                                  "<!-- style -->"};
    return pieces[id % 5];
  }
  std::vector<MergeStep> explain(std::string_view) const override { return {}; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool adds_space_prefix() const override { return false; }

 private:
  Vocabulary vocabulary_;
};

struct Run {
  ModelConfig config;
  Transformer model;
  ReferenceKernels<float> kernels{Threads(1)};
  PageRecorder recorder;
  Lens lens;
  ExplainedSampler sampler{{}, 3};
  std::vector<Recorder> calls;  // of each forward pass, what a plain recorder saw
  std::vector<TokenId> tokens;

  explicit Run(int variant, const PageRecorder::Choice& choice = {})
      : config(small_config(variant)),
        model(random_model(config, DType::F32)),
        recorder(config, choice),
        lens(model, kernels, 3) {
    Arena arena;
    const auto state = model.new_sequence();
    tokens = random_ids(4, config.vocab_size, 9);
    std::span<const TokenId> unread = tokens;
    for (int i = 0; i < 3; ++i) {
      calls.emplace_back([](std::string_view) { return true; });
      Observer* const observers[] = {&calls.back(), &recorder, &lens};
      const Tensor logits = prefill(model, *state, unread, kernels, arena, {}, observers);
      Tensor row = reshape(logits, {logits.shape[1]});
      tokens.push_back(sampler.sample(row, tokens, state->length(), kernels));
      unread = std::span(tokens).last(1);
    }
  }
  std::string page(const Tokenizer* tokenizer = nullptr) const {
    return page_text({.config = config,
                      .model_name = "<b>",
                      .tokenizer = tokenizer,
                      .tokens = tokens,
                      .n_prompt = 4,
                      .settings = {},
                      .seed = 3,
                      .recorder = recorder,
                      .lens = lens,
                      .explanations = sampler.explanations()});
  }
};

json data_of(const std::string& page) {
  const std::string before = "<script type=\"application/json\" id=\"run\">";
  const size_t begin = page.find(before) + before.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::vector<uint8_t> bytes_of(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int n_bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(letters.find(letter));
    n_bits += 6;
    if (n_bits >= 8) bytes.push_back(static_cast<uint8_t>(bits >> (n_bits -= 8)));
  }
  return bytes;
}

double length_of_row(const Tensor& x, int64_t row) {
  double sum = 0;
  for (int64_t i = 0; i < x.shape[1]; ++i) sum += std::pow(values<float>(x)[row * x.shape[1] + i], 2);
  return std::sqrt(sum);
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("page: attention, lengths and the lens are those of the pass, call by call") {
  for (const int variant : {0, 5, 6}) {
    CAPTURE(variant);
    const Run run(variant);
    const json data = data_of(run.page());
    CHECK(data["computed"] == 6);
    CHECK(data["prompt"] == 4);
    CHECK(data["tokens"].get<std::vector<TokenId>>() == run.tokens);
    REQUIRE(data["attention"].size() == static_cast<size_t>(run.config.n_layers));
    const std::string attention_adds = variant == 6 ? "post_attention_norm" : "attn.out";
    const std::string feed_forward_adds = variant == 6 ? "post_ffw_norm" : "ffn.out";
    for (int layer = 0; layer < run.config.n_layers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      const auto roots = bytes_of(data["attention"][layer]["roots"]);
      CHECK(roots.size() == static_cast<size_t>(run.config.n_heads) * 6 * 7 / 2);
      size_t at = 0;
      for (int position = 0; position < 6; ++position) {
        const Recorder& call = run.calls[position < 4 ? 0 : static_cast<size_t>(position) - 3];
        const int64_t row = position < 4 ? position : 0;
        const Tensor& weights = call[block + "attn.weights"];  // [n_heads, rows, keys]
        for (int64_t head = 0; head < run.config.n_heads; ++head) {
          for (int64_t key = 0; key <= position; ++key, ++at) {
            const double weight = values<float>(weights)[(head * weights.shape[1] + row) * weights.shape[2] + key];
            CHECK(std::abs(roots[at] - 255 * std::sqrt(weight)) <= 0.501);
          }
        }
        const json& norms = data["norms"][layer];
        CHECK(norms["attention"][position] ==
              doctest::Approx(length_of_row(call[block + attention_adds], row)).epsilon(1e-3));
        CHECK(norms["feed_forward"][position] ==
              doctest::Approx(length_of_row(call[block + feed_forward_adds], row)).epsilon(1e-3));
        CHECK(norms["stream"][position] == doctest::Approx(length_of_row(call[block + "resid"], row)).epsilon(1e-3));
        CHECK(data["embedding"][position] == doctest::Approx(length_of_row(call["embed"], row)).epsilon(1e-3));
        const auto guesses = run.lens.at(layer + 1, position);
        CHECK(data["lens"][layer + 1][position][0] == guesses[0].token);
        CHECK(data["lens"][layer + 1][position][1] == doctest::Approx(guesses[0].probability).epsilon(1e-2));
      }
    }
    REQUIRE(data["steps"].size() == 3);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(data["steps"][i]["position"] == 4 + i);
      CHECK(data["steps"][i]["tokens"][data["steps"][i]["drawn"].get<size_t>()] == run.tokens[4 + i]);
      CHECK(data["steps"][i]["stages"].size() == 5);
    }
  }
}

TEST_CASE("page: keeps the attention of the layers chosen") {
  const Run run(6, [](std::string_view name) { return name == "blk.1.attn.weights"; });
  const json data = data_of(run.page());
  REQUIRE(data["attention"].size() == 1);
  CHECK(data["attention"][0]["layer"] == 1);
  CHECK(data["norms"].size() == 3);
}

TEST_CASE("page: one file that asks for nothing, whatever the tokens are") {
  const Run run(0);
  const HostileTokenizer tokenizer;
  const std::string page = run.page(&tokenizer);
  CHECK(count(page, "<script") == 2);
  CHECK(count(page, "</script>") == 2);
  CHECK(count(page, "<b>") == 0);
  for (const char* reaches_out : {"http:", "https:", "src=", "url(", "@import", "fetch(", "XMLHttpRequest"}) {
    CAPTURE(reaches_out);
    CHECK(count(page, reaches_out) == 0);
  }
  CHECK(count(page, "<!-- ") == 0);  // no place was left empty
  const json pieces = data_of(page)["pieces"];
  for (const auto& [id, piece] : pieces.items()) {
    const std::string expected = tokenizer.piece_bytes(std::stoi(id), true);
    CHECK(piece == (expected == "\xE2" ? "<0xE2>" : expected));
  }
}

TEST_CASE("page: text in JSON is safe inside a script") {
  CHECK(json_for_page("a\"b\\c\n\x01\x7F") == "\"a\\u0022b\\u005cc\\u000a\\u0001\\u007f\"");
  CHECK(json_for_page("</script>") == "\"\\u003c/script>\"");
  CHECK(json_for_page("\xE2\x80\xA8\xE2\x80\xA9") == "\"\\u2028\\u2029\"");
  CHECK(json_for_page("\xE5\x89\x8D\xE5\x89") == "\"\xE5\x89\x8D\\u003c0xE5>\\u003c0x89>\"");
  CHECK(json_for_page(0.25) == "0.25");
  CHECK(json_for_page(1.0 / 3) == "0.3333");
  CHECK(json_for_page(NAN) == "null");
  CHECK(json_for_page(INFINITY) == "null");
}

TEST_CASE("page: base64 is that of RFC 4648, section 10") {
  const auto encoded = [](std::string_view text) {
    return base64(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  };
  CHECK(encoded("").empty());
  CHECK(encoded("f") == "Zg==");
  CHECK(encoded("fo") == "Zm8=");
  CHECK(encoded("foo") == "Zm9v");
  CHECK(encoded("foob") == "Zm9vYg==");
  CHECK(encoded("fooba") == "Zm9vYmE=");
  CHECK(encoded("foobar") == "Zm9vYmFy");
}

TEST_CASE("page: one that would be too large is refused before it is computed") {
  ModelConfig config = small_config(0);
  config.n_layers = 28;
  config.n_heads = 16;
  check_page_size(config, 28, 300);
  CHECK_ERROR(check_page_size(config, 28, 1000), "too large for a browser", "1000 positions, attention of 448 heads",
              "-n", "--filter");
  check_page_size(config, 4, 1000);
  check_page_size(config, 0, 10000);
  // What was foretold is what it has become, within a fifth above the fixed part.
  const Run run(0);
  const auto size = static_cast<double>(run.page().size());
  CHECK(size < 1.2 * static_cast<double>(page_bytes(run.config, run.config.n_layers, 6)));
}
