#include "text/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <algorithm>
#include <iterator>

#include <pcre2.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/utf8.h"

namespace orrery {
namespace {

// Of the machine code that PCRE2 makes of a pattern. Only groups that repeat need it: some 50 bytes for each time.
constexpr size_t kMatchStackBytes = size_t{64} << 20;
constexpr uint32_t kMatchHeapKibibytes = 256 << 10;  // the same where PCRE2 cannot make machine code

PCRE2_SPTR pcre2_text(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string pcre2_message(int code) {
  PCRE2_UCHAR message[256] = "unknown error";
  pcre2_get_error_message(code, message, sizeof message);
  return reinterpret_cast<const char*>(message);
}

// For PCRE2, \s has U+180E, a Mongolian letter that is no white space since Unicode 6.3. Before 10.40 it has no other
// way to say it.
std::string with_unicode_spaces(std::string_view pattern) {
  if (PCRE2_MAJOR == 10 && PCRE2_MINOR < 40) return std::string(pattern);
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view two = pattern.substr(i, 2);
    if (two == "\\s" || two == "\\S") {
      out += two == "\\s" ? "\\p{White_Space}" : "\\P{White_Space}";
    } else {
      out += pattern[i] == '\\' ? two : two.substr(0, 1);
    }
    if (pattern[i] == '\\') ++i;
  }
  return out;
}

pcre2_code* compiled(const std::string& pattern, const std::string& where) {
  if (pattern.find("&&[") != std::string::npos) {  // PCRE2 would take it as so many characters
    throw Error({.what = "a pattern that cuts text into pre-tokens has an intersection of character classes (&&), "
                         "which is not supported",
                 .where = where,
                 .found = pattern});
  }
  int error = 0;
  PCRE2_SIZE offset = 0;
  const std::string adapted = with_unicode_spaces(pattern);
  // PCRE2_UCP: \d and \w know all scripts. PCRE2_MULTILINE: $ is the end of a line, as tokenizer.json means it.
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;  // \C halves characters
  pcre2_code* code = pcre2_compile(pcre2_text(adapted), adapted.size(), options, &error, &offset, nullptr);
  if (code == nullptr) {
    throw Error({.what = "the pattern that cuts text into pre-tokens cannot be used: " + pcre2_message(error),
                 .where = where,
                 .found = pattern});
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it cannot, PCRE2 matches without
  return code;
}

// How many bytes at the beginning are well-formed UTF-8.
size_t utf8_prefix(std::string_view text) {
  size_t size = 0;
  while (const size_t length = utf8_length(text.substr(size))) size += length;
  return size;
}

// Unicode Standard Annex 15. utf8proc could do it in one call, but sorts long runs of accents in quadratic time.
std::string in_nfc(std::string_view text) {
  std::vector<utf8proc_int32_t> points;
  for (size_t size = 0; !text.empty(); text.remove_prefix(size)) {
    utf8proc_int32_t point = 0, parts[32];
    size = static_cast<size_t>(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                static_cast<utf8proc_ssize_t>(text.size()), &point));
    const auto n = utf8proc_decompose_char(point, parts, std::size(parts), UTF8PROC_DECOMPOSE, nullptr);
    points.insert(points.end(), parts, parts + n);
  }
  const auto order = [](utf8proc_int32_t point) { return utf8proc_get_property(point)->combining_class; };
  for (auto end = points.begin(), begin = end; begin != points.end(); begin = end) {
    begin = std::find_if(end, points.end(), order);
    end = std::find_if_not(begin, points.end(), order);
    std::stable_sort(begin, end, [&](auto a, auto b) { return order(a) < order(b); });
  }
  const auto n = utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                                          static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string composed;
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(points[static_cast<size_t>(i)], bytes);
    composed.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  return composed;
}

}  // namespace

// What PCRE2 needs while it matches.
struct PreTokenizer::Scratch {
  explicit Scratch(size_t n_patterns) {
    pcre2_set_heap_limit(context.get(), kMatchHeapKibibytes);
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    for (size_t i = 0; i < n_patterns; ++i) {
      matches.emplace_back(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
    }
  }
  std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> context{pcre2_match_context_create(nullptr),
                                                                               pcre2_match_context_free};
  std::unique_ptr<pcre2_jit_stack, void (*)(pcre2_jit_stack*)> stack{
      pcre2_jit_stack_create(32 << 10, kMatchStackBytes, nullptr), pcre2_jit_stack_free};
  // One for each pattern: the second cuts what the first has just found.
  std::vector<std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)>> matches;
};

PreTokenizer::PreTokenizer(const PreTokenization& rules, const std::string& where) : nfc_(rules.nfc) {
  for (const std::string& pattern : rules.patterns) {
    patterns_.emplace_back(compiled(pattern, where), pcre2_code_free);
  }
  if (!patterns_.empty()) return;
  if (rules.name.empty()) {
    throw Error(
        {.what = "the vocabulary does not say how text is to be cut before merging",
         .where = where,
         .hint = "GGUF files made before May 2024 do not, and a guess would spoil the model: fetch a newer one"});
  }
  throw Error({.what = "the pre-tokenizer '" + rules.name + "' is not known, and a guess would spoil the model",
               .where = where});
}

void PreTokenizer::cut(std::string_view text, const std::function<void(std::string_view)>& found) const {
  Scratch scratch(patterns_.size());
  while (!text.empty()) {
    const size_t size = utf8_prefix(text);
    if (size == 0) {
      found(text.substr(0, 1));
    } else if (nfc_) {
      cut_with(0, in_nfc(text.substr(0, size)), scratch, found);
    } else {
      cut_with(0, text.substr(0, size), scratch, found);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
}

void PreTokenizer::cut_with(size_t pattern, std::string_view text, Scratch& scratch,
                            const std::function<void(std::string_view)>& found) const {
  if (pattern == patterns_.size()) return found(text);
  size_t done = 0;  // of `text`
  const auto cut_off = [&](size_t end) {
    if (end > done) cut_with(pattern + 1, text.substr(done, end - done), scratch, found);
    done = end;
  };
  pcre2_match_data* match = scratch.matches[pattern].get();
  for (size_t from = 0; from < text.size();) {
    const int result = pcre2_match(patterns_[pattern].get(), pcre2_text(text), text.size(), from, PCRE2_NO_UTF_CHECK,
                                   match, scratch.context.get());
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) throw Error({.what = "the text cannot be cut into pre-tokens: " + pcre2_message(result)});
    const size_t begin = pcre2_get_ovector_pointer(match)[0];
    const size_t end = pcre2_get_ovector_pointer(match)[1];
    cut_off(begin);
    cut_off(end);
    // An empty match only cuts; the next one is looked for one character later.
    from = end > begin ? end : end + std::max<size_t>(utf8_length(text.substr(end)), 1);
  }
  cut_off(text.size());
}

}  // namespace orrery
