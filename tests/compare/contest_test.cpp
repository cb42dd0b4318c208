// The comparison as a whole: budgets, rates, what is kept and what is shown.
#include "compare/contest.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <doctest/doctest.h>

#include "base/error.h"
#include "compare/model_costs.h"
#include "compare/pupils.h"
#include "compare/report.h"
#include "config/arithmetic.h"
#include "kernels/reference/backward.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// A bowl: the loss is half the square of the distance to 1 in each of four weights.
class Bowl : public Pupil {
 public:
  Bowl() : parameters_(std::vector<NamedShape>{{"w", {4}}}, DType::F64), kernels_(Threads(1)) {}
  Parameters& parameters() override { return parameters_; }
  BackwardKernels& backward_kernels() override { return kernels_; }
  Batch add_gradients() override {
    const Parameter& w = parameters_.all().front();
    double loss = 0;
    for (int i = 0; i < 4; ++i) {
      const double distance = values<double>(w.weight)[i] - 1;
      values<double>(w.gradient)[i] += distance;
      loss += distance * distance / 2;
    }
    return {loss, 10};
  }
  double judge() override {
    ++judged;
    return values<double>(parameters_.all().front().weight)[0];
  }
  int judged = 0;

 private:
  Parameters parameters_;
  ReferenceBackward<double> kernels_;
};

ContestSettings tiny_settings() {
  ContestSettings settings;
  settings.parameters = 3000;
  settings.minutes = 0.02;
  settings.parts = {"names", "recall", "gradient"};
  settings.rates = {3e-3};
  settings.gradient_steps = 20;
  settings.longest_noise = 5;
  settings.tokens_per_step = 64;
  return settings;
}

}  // namespace

TEST_CASE("compare: a budget of tokens is spent to the token, and gives its points") {
  Bowl bowl;
  const SchoolCurve curve = teach(bowl, {.rate = 0.05, .points = 5}, {.seconds = 0, .tokens = 2000}, {});
  CHECK(curve.is_finished);
  CHECK(curve.steps == 200);
  CHECK(curve.tokens == std::vector<double>{400, 800, 1200, 1600, 2000});
  CHECK(bowl.judged == 5);
  CHECK(curve.judged.back() == doctest::Approx(1).epsilon(0.02));  // it is learned
  CHECK(curve.training_loss.back() < 1e-2 * curve.training_loss.front());

  Bowl stopped;
  const SchoolCurve part = teach(stopped, {}, {.seconds = 0, .tokens = 2000}, [](double share) { return share < 0.5; });
  CHECK(!part.is_finished);
  CHECK(part.all_tokens == 1000);

  Bowl timed;
  const SchoolCurve seconds = teach(timed, {}, {.seconds = 0.02, .tokens = 0}, {});
  CHECK(seconds.is_finished);
  CHECK(seconds.all_seconds >= 0.02);
  CHECK(seconds.seconds.size() == seconds.judged.size());
}

TEST_CASE("compare: of several rates the one is chosen that learns the most") {
  const double rates[] = {1e-7, 3e-2, 1e-6};
  const RateChoice choice = choose_rate([] { return std::make_unique<Bowl>(); }, rates, {}, 0.06, {});
  CHECK(choice.is_finished);
  CHECK(choice.rate == 3e-2);
  CHECK(choice.losses.size() == 3);
  CHECK(choice.losses[1] < choice.losses[0]);
  CHECK(choice.tokens_per_second > 0);
}

TEST_CASE("compare: equal tokens take all models together as long as equal time does") {
  CHECK(budget_of(Equal::time, 3, {100, 200}).seconds == 3);
  const Budget budget = budget_of(Equal::tokens, 3, {100, 300});
  CHECK(budget.seconds == 0);
  CHECK(budget.tokens == 450);  // 4.5 s and 1.5 s
  CHECK(budget.tokens / 100.0 + budget.tokens / 300.0 == doctest::Approx(2 * 3));
  CHECK(budget.share(100, 225) == 0.5);
}

