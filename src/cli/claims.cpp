// orrery claims: what three articles state in numbers, and what is right.
#include "claims/claims.h"

#include "base/error.h"
#include "cli/session.h"

namespace orrery::cli {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

int claims(const ClaimsOptions& options) {
  const ClaimLanguage language = options.language == "chinese" ? ClaimLanguage::chinese : ClaimLanguage::english;
  std::vector<const Claim*> chosen;
  if (options.which.empty()) {
    for (const Claim& claim : orrery::claims()) chosen.push_back(&claim);
    for (const Claim* claim : chosen) print(claim_line(*claim, language) + "\n");
    print("\n" + totals_text(chosen, language) + "\n");
    return kDone;
  }
  if (!is_number(options.which)) {
    print(checked_text(options.which, language));
    return kDone;
  }
  chosen = claims_of_lesson(options.which);
  if (chosen.empty()) {
    throw Error({.what = "no claim belongs to this lesson", .where = options.which, .expected = "01 to 26"});
  }
  for (const Claim* claim : chosen) print(checked_text(*claim, language) + "\n");
  print(totals_text(chosen, language) + "\n");
  return kDone;
}

}  // namespace orrery::cli
