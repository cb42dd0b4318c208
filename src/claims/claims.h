// The numbers that three articles state, and what is right: claims.table, evaluated. Lessons print checked_text().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/formula.h"

namespace orrery {

enum class Verdict { right, wrong, misleading, unverifiable };
enum class Evidence { confirmed, not_confirmed, recomputed, none };  // see claims.table
enum class ClaimLanguage { english, chinese };

struct Claim {
  struct Text {
    std::string english, chinese;
    const std::string& in(ClaimLanguage language) const;
  };

  std::string id;                    // "CL-A23"
  std::string section;               // "A 3.1": article and section
  std::vector<std::string> lessons;  // "01", "06"
  Verdict verdict = Verdict::unverifiable;
  Text says, why;
  std::string formula;   // in the language of src/units; empty: nothing can be computed
  std::string stated;    // the article's value; may be empty
  std::string right;     // the right value; empty where there is no formula
  double tolerance = 0;  // relative
  std::string reference;
  Evidence evidence = Evidence::none;
};

const std::vector<Claim>& claims();

// "CL-A23", also "cl-a23" and "a23"; nullptr where there is none.
const Claim* find_claim(std::string_view id);

// "05" or "5"; empty where no claim belongs to the lesson.
std::vector<const Claim*> claims_of_lesson(std::string_view lesson);

// What the formula gives; nothing where there is no formula.
std::optional<Evaluation> computed(const Claim& claim);

std::string verdict_name(Verdict verdict, ClaimLanguage language = ClaimLanguage::english);
std::string evidence_name(Evidence evidence, ClaimLanguage language = ClaimLanguage::english);

// What the source says, the formula with its numbers, our number, and the verdict, at most 100 columns wide:
//
//   CL-A23  A 3.1  wrong
//     says     One forward pass of GPT-3 takes 3.7e23 operations.
//     formula  2 FLOP * 175e9
//     ours     350 GFLOP; stated 3.7e23 FLOP, 1.06e12 times that
//     verdict  wrong: 2 for each parameter and token. ...
//     source   Brown et al. 2020, ... (confirmed)
std::string checked_text(const Claim& claim, ClaimLanguage language = ClaimLanguage::english);
std::string checked_text(std::string_view id, ClaimLanguage language = ClaimLanguage::english);  // throws Error

// One line: id, verdict, what is stated and what comes out, and the claim.
std::string claim_line(const Claim& claim, ClaimLanguage language = ClaimLanguage::english);

// "164 claims: 60 right, 46 wrong, 35 misleading, 23 unverifiable"
std::string totals_text(const std::vector<const Claim*>& claims, ClaimLanguage language = ClaimLanguage::english);

// Reads such a table. Throws Error that names the line for an unknown or missing field.
std::vector<Claim> parse_claims(std::string_view text, const std::string& where);

}  // namespace orrery
