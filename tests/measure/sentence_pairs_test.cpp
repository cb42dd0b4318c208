#include "measure/sentence_pairs.h"

#include <cmath>

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "support/expect_error.h"
#include "support/fake_model.h"
#include "support/files.h"
#include "support/models.h"
#include "support/vocabulary.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// Texts as bytes behind <s>; byte b is token 3 + b.
std::unique_ptr<Tokenizer> byte_tokenizer() {
  static VocabularyBuilder builder;
  if (builder.vocabulary().pieces.size() == 3) builder.add_bytes();
  builder.vocabulary().add_space_prefix = false;
  return builder.tokenizer();
}
constexpr int kTokens = 3 + 256;

// Each byte after <s> or a byte is as likely as any, but 'x' is twice as likely.
std::vector<double> likes_x(std::span<const TokenId>) {
  std::vector<double> logits(kTokens);
  logits[3 + 'x'] = std::log(2.0);
  return logits;
}

const std::string kHead = "paradigm\tfield\tgood\tbad\n";

}  // namespace

TEST_CASE("sentence pairs are read by the names of their columns, whatever ends a line") {
  const auto pairs = parse_sentence_pairs(
      "bad\tnote\tgood\tfield\tparadigm\r\nA cats.\tn\tA cat.\tsyntax\tagreement\r\n\xFF\xFE\t\tok\t\tp", "pairs.tsv");
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].paradigm == "agreement");
  CHECK(pairs[0].field == "syntax");
  CHECK(pairs[0].good == "A cat.");
  CHECK(pairs[0].bad == "A cats.");
  CHECK(pairs[1].bad == "\xFF\xFE");
  CHECK(pairs[1].paradigm == "p");
  CHECK(pairs[1].field.empty());
  CHECK(pairs[1].where == "pairs.tsv: line 3");
  const TemporaryFolder folder;
  CHECK(read_sentence_pairs(write_file(folder / "a.tsv", kHead + "p\tf\ta\tb\n")).size() == 1);
}

TEST_CASE("files that are no sentence pairs are refused with their line") {
  CHECK_ERROR(parse_sentence_pairs("", "x.tsv"), "does not name the column 'paradigm'", "x.tsv: line 1");
  CHECK_ERROR(parse_sentence_pairs("agreement\tsyntax\ta\tb\n", "x.tsv"), "column 'paradigm'", "agreement, syntax");
  CHECK_ERROR(parse_sentence_pairs("paradigm\tfield\tgood\n", "x.tsv"), "column 'bad'");
  CHECK_ERROR(parse_sentence_pairs(kHead, "x.tsv"), "no pairs", "x.tsv");
  CHECK_ERROR(parse_sentence_pairs(kHead + "p\tf\ta\tb\np\tf\ta\n", "x.tsv"), "number of columns", "line 3", "4", "3");
  CHECK_ERROR(parse_sentence_pairs(kHead + "p\tf\ta\tb\tc\n", "x.tsv"), "line 2", "5");
  CHECK_ERROR(parse_sentence_pairs(kHead + "p\tf\ta\tb\n\np\tf\ta\tb\n", "x.tsv"), "line 3", "found 1");
  CHECK_ERROR(parse_sentence_pairs(kHead + "p\tf\t\tb\n", "x.tsv"), "empty", "line 2");
  CHECK_ERROR(parse_sentence_pairs(kHead + "p\tf\ta\t\r\n", "x.tsv"), "empty", "line 2");
  CHECK_ERROR(read_sentence_pairs("/nowhere/x.tsv"), "x.tsv");
}

