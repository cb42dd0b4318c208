#include "units/formula.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "units/unit.h"

namespace orrery {
namespace {

constexpr size_t kLongest = 10000;  // bytes
constexpr int kDeepest = 100;       // brackets within brackets: each takes a few frames of the stack

bool is_letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Evaluation formula() {
    Evaluation result;
    result.value = sum();
    if (take_word("in")) {
      skip_spaces();
      const size_t begin = at_;
      result.one = product();
      result.unit = std::string(text_.substr(begin, at_ - begin));
      while (result.unit.ends_with(' ')) result.unit.pop_back();
      if (result.one.dimension != result.value.dimension) {
        at_ = begin;
        guarded([&]() -> Quantity {
          refuse_mixture("this cannot be converted", result.value.dimension, result.one.dimension);
        });
      }
      if (result.one.value == 0) fail("the unit of the answer is zero");
      in_range({result.in_unit(), {}});
    }
    skip_spaces();
    if (at_ < text_.size()) fail("this was not expected here", "an operator or the end", found());
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& expected = "", const std::string& seen = "",
                         const std::string& hint = "") const {
    throw Error({.what = what, .where = where(), .expected = expected, .found = seen, .hint = hint});
  }

  std::string where() const {
    size_t characters = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i)
      characters += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    return "formula, character " + std::to_string(characters);
  }

  std::string found() const {
    if (at_ >= text_.size()) return "the end";
    return "'" + std::string(text_.substr(at_, std::max<size_t>(1, utf8_length(text_.substr(at_))))) + "'";
  }

  // Adds the place to what the arithmetic of quantities refuses.
  template <class Make>
  Quantity guarded(const Make& make) const {
    try {
      return in_range(make());
    } catch (const Error& error) {
      ErrorParts parts = error.parts();
      if (parts.where.empty()) parts.where = where();
      throw Error(parts);
    }
  }

  Quantity in_range(const Quantity& q) const {
    if (!std::isfinite(q.value)) fail("the result is no number that a computer holds", "a result below 1.8e308");
    return q;
  }

  void skip_spaces() {
    for (;;) {
      const std::string_view rest = text_.substr(std::min(at_, text_.size()));
      if (rest.starts_with(' ') || rest.starts_with('\t') || rest.starts_with('\n')) {
        ++at_;
      } else if (rest.starts_with("　")) {  // U+3000, the space between Chinese characters
        at_ += 3;
      } else {
        return;
      }
    }
  }

  bool take(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (name_at(at_) != word) return false;
    at_ += word.size();
    return true;
  }

