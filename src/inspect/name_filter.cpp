#include "inspect/name_filter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"

namespace orrery {
namespace {

// Names are short: a pattern that needs more than this goes back and forth for ever.
constexpr uint32_t kMatchSteps = 100'000;

std::string pcre2_message(int code) {
  PCRE2_UCHAR message[256] = "unknown error";
  pcre2_get_error_message(code, message, sizeof message);
  return reinterpret_cast<const char*>(message);
}

PCRE2_SPTR pcre2_text(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

NameFilter::NameFilter(const std::string& pattern) : pattern_(pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_ = {pcre2_compile(pcre2_text(pattern), pattern.size(), PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr),
           pcre2_code_free};
  if (code_ != nullptr) return;
  throw Error({.what = "the regular expression cannot be used: " + pcre2_message(error),
               .where = "character " + std::to_string(offset),
               .found = pattern});
}

bool NameFilter::operator()(std::string_view name) const {
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> match{pcre2_match_data_create(1, nullptr),
                                                                             pcre2_match_data_free};
  const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> context{
      pcre2_match_context_create(nullptr), pcre2_match_context_free};
  pcre2_set_match_limit(context.get(), kMatchSteps);
  const int result = pcre2_match(code_.get(), pcre2_text(name), name.size(), 0, 0, match.get(), context.get());
  if (result == PCRE2_ERROR_NOMATCH) return false;
  if (result >= 0) return true;
  throw Error({.what = "the regular expression cannot be used: " + pcre2_message(result),
               .where = std::string(name),
               .found = pattern_});
}

}  // namespace orrery