TEST_CASE("the likelier sentence wins, in total and not for each token; equal ones are not right") {
  const auto tokenizer = byte_tokenizer();
  FakeModel model(kTokens, 100, likes_x);
  ReferenceKernels<double> kernels{Threads(1)};
  Arena arena;
  const auto pairs =
      parse_sentence_pairs(kHead +
                               "one\tA\tax\tab\n"     // right
                               "two\tB\tab\tax\n"     // wrong
                               "one\tA\taaa\taaxx\n"  // right: shorter, though less likely for each token
                               "one\tB\tax\txa\n"     // equal
                               "two\tA\tab\taba\n",   // right
                           "x.tsv");
  const auto result = judge_sentence_pairs(model, *tokenizer, pairs, kernels, arena);
  CHECK(result.all.right == 3);
  CHECK(result.all.pairs == 5);
  CHECK(result.all.share() == doctest::Approx(0.6));
  REQUIRE(result.paradigms.size() == 2);
  CHECK(result.paradigms[0].first == "one");
  CHECK(result.paradigms[0].second.right == 2);
  CHECK(result.paradigms[0].second.pairs == 3);
  CHECK(result.paradigms[1].second.right == 1);
  CHECK(result.paradigms[1].second.pairs == 2);
  REQUIRE(result.fields.size() == 2);
  CHECK(result.fields[0].first == "A");
  CHECK(result.fields[0].second.right == 3);
  CHECK(result.fields[0].second.pairs == 3);
  CHECK(result.fields[1].second.right == 0);
  CHECK(PairTally{}.share() == 0);
}

TEST_CASE("a transformer's verdict on a pair is that of its logits") {
  const auto tokenizer = byte_tokenizer();
  ModelConfig config = small_config(0);
  Transformer model(random_model(config, DType::F32));
  ReferenceKernels<double> kernels{Threads(1)};
  Arena arena;
  const auto score = [&](const std::string& text) {
    std::vector<TokenId> ids = {1};
    for (const char c : text) ids.push_back(3 + static_cast<unsigned char>(c));
    const auto logits = uncached_logits(model, kernels, ids);
    double sum = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto row = std::span(logits).subspan(i * size_t(config.vocab_size), size_t(config.vocab_size));
      double total = 0;
      for (const double logit : row) total += std::exp(logit);
      sum += row[static_cast<size_t>(ids[i + 1])] - std::log(total);
    }
    return sum;
  };
  int right = 0;
  std::vector<SentencePair> pairs;
  for (const char* good : {"a cat", "some cats", "the dog"}) {
    for (const char* bad : {"an cat", "soma cats", "teh dog", "the dgo"}) {
      pairs.push_back({good, "f", good, bad, ""});
      right += score(good) > score(bad);
    }
  }
  REQUIRE(right > 0);
  REQUIRE(right < 12);
  const auto result = judge_sentence_pairs(model, *tokenizer, pairs, kernels, arena);
  CHECK(result.all.right == right);
  CHECK(result.paradigms.size() == 3);
}

TEST_CASE("a sentence that is too long is named, and judging can be stopped") {
  const auto tokenizer = byte_tokenizer();
  FakeModel model(kTokens, 10, likes_x);
  ReferenceKernels<double> kernels{Threads(1)};
  Arena arena;
  const auto fitting = parse_sentence_pairs(kHead + "p\tf\t0123456789\tb\n", "x.tsv");
  CHECK(judge_sentence_pairs(model, *tokenizer, fitting, kernels, arena).all.pairs == 1);
  const auto longer = parse_sentence_pairs(kHead + "p\tf\ta\tb\np\tf\ta\t01234567890\n", "x.tsv");
  CHECK_ERROR(judge_sentence_pairs(model, *tokenizer, longer, kernels, arena), "longer than the model's context",
              "x.tsv: line 3", "at most 10", "11");
  std::string many = kHead;
  for (int i = 0; i < 3000; ++i) many += "p\tf\tabc\tabx\n";
  const auto part = judge_sentence_pairs(model, *tokenizer, parse_sentence_pairs(many, "x.tsv"), kernels, arena,
                                         [](int64_t, int64_t all) {
                                           CHECK(all == 6000);
                                           return false;
                                         });
  CHECK(part.all.pairs > 0);
  CHECK(part.all.pairs < 3000);
}