  // A unit or function that begins at `at`: letters and digits, Chinese characters, or one of $ %. Number words are
  // no names, so 万 ends one.
  std::string_view name_at(size_t at) const {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with('$') || rest.starts_with('%')) return rest.substr(0, 1);
    for (const std::string_view special : {"PF-days", "PF-day"}) {
      if (rest.starts_with(special)) return special;
    }
    size_t length = 0;
    while (length < rest.size()) {
      const auto c = static_cast<unsigned char>(rest[length]);
      if (is_letter(c) || (length > 0 && is_digit(c))) {
        ++length;
        continue;
      }
      const size_t bytes = utf8_length(rest.substr(length));
      if (bytes < 2 || is_sign(rest.substr(length)) || leading_number_words(rest.substr(length)).length > 0) break;
      length += bytes;
    }
    return rest.substr(0, length);
  }

  static bool is_sign(std::string_view text) {
    for (const std::string_view sign : {"×", "·", "÷", "−", "（", "）", "，", "　"}) {
      if (text.starts_with(sign)) return true;
    }
    return false;
  }

  Quantity sum() {
    if (++depth_ > kDeepest)
      fail("the brackets are nested too deeply", "at most " + std::to_string(kDeepest) + " levels");
    Quantity result = product();
    for (;;) {
      if (take("+")) {
        const Quantity right = product();
        result = guarded([&] { return result + right; });
      } else if (take("-") || take("−")) {
        const Quantity right = product();
        result = guarded([&] { return result - right; });
      } else {
        --depth_;
        return result;
      }
    }
  }

  Quantity product() {
    Quantity result = signed_quantity();
    for (;;) {
      if (take("*") || take("×") || take("·")) {
        const Quantity right = signed_quantity();
        result = guarded([&] { return result * right; });
      } else if (take("/") || take("÷")) {
        const Quantity right = signed_quantity();
        if (right.value == 0) fail("this divides by zero");
        result = guarded([&] { return result / right; });
      } else {
        return result;
      }
    }
  }

  Quantity signed_quantity() {
    bool is_negative = false;
    for (;;) {  // a loop: a thousand signs must not take a thousand frames
      if (take("-") || take("−")) {
        is_negative = !is_negative;
      } else if (!take("+")) {
        break;
      }
    }
    Quantity result = with_unit(raised());
    if (is_negative) result.value = -result.value;
    return result;
  }

  Quantity raised() {
    const Quantity base = primary();
    skip_spaces();
    if (!take("^")) return base;
    if (++depth_ > kDeepest)
      fail("the powers are nested too deeply", "at most " + std::to_string(kDeepest) + " levels");
    bool is_negative = false;
    while (take("-")) is_negative = !is_negative;
    const Quantity exponent = raised();
    --depth_;
    return raise(base, exponent, is_negative);
  }

  Quantity raise(const Quantity& base, const Quantity& exponent, bool is_negative) const {
    if (!exponent.dimension.is_number()) {
      fail("an exponent must be a plain number", "a number without a unit", dimension_text(exponent.dimension));
    }
    const double power_of = is_negative ? -exponent.value : exponent.value;
    if (base.value == 0 && power_of < 0) fail("this divides by zero");
    Dimension dimension = base.dimension;
    if (!dimension.is_number()) {
      if (power_of != std::round(power_of) || std::abs(power_of) > 100) {
        fail("a unit can only be raised to a small whole number", "such as 2", significant(power_of));
      }
      dimension = guarded([&] { return Quantity{1, power(base.dimension, static_cast<int>(power_of))}; }).dimension;
    }
    return in_range({std::pow(base.value, power_of), dimension});
  }

  // Units that follow directly: "GB", "GB/s", "m^2".
  Quantity with_unit(Quantity number) {
    skip_spaces();
    std::string_view name = name_at(at_);
    if (name.empty() || name == "in" || is_call(name)) return number;
    number = guarded([&] { return number * unit(name); });
    while (at_ + 1 < text_.size() && text_[at_] == '/') {
      name = name_at(at_ + 1);
      if (name.empty() || text_.substr(at_ + 1 + name.size()).starts_with('(')) break;
      ++at_;
      number = guarded([&] { return number / unit(name); });
    }
    return number;
  }

  bool is_call(std::string_view name) const { return text_.substr(at_ + name.size()).starts_with('('); }

  // Takes the name at `at_` and a whole power after it.
  Quantity unit(std::string_view name) {
    const auto found_unit = find_unit(name);
    if (!found_unit) refuse_unit(std::string(name), where());
    at_ += name.size();
    if (at_ >= text_.size() || text_[at_] != '^') return *found_unit;
    ++at_;
    const bool is_negative = at_ < text_.size() && text_[at_] == '-';
    if (is_negative) ++at_;
    return raise(*found_unit, number(), is_negative);
  }

  Quantity number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range) fail("this number is out of range", "1e-307 to 1e308");
    if (status != std::errc()) fail("a number is missing", "a number", found());
    at_ += static_cast<size_t>(end - begin);
    if (!std::isfinite(value)) fail("this is no number", "digits");
    if (at_ + 1 < text_.size() && text_[at_] == ',' && is_digit(static_cast<unsigned char>(text_[at_ + 1])) &&
        calls_ == 0) {
      fail("digits are not grouped by commas", "1000000 or 1e6");
    }
    return {value, {}};
  }

  Quantity primary() {
    skip_spaces();
    if (at_ >= text_.size()) fail("the formula ends too soon", "a number, a unit or a bracket", "the end");
    if (take("(") || take("（")) {
      const Quantity inner = sum();
      if (!take(")") && !take("）")) fail("a bracket is not closed", "')'", found());
      return inner;
    }
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (is_digit(c) || c == '.') return with_words(number());
    if (leading_number_words(text_.substr(at_)).length > 0) return with_words({1, {}});
    if (c == '$' && at_ + 1 < text_.size() && is_digit(static_cast<unsigned char>(text_[at_ + 1]))) {
      ++at_;  // $32.77
      return with_words(number()) * *find_unit("$");
    }
    const std::string_view name = name_at(at_);
    if (name.empty() || name == "in") fail("this was not expected here", "a number, a unit or a bracket", found());
    if (is_call(name)) return call(name);
    return with_unit({1, {}});
  }

  Quantity with_words(Quantity value) {
    skip_spaces();
    const NumberWords words = leading_number_words(text_.substr(at_));
    at_ += words.length;
    value.value *= words.value;
    return in_range(value);
  }

  Quantity call(std::string_view name) {
    const size_t begin = at_;
    at_ += name.size() + 1;
    ++calls_;
    std::vector<Quantity> arguments{sum()};
    while (take(",") || take("，")) arguments.push_back(sum());
    if (!take(")")) fail("a bracket is not closed", "')'", found());
    --calls_;
    const size_t end = at_;
    at_ = begin;  // a mistake is reported where the function stands
    const Quantity result = guarded([&] { return apply(name, arguments); });
    at_ = end;
    return result;
  }

  Quantity apply(std::string_view name, const std::vector<Quantity>& arguments) const {
    const Quantity& x = arguments[0];
    if (name == "min" || name == "max") return extreme(name == "min", arguments);
    if (arguments.size() != 1) {
      fail(std::string(name) + " takes one argument", "1", std::to_string(arguments.size()));
    }
    if (name == "ceil") return {std::ceil(x.value), x.dimension};
    if (name == "floor") return {std::floor(x.value), x.dimension};
    if (name == "abs") return {std::abs(x.value), x.dimension};
    if (name == "sqrt") return square_root(x);
    const bool is_logarithm = name == "log" || name == "log2" || name == "log10";
    if (!is_logarithm && name != "exp") {
      fail("there is no function " + std::string(name.substr(0, 40)),
           "one of min max sqrt log log2 log10 exp abs ceil floor");
    }
    if (!x.dimension.is_number()) {
      fail(std::string(name) + " needs a plain number", "no unit", dimension_text(x.dimension),
           "divide by a quantity of that kind");
    }
    if (name == "exp") return {std::exp(x.value), {}};
    if (x.value <= 0) fail("only positive numbers have a logarithm", "above 0", significant(x.value));
    return {name == "log" ? std::log(x.value) : name == "log2" ? std::log2(x.value) : std::log10(x.value), {}};
  }

  static Quantity extreme(bool least, const std::vector<Quantity>& arguments) {
    Quantity result = arguments[0];
    for (const Quantity& a : arguments) {
      if (a.dimension != result.dimension) refuse_mixture("these cannot be compared", result.dimension, a.dimension);
      if (least ? a.value < result.value : a.value > result.value) result = a;
    }
    return result;
  }

  Quantity square_root(const Quantity& x) const {
    if (x.value < 0) fail("a negative number has no square root", "0 or more", significant(x.value));
    Dimension half;
    for (size_t i = 0; i < half.exponent.size(); ++i) {
      if (x.dimension.exponent[i] % 2 != 0)
        fail("this unit has no square root", "a square", dimension_text(x.dimension));
      half.exponent[i] = x.dimension.exponent[i] / 2;
    }
    return {std::sqrt(x.value), half};
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int calls_ = 0;  // functions whose arguments are being read: there a comma separates
};

}  // namespace

Evaluation evaluate(std::string_view formula) {
  if (formula.size() > kLongest) {
    throw Error({.what = "the formula is too long",
                 .where = "formula",
                 .expected = "at most " + std::to_string(kLongest) + " bytes",
                 .found = std::to_string(formula.size())});
  }
  return Parser(formula).formula();
}

Quantity parse_quantity(std::string_view text) { return evaluate(text).value; }

std::string evaluation_text(const Evaluation& evaluation, int digits) {
  if (evaluation.unit.empty()) return quantity_text(evaluation.value, digits);
  const std::string number = significant(evaluation.in_unit(), digits);
  if (evaluation.unit == "$") return number.starts_with('-') ? "-$" + number.substr(1) : "$" + number;
  return number + (evaluation.unit == "%" ? "" : " ") + evaluation.unit;
}

}  // namespace orrery
