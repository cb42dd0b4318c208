#include "claims/claims.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "support/expect_error.h"

using namespace orrery;
using orrery::test::contains;

namespace {

size_t count(char article, Verdict verdict) {
  size_t result = 0;
  for (const Claim& claim : claims()) result += claim.id[3] == article && claim.verdict == verdict;
  return result;
}

// "A02 A10-12" becomes CL-A02, CL-A10, CL-A11, CL-A12.
std::set<std::string> ids(const std::string& ranges) {
  std::set<std::string> result;
  for (size_t at = 0; at < ranges.size();) {
    const size_t end = std::min(ranges.find(' ', at), ranges.size());
    const std::string part = ranges.substr(at, end - at);
    const int first = std::stoi(part.substr(1, 2));
    const int last = part.size() > 3 ? std::stoi(part.substr(4)) : first;
    for (int i = first; i <= last; ++i) {
      result.insert("CL-" + part.substr(0, 1) + (i < 10 ? "0" : "") + std::to_string(i));
    }
    at = end + 1;
  }
  return result;
}

// What each lesson checks, from the plan of the lessons.
const std::map<std::string, std::string> kLessons = {
    {"01", "A17 A23-25 B02-05 B44 C05 C10-13 C15 C20"},
    {"02", "A01-08 A10-15 A17 A21 A22 A25 A44 B06-10 C07 C08 C16-19 C26-50 C54"},
    {"03", "C04-06"},
    {"04", "C06"},
    {"05", "C23 C25"},
    {"06", "A23 A55 C24"},
    {"07", "C02 C25"},
    {"08", "A59"},
    {"09", "A22 A28 A61 B28 C53 C54"},
    {"10", "A43-45 A47 B08"},
    {"11", "A06 A49 A60 B26 B27"},
    {"12", "C22"},
    {"13", "C25"},
    {"14", "A26 A27 B37 B38 C02 C03 C09 C13 C14 C20"},
    {"15", "A45 A46 A48 A53-55 B14-16"},
    {"16", "A09 A29-32 A56-58 B11 B12 B15 B44 C51"},
    {"17", "A49-52 B27"},
    {"18", "A16-20 A33-37 B17-19"},
    {"19", "A38-42 B13"},
    {"20", "A60 A62"},
    {"21", "A63"},
    {"22", "A64-66 B33"},
    {"23", "B36"},
    {"24", "A22 A26 B07 B20-25 B28 B31 B32 B34 B35 B37 B38 C52"},
    {"25", "C01 C21"},
    {"26", "B01 B29 B30 B39-43"},
};

// Columns on a console: Chinese characters and marks take two.
size_t columns(const std::string& line) {
  size_t sum = 0;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;
    sum += byte >= 0xE3 ? 2 : 1;
  }
  return sum;
}

}  // namespace

TEST_CASE("claims: 164 with the verdicts of the ledger") {
  CHECK(claims().size() == 164);
  const size_t expected[3][4] = {{21, 13, 17, 15}, {12, 18, 8, 6}, {27, 15, 10, 2}};
  for (const char article : {'A', 'B', 'C'}) {
    for (const Verdict v : {Verdict::right, Verdict::wrong, Verdict::misleading, Verdict::unverifiable}) {
      CAPTURE(article);
      CHECK(count(article, v) == expected[article - 'A'][static_cast<size_t>(v)]);
    }
  }
  std::set<std::string> all;
  for (const Claim& claim : claims()) all.insert(claim.id);
  CHECK(all == ids("A01-66 B01-44 C01-54"));
}

TEST_CASE("claims: every lesson has its own") {
  size_t places = 0;
  for (const auto& [lesson, ranges] : kLessons) {
    CAPTURE(lesson);
    std::set<std::string> found;
    for (const Claim* claim : claims_of_lesson(lesson)) found.insert(claim->id);
    CHECK(found == ids(ranges));
    places += found.size();
  }
  size_t named = 0;
  for (const Claim& claim : claims()) named += claim.lessons.size();
  CHECK(places == named);
  CHECK(claims_of_lesson("5").size() == 2);
  CHECK(claims_of_lesson("27").empty());
}

TEST_CASE("claims: formulas give the right values, and verdicts agree with what is stated") {
  size_t formulas = 0, compared = 0;
  for (const Claim& claim : claims()) {
    CAPTURE(claim.id);
    const auto ours = computed(claim);
    if (!ours) {
      CHECK(claim.stated.empty());
      continue;
    }
    ++formulas;
    const Quantity right = parse_quantity(claim.right);
    CHECK(right.dimension == ours->value.dimension);
    CHECK(claim.tolerance <= 0.3);
    const double allowed = claim.tolerance * std::abs(ours->value.value) + 1e-12;
    CHECK(std::abs(right.value - ours->value.value) <= allowed);
    if (claim.stated.empty()) continue;
    const Quantity stated = parse_quantity(claim.stated);
    CHECK(stated.dimension == ours->value.dimension);
    const bool agrees = std::abs(stated.value - ours->value.value) <= allowed;
    if (claim.verdict == Verdict::right) CHECK(agrees);
    if (claim.verdict == Verdict::wrong) CHECK_FALSE(agrees);
    compared += claim.verdict == Verdict::right || claim.verdict == Verdict::wrong;
  }
  CHECK(formulas >= 110);
  CHECK(compared >= 65);
}

