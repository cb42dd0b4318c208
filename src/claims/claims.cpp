#include "claims/claims.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "base/error.h"

namespace orrery {
namespace {

constexpr char kClaims[] =
#include "claims/claims.table.inc"
    ;

constexpr std::array<std::pair<const char*, const char*>, 4> kVerdicts = {
    {{"right", "正确"}, {"wrong", "错误"}, {"misleading", "误导"}, {"unverifiable", "无法核实"}}};
constexpr std::array<std::pair<const char*, const char*>, 4> kEvidence = {
    {{"confirmed", "已核对"}, {"not confirmed", "未核对"}, {"recomputed", "已重算"}, {"none", "无"}}};

template <size_t N>
size_t index_of(const std::array<std::pair<const char*, const char*>, N>& names, const std::string& name,
                const std::string& where) {
  std::string all;
  for (size_t i = 0; i < N; ++i) {
    if (name == names[i].first) return i;
    all += (i == 0 ? "" : ", ") + std::string(names[i].first);
  }
  throw Error({.what = "a word is not known", .where = where, .expected = "one of " + all, .found = name});
}

using Fields = std::map<std::string, std::string>;

// Every field may stand once; those of the first list must.
void check_fields(const Fields& fields, const std::string& where) {
  static constexpr const char* kNeeded[] = {"section", "lessons", "verdict",   "says",    "says.zh",
                                            "why",     "why.zh",  "reference", "evidence"};
  static constexpr const char* kOptional[] = {"formula", "stated", "right", "tolerance"};
  for (const char* name : kNeeded) {
    if (!fields.contains(name)) throw Error({.what = std::string("the field ") + name + " is missing", .where = where});
  }
  for (const auto& [name, value] : fields) {
    const auto is_it = [&name = name](const char* known) { return name == known; };
    if (std::any_of(std::begin(kNeeded), std::end(kNeeded), is_it)) continue;
    if (std::any_of(std::begin(kOptional), std::end(kOptional), is_it)) continue;
    throw Error({.what = "there is no field '" + name + "'", .where = where});
  }
  if (fields.contains("formula") != fields.contains("right") ||
      fields.contains("right") != fields.contains("tolerance")) {
    throw Error({.what = "formula, right and tolerance come together", .where = where});
  }
}

Claim claim_of(const std::string& id, const Fields& fields, const std::string& where) {
  check_fields(fields, where);
  const auto value = [&](const char* name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
  };
  Claim claim{.id = id, .section = value("section")};
  std::istringstream lessons(value("lessons"));
  for (std::string lesson; lessons >> lesson;) claim.lessons.push_back(lesson);
  claim.verdict = static_cast<Verdict>(index_of(kVerdicts, value("verdict"), where));
  claim.says = {value("says"), value("says.zh")};
  claim.why = {value("why"), value("why.zh")};
  claim.formula = value("formula");
  claim.stated = value("stated");
  claim.right = value("right");
  if (!claim.formula.empty()) claim.tolerance = parse_quantity(value("tolerance")).value;
  claim.reference = value("reference");
  claim.evidence = static_cast<Evidence>(index_of(kEvidence, value("evidence"), where));
  return claim;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return result;
}

}  // namespace

const std::string& Claim::Text::in(ClaimLanguage language) const {
  return language == ClaimLanguage::english ? english : chinese;
}

std::vector<Claim> parse_claims(std::string_view text, const std::string& where) {
  std::vector<Claim> result;
  std::string id, begin;
  Fields fields;
  const auto finish = [&] {
    if (!id.empty()) result.push_back(claim_of(id, fields, begin));
    fields.clear();
  };
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string here = where + ", line " + std::to_string(++number);
    if (line.empty() || line[0] == '#') continue;
    if (line.front() == '[' && line.back() == ']') {
      finish();
      id = line.substr(1, line.size() - 2);
      begin = here;
      continue;
    }
    const size_t end = line.find(' ');
    const size_t value = line.find_first_not_of(' ', end);
    if (id.empty() || end == std::string::npos || value == std::string::npos) {
      throw Error({.what = "this is neither [ID] nor a field with a value", .where = here, .found = line});
    }
    if (!fields.emplace(line.substr(0, end), line.substr(value)).second) {
      throw Error({.what = "the field " + line.substr(0, end) + " stands twice", .where = here});
    }
  }
  finish();
  return result;
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = parse_claims(kClaims, "claims.table");
  return all;
}

const Claim* find_claim(std::string_view id) {
  std::string wanted = upper(id);
  if (!wanted.starts_with("CL-")) wanted = "CL-" + wanted;
  for (const Claim& claim : claims()) {
    if (claim.id == wanted) return &claim;
  }
  return nullptr;
}

std::vector<const Claim*> claims_of_lesson(std::string_view lesson) {
  const std::string wanted = (lesson.size() == 1 ? "0" : "") + std::string(lesson);
  std::vector<const Claim*> result;
  for (const Claim& claim : claims()) {
    if (std::find(claim.lessons.begin(), claim.lessons.end(), wanted) != claim.lessons.end()) result.push_back(&claim);
  }
  return result;
}

std::optional<Evaluation> computed(const Claim& claim) {
  if (claim.formula.empty()) return std::nullopt;
  return evaluate(claim.formula);
}

std::string verdict_name(Verdict verdict, ClaimLanguage language) {
  const auto& [english, chinese] = kVerdicts[static_cast<size_t>(verdict)];
  return language == ClaimLanguage::english ? english : chinese;
}

std::string evidence_name(Evidence evidence, ClaimLanguage language) {
  const auto& [english, chinese] = kEvidence[static_cast<size_t>(evidence)];
  return language == ClaimLanguage::english ? english : chinese;
}

}  // namespace orrery