TEST_CASE("compare: all language models have about as many parameters, and cost what the formulas say") {
  for (const int64_t parameters : {20000, 60000}) {
    for (const Architecture architecture : all_contestants()) {
      const Contestant contestant = contestant_of(architecture, 50, parameters);
      CAPTURE(contestant.name());
      CAPTURE(parameters);
      CHECK(std::abs(double(contestant.parameters()) / double(parameters) - 1) < 0.06);
    }
  }
  for (const Architecture architecture : all_contestants()) {
    const Contestant contestant = contestant_of(architecture, 50, 20000);
    CAPTURE(contestant.name());
    const CountedCosts costs = count_costs(contestant, {5, 200});
    CHECK(costs.parameters_by_count == costs.parameters_by_formula);
    CHECK(costs.flops_by_count == costs.flops_by_formula);
    const bool is_recurrent = contestant.config.is_recurrent();
    CHECK((costs.state_bytes[1] == costs.state_bytes[0]) == is_recurrent);
    CHECK((costs.flops_by_count[1] == costs.flops_by_count[0]) == is_recurrent);
  }
}

TEST_CASE("compare: of a gradient arrives what finite differences find") {
  const Contestant contestant = contestant_of(Architecture::rnn, 5, 2000);
  const std::vector<double> reach = gradient_reach(contestant, 3, 1, 9, Threads(1));
  REQUIRE(reach.size() == 4);
  // The same model with embeddings of its own for each position: change one number of one row's embedding.
  Learner learner(contestant.config, DType::F64, Threads(1), 9);
  initialize_recurrent(learner.parameters, contestant.config, 9, contestant.initialization);
  Random random(9);
  std::vector<TokenId> text;
  for (int i = 0; i < 5; ++i) text.push_back(TokenId(random.below(5)));
  struct Nudge : Observer {
    int64_t row = 0, column = 0;
    double by = 0;
    bool wants(const Probe& probe) const override { return probe.name == "embed"; }
    void on_tensor(const Probe&, Tensor& tensor) override {
      values<double>(tensor)[row * tensor.shape[1] + column] += by;
    }
  } nudge;
  const auto loss = [&] {
    std::vector<Row> rows;
    for (int i = 0; i < 4; ++i) rows.push_back({.token = text[size_t(i)], .position = i, .wants_logits = i == 3});
    Arena arena;
    Observer* const observers[] = {&nudge};
    const Tensor logits = learner.model->forward(rows, *learner.forward, arena, observers);
    double losses[1];
    learner.forward->cross_entropy(logits, std::span(text).subspan(4, 1), losses);
    return losses[0];
  };
  for (int back = 0; back < 4; ++back) {
    double squares = 0;
    for (int64_t column = 0; column < contestant.config.d_model; ++column) {
      nudge.row = 3 - back;
      nudge.column = column;
      nudge.by = 1e-5;
      const double above = loss();
      nudge.by = -1e-5;
      squares += std::pow((above - loss()) / 2e-5, 2);
    }
    CHECK(reach[size_t(back)] == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
  }
}

TEST_CASE("compare: results are kept by their settings, with all that they say") {
  const TemporaryFolder folder;
  const std::string path = folder / "results";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Findings findings;
  findings.numbers["b"] = {1.0 / 3, -1e-300, nan, 4};
  findings.numbers["empty"] = {};
  findings.words["said"] = "a \"word\"\n\\ and 字";
  {
    ResultStore store(path, "settings \"1\"", false);
    CHECK(store.all().empty());
    store.put("one/two [3]", findings);
    store.put("other", {});
  }
  const ResultStore again(path, "settings \"1\"", false);
  CHECK(again.all().size() == 2);
  const std::vector<double>& found = again.at("one/two [3]").list("b");
  REQUIRE(found.size() == 4);
  CHECK(found[0] == 1.0 / 3);
  CHECK(found[1] == -1e-300);
  CHECK(std::isnan(found[2]));
  CHECK(again.at("one/two [3]").list("empty").empty());
  CHECK(again.at("one/two [3]").word("said") == findings.words["said"]);
  CHECK(std::isnan(again.at("nothing").number("b")));
  CHECK(ResultStore(path, "settings 2", false).all().empty());
  CHECK(ResultStore(path, "settings \"1\"", true).all().empty());

  std::ofstream(again.path()) << "{\"settings\": \"settings \\\"1\\\"\", \"pieces\": [{\"name\": 3}]}";
  CHECK_THROWS_AS(ResultStore(path, "settings \"1\"", false), Error);
  std::ofstream(again.path()) << "{\"settings\": ";
  CHECK_THROWS_AS(ResultStore(path, "settings \"1\"", false), Error);
}

TEST_CASE("compare: a comparison can be stopped, goes on where it was, and is shown as far as it is") {
  const TemporaryFolder folder;
  const ContestSettings settings = tiny_settings();
  std::vector<std::string> done;
  const auto watch = [&](double share, const std::string& piece) {
    CHECK(share >= 0);
    CHECK(share <= 1);
    if (done.empty() || done.back() != piece) done.push_back(piece);
    return true;
  };
  {
    ResultStore store(folder / "r", settings.key(), false);
    CHECK(!hold_contest(settings, store, [&](double share, const std::string& piece) {
      return watch(share, piece) && piece != "names learning lstm";
    }));
    CHECK(store.find("names learning rnn") != nullptr);
    CHECK(store.find("names learning lstm") == nullptr);
    const std::vector<Table> tables = tables_of(settings, store);
    CHECK(tables.size() == 3);  // names, gradient, verdicts
  }
  const std::vector<std::string> before = done;
  done.clear();
  ResultStore store(folder / "r", settings.key(), false);
  CHECK(hold_contest(settings, store, watch));
  CHECK(done.front() == "names learning lstm");
  CHECK(store.all().size() == 4 * 5);  // gradients, rates and learning of names and of recall
  done.clear();
  CHECK(hold_contest(settings, store, watch));
  CHECK(done.empty());

  const std::vector<Table> tables = tables_of(settings, store);
  CHECK(tables.size() == 4);
  for (const Table& table : tables) CHECK((table.rows.size() == 4 || table.columns[0] == "of"));
  for (const char* format : {"md", "csv", "json"}) CHECK(text_of(tables, format).size() > 500);
  const auto figures = figures_of(settings, store);
  CHECK(figures.size() == 4);
  for (const auto& [file, figure] : figures) {
    CAPTURE(file);
    CHECK(figure.series.size() == 4);
    CHECK(drawn(figure).width() == 960);
  }
}

TEST_CASE("compare: reach and arrival") {
  CHECK(reach_of({1, 10, 100}, {1, 0.95, 0.2}) == 10);
  CHECK(reach_of({1, 10, 100}, {1, 0.2, 0.95}) == 1);
  CHECK(reach_of({1, 10, 100}, {0.5, 1, 1}) == -1);
  CHECK(arrival_of({1, 2, 3}, {0.1, 0.9, 0.5}) == 2);
  CHECK(std::isnan(arrival_of({1, 2}, {0.1, 0.2})));
  CHECK(distances_up_to(100) == std::vector<int>{5, 10, 20, 50, 100});
  CHECK(distances_up_to(256).back() == 256);
  CHECK(asked_lengths(24, 1, 40) == std::vector<int>{4, 8, 12, 16, 20, 24, 28});
  CHECK(asked_lengths(24, 1, 4) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("compare: tables as Markdown, CSV and JSON") {
  const std::vector<Table> tables = {
      {.title = "T", .note = "n", .columns = {"model", "a, b"}, .rows = {{"x", "1,000"}, {"\"y\"", "2"}}}};
  CHECK(text_of(tables, "md") == "### T\n\nn\n\n| model | a, b |\n|---|---:|\n| x | 1,000 |\n| \"y\" | 2 |\n\n");
  CHECK(text_of(tables, "csv") == "# T\nmodel,\"a, b\"\nx,\"1,000\"\n\"\"\"y\"\"\",2\n");
  CHECK(text_of(tables, "json") ==
        "[\n {\"title\": \"T\", \"note\": \"n\", \"rows\": [\n  {\"model\": \"x\", \"a, b\": \"1,000\"},\n"
        "  {\"model\": \"\\\"y\\\"\", \"a, b\": \"2\"}]}\n]\n");
  CHECK_THROWS_AS(text_of(tables, "xml"), Error);
  CHECK_THROWS_AS(text_of({{.title = "T", .columns = {"a"}, .rows = {{"1", "2"}}}}, "md"), Error);
}

TEST_CASE("compare: settings that make no sense are refused by their name") {
  const auto refused = [](const auto& change) {
    ContestSettings settings;
    change(settings);
    CHECK_THROWS_AS(check(settings), Error);
  };
  check(ContestSettings());
  check(quick_contest());
  refused([](ContestSettings& s) { s.parts = {"costs", "beauty"}; });
  refused([](ContestSettings& s) { s.parts = {}; });
  refused([](ContestSettings& s) { s.tasks = {"sorting"}; });
  refused([](ContestSettings& s) { s.minutes = 0; });
  refused([](ContestSettings& s) { s.minutes = std::numeric_limits<double>::quiet_NaN(); });
  refused([](ContestSettings& s) { s.parameters = 1; });
  refused([](ContestSettings& s) { s.rates = {}; });
  refused([](ContestSettings& s) { s.rates = {-1}; });
  CHECK(quick_contest().key() != ContestSettings().key());
}