TEST_CASE("claims: the ones that miss by the most miss by what the ledger says") {
  const auto factor = [](const char* id) {
    const Claim& claim = *find_claim(id);
    return parse_quantity(claim.stated).value / computed(claim)->value.value;
  };
  CHECK(factor("CL-A23") == doctest::Approx(1.06e12).epsilon(0.01));
  CHECK(factor("CL-A24") == doctest::Approx(1e-7).epsilon(0.01));
  CHECK(factor("CL-B04") == doctest::Approx(1e-4).epsilon(0.01));
  CHECK(factor("CL-B36") == doctest::Approx(46).epsilon(0.01));
  CHECK(factor("CL-C08") == doctest::Approx(25).epsilon(0.02));
  CHECK(factor("CL-A59") == doctest::Approx(11.9).epsilon(0.01));
  CHECK(factor("CL-B21") == doctest::Approx(10.2).epsilon(0.01));
  CHECK(factor("CL-B19") == doctest::Approx(1 / 12.0).epsilon(0.01));
  CHECK(factor("CL-B06") == doctest::Approx(1 / 16.0).epsilon(0.01));
}

TEST_CASE("claims: texts in both languages fit a console") {
  for (const Claim& claim : claims()) {
    for (const ClaimLanguage language : {ClaimLanguage::english, ClaimLanguage::chinese}) {
      CAPTURE(claim.id);
      CHECK(claim.says.in(language).size() > 8);
      CHECK(claim.why.in(language).size() > 8);
      const std::string text = checked_text(claim, language);
      CHECK(text.ends_with('\n'));
      for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        CAPTURE(line);
        CHECK(columns(line) <= 100);
        CHECK(!line.ends_with(' '));
        at = end + 1;
      }
      CHECK(claim_line(claim, language).find('\n') == std::string::npos);
    }
    // The one has no Chinese characters, the other has some.
    CHECK(std::none_of(claim.reference.begin(), claim.reference.end(), [](char c) { return (c & 0x80) != 0; }));
    CHECK(claim.why.chinese != claim.why.english);
    CHECK((claim.evidence == Evidence::none) == (claim.reference == "none"));
  }
}

TEST_CASE("claims: found in any spelling, printed as promised") {
  CHECK(find_claim("CL-A23") == find_claim("a23"));
  CHECK(find_claim("cl-b44") != nullptr);
  CHECK(find_claim("D01") == nullptr);
  CHECK_ERROR(checked_text("CL-A67"), "no such claim", "CL-A66");
  CHECK(checked_text("CL-B04") ==
        "CL-B04  B 2  wrong\n"
        "  says     1 PFLOPS is 千亿 operations a second.\n"
        "  formula  1 PFLOP/s\n"
        "  ours     1 PFLOP/s; stated 千亿 FLOP/s, 1/10,000 of that\n"
        "  verdict  wrong: 千亿 is 1e11. The digits beside it are right, the words too small by 1e4.\n"
        "  source   arithmetic (recomputed)\n");
  CHECK(contains(checked_text("CL-A38"), "ours     52 GB; stated 32 GB, 61.5% of that\n"));
  CHECK(contains(checked_text("CL-A40"), "ours     0%; stated 15%\n"));
  CHECK(contains(checked_text("CL-A59", ClaimLanguage::chinese), "原文 20 GB，是它的 11.9 倍\n"));
  std::vector<const Claim*> all;
  for (const Claim& claim : claims()) all.push_back(&claim);
  CHECK(totals_text(all) == "164 claims: 60 right, 46 wrong, 35 misleading, 23 unverifiable");
  CHECK(totals_text(all, ClaimLanguage::chinese) == "164 条说法：正确 60，错误 46，误导 35，无法核实 23");
}

TEST_CASE("claims: a table with a mistake is refused with its line") {
  const std::string good =
      "[CL-A01]\nsection A 1\nlessons 01 02\nverdict right\nsays x\nsays.zh x\nwhy x\nwhy.zh x\nreference x\n"
      "evidence recomputed\n";
  CHECK(parse_claims(good, "t").size() == 1);
  CHECK(parse_claims("# nothing\n", "t").empty());
  CHECK_ERROR(parse_claims("says x\n", "t"), "t, line 1");
  CHECK_ERROR(parse_claims(good + "says y\n", "t"), "t, line 11", "twice");
  CHECK_ERROR(parse_claims(good + "colour blue\n", "t"), "no field 'colour'");
  CHECK_ERROR(parse_claims(good + "formula 1 + 1\n", "t"), "come together");
  CHECK_ERROR(parse_claims(good + "why\n", "t"), "neither");
  CHECK_ERROR(parse_claims("[CL-A02]\nsection A 1\n", "t"), "t, line 1", "missing");
  std::string bad = good;
  bad.replace(bad.find("right"), 5, "maybe");
  CHECK_ERROR(parse_claims(bad, "t"), "maybe", "misleading");
}
