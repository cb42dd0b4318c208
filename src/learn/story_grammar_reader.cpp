// From the text of a grammar file to a StoryGrammar. Two passes: the first cuts the file into sections and reads the
// lists, the second reads the rules, which may name rules that stand further down.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"
#include "base/utf8.h"
#include "learn/story_grammar.h"

namespace orrery {
namespace {

constexpr int kMaxWeight = 1000;
constexpr size_t kMaxEntries = 10'000;  // united with itself again and again, a list would double each time

struct Line {
  int number = 0;
  size_t indent = 0;
  std::string text;  // without spaces around it
};

struct Section {
  Line head;
  std::vector<Line> body;
};

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> cut_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_name(std::string_view text) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

template <class Named>
int find_named(const std::vector<Named>& all, std::string_view name) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : text_(text) { grammar_.where = where; }

  StoryGrammar read() {
    cut_into_sections();
    read_language();
    for (const Section& section : sections_) {
      if (section.head.text.starts_with("list ")) read_list(section);
    }
    for (const Section& section : sections_) {
      if (section.head.text.starts_with("rule ")) declare_rule(section.head);
    }
    for (const Section& section : sections_) {
      if (section.head.text.starts_with("rule ")) read_rule(section);
    }
    return std::move(grammar_);
  }

 private:
  [[noreturn]] void fail(int line, ErrorParts parts) const {
    parts.where = grammar_.where + ":" + std::to_string(line);
    throw Error(std::move(parts));
  }

  void cut_into_sections() {
    std::istringstream lines{std::string(text_)};
    int number = 0;
    for (std::string raw; std::getline(lines, raw);) {
      Line line{++number, std::min(raw.find_first_not_of(" \t\r"), raw.size()), trimmed(raw)};
      if (utf8_sanitized(raw) != raw)
        fail(number, {.what = "this line is not UTF-8", .hint = "save the file as UTF-8"});
      if (line.text.empty() || line.text[0] == '#') continue;
      if (line.indent == 0) {
        const std::string word = line.text.substr(0, line.text.find(' '));
        if (word != "language" && word != "list" && word != "rule") {
          fail(number, {.what = "no section begins like this",
                        .expected = "language, list or rule",
                        .found = word,
                        .hint = "the lines of a section are indented"});
        }
        sections_.push_back({line, {}});
      } else if (sections_.empty()) {
        fail(number, {.what = "this line belongs to no section", .expected = "language english or language chinese"});
      } else {
        sections_.back().body.push_back(line);
      }
    }
  }

  void read_language() {
    const Line first = sections_.empty() ? Line{1, 0, "nothing"} : sections_[0].head;
    for (const Language language : kLanguages) {
      if (first.text == "language " + std::string(name_of(language))) {
        grammar_.language = language;
        for (size_t i = 1; i < sections_.size(); ++i) {
          if (sections_[i].head.text.starts_with("language")) {
            fail(sections_[i].head.number, {.what = "a file has one language", .hint = "write a file per language"});
          }
        }
        return;
      }
    }
    fail(first.number, {.what = "a grammar begins with its language",
                        .expected = "language english or language chinese",
                        .found = first.text});
  }

  // ---- Lists ----------------------------------------------------------------------------------------------------

  void read_list(const Section& section) {
    const std::string head = trimmed(section.head.text.substr(5));
    WordList list;
    list.line = section.head.number;
    list.name = head.substr(0, head.find_first_of(" (="));
    check_new_name(list.name, list.line, find_named(grammar_.lists, list.name) >= 0);
    const std::string rest = trimmed(head.substr(list.name.size()));
    if (rest.starts_with("=")) {
      unite(list, rest.substr(1));
    } else {
      const std::vector<std::string> defaults = read_fields(list, rest);
      for (const Line& line : section.body) {
        // Whoever breaks a long line in the middle of a word of two words shall hear of it.
        if (line.indent != section.body[0].indent) {
          fail(line.number, {.what = "a line of a list stands by itself, so all are indented alike",
                             .expected = std::to_string(section.body[0].indent) + " spaces",
                             .found = std::to_string(line.indent)});
        }
        for (const std::string& entry : cut_at(line.text, ',')) {
          if (!entry.empty()) read_entry(list, entry, defaults, line.number);
        }
      }
    }
    if (list.entries.size() > kMaxEntries) {
      fail(list.line, {.what = "the list " + list.name + " is too long",
                       .expected = "at most " + std::to_string(kMaxEntries) + " words",
                       .found = std::to_string(list.entries.size())});
    }
    if (list.entries.empty()) fail(list.line, {.what = "the list " + list.name + " is empty"});
    grammar_.lists.push_back(std::move(list));
  }

  // "(he=she, measure)": names and defaults; "" stands for "no default".
  std::vector<std::string> read_fields(WordList& list, const std::string& text) const {
    list.fields = {""};
    std::vector<std::string> defaults = {""};
    if (text.empty()) return defaults;
    if (text.front() != '(' || text.back() != ')') {
      fail(list.line,
           {.what = "what follows a list's name is unclear", .expected = "(fields) or = lists", .found = text});
    }
    for (const std::string& field : cut_at(text.substr(1, text.size() - 2), ',')) {
      const size_t equals = field.find('=');
      const std::string name = trimmed(field.substr(0, equals));
      check_new_name(name, list.line, list.field_index(name) >= 0);
      list.fields.push_back(name);
      defaults.push_back(equals == std::string::npos ? "" : trimmed(field.substr(equals + 1)));
    }
    return defaults;
  }

  void read_entry(WordList& list, const std::string& text, const std::vector<std::string>& defaults, int line) const {
    std::vector<std::string> entry = cut_at(text, '/');
    if (entry.size() > list.fields.size()) {
      fail(line, {.what = "the entry \"" + text + "\" has more fields than the list " + list.name,
                  .expected = std::to_string(list.fields.size()),
                  .found = std::to_string(entry.size())});
    }
    for (size_t i = entry.size(); i < list.fields.size(); ++i) {
      std::string value;
      for (const char c : defaults[i]) value += c == '~' ? entry[0] : std::string(1, c);
      entry.push_back(value);
    }
    for (size_t i = 0; i < entry.size(); ++i) {
      if (!entry[i].empty()) continue;
      fail(line, {.what = "the entry \"" + text + "\" says nothing for " +
                          (i == 0 ? "its word" : "the field " + list.fields[i])});
    }
    list.entries.push_back(std::move(entry));
  }

  // list name = girl + boy
  void unite(WordList& list, const std::string& names) const {
    for (const std::string& name : cut_at(names, '+')) {
      const int index = find_named(grammar_.lists, name);
      if (index < 0) {
        fail(list.line,
             {.what = "no list above has this name", .found = name, .hint = "lists are united further down"});
      }
      const WordList& part = grammar_.lists[static_cast<size_t>(index)];
      if (list.fields.empty()) list.fields = part.fields;
      if (list.fields != part.fields) {
        fail(list.line, {.what = "lists with different fields cannot be united", .found = name});
      }
      list.entries.insert(list.entries.end(), part.entries.begin(), part.entries.end());
    }
  }

  void check_new_name(const std::string& name, int line, bool is_taken) const {
    if (!is_name(name)) {
      fail(line, {.what = "this is no name", .expected = "small letters, digits and _", .found = name});
    }
    if (is_taken) fail(line, {.what = "this name is there twice", .found = name});
  }

  // ---- Rules ----------------------------------------------------------------------------------------------------

  void declare_rule(const Line& head) {
    Rule rule;
    rule.name = trimmed(head.text.substr(5));
    rule.line = head.number;
    check_new_name(rule.name, rule.line, find_named(grammar_.rules, rule.name) >= 0);
    if (rule.name == "story") grammar_.story = static_cast<int>(grammar_.rules.size());
    grammar_.rules.push_back(std::move(rule));
  }

  void read_rule(const Section& section) {
    Rule& rule = grammar_.rules[static_cast<size_t>(find_named(grammar_.rules, trimmed(section.head.text.substr(5))))];
    if (section.body.empty()) fail(rule.line, {.what = "the rule " + rule.name + " is empty"});
    std::vector<Line> whole;  // with lines that are indented deeper put behind the one they continue
    for (const Line& line : section.body) {
      if (!whole.empty() && line.indent > section.body[0].indent) {
        whole.back().text += " " + line.text;
      } else {
        whole.push_back(line);
      }
    }
    for (Line& line : whole) {
      Alternative alternative;
      alternative.line = line.number;
      alternative.weight = take_weight(line);
      alternative.pieces = read_pieces(line);
      rule.total_weight += alternative.weight;
      rule.alternatives.push_back(std::move(alternative));
    }
  }

  // "*3 Once upon a time": three times as likely as a line without a number.
  int take_weight(Line& line) const {
    if (line.text[0] != '*') return 1;
    const size_t end = std::min(line.text.find(' '), line.text.size());
    const std::string digits = line.text.substr(1, end - 1);
    int weight = 0;
    const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
    if (problem != std::errc() || stop != digits.data() + digits.size() || weight < 1 || weight > kMaxWeight) {
      fail(line.number, {.what = "this weight makes no sense",
                         .expected = "* and a number from 1 to " + std::to_string(kMaxWeight),
                         .found = line.text.substr(0, end)});
    }
    line.text = trimmed(line.text.substr(end));
    if (line.text.empty()) fail(line.number, {.what = "this alternative says nothing"});
    return weight;
  }

  std::vector<Piece> read_pieces(const Line& line) {
    // Chinese has no spaces between words; those in the file only make it easier to read.
    std::string_view text = line.text;
    std::vector<Piece> pieces;
    while (!text.empty()) {
      const size_t bracket = text.find_first_of("<>[]{}");
      std::string plain(text.substr(0, bracket));
      if (grammar_.language == Language::chinese) std::erase(plain, ' ');
      if (!plain.empty()) pieces.push_back({.kind = Piece::Kind::text, .text = plain, .line = line.number});
      if (bracket == std::string_view::npos) break;
      const char opened = text[bracket];
      const char closing = opened == '<' ? '>' : opened == '[' ? ']' : '}';
      const size_t end = text.find_first_of("<>[]{}", bracket + 1);
      if (std::string_view("<[{").find(opened) == std::string_view::npos || end == std::string_view::npos ||
          text[end] != closing) {
        fail(line.number, {.what = "brackets do not match",
                           .expected = "<rule>, [slot=list] or {slot}",
                           .found = std::string(text.substr(bracket, 40))});
      }
      pieces.push_back(read_bracket(opened, std::string(text.substr(bracket + 1, end - bracket - 1)), line.number));
      text.remove_prefix(end + 1);
    }
    return pieces;
  }

  Piece read_bracket(char opened, const std::string& inside, int line) {
    Piece piece;
    piece.line = line;
    if (opened == '<') {
      piece.kind = Piece::Kind::rule;
      piece.rule = find_named(grammar_.rules, inside);
      if (piece.rule < 0) fail(line, {.what = "no rule has this name", .found = "<" + inside + ">"});
    } else if (opened == '[') {
      read_choice(piece, inside, line);
    } else {
      piece.kind = Piece::Kind::recall;
      const size_t dot = inside.find('.');
      std::string slot = inside.substr(0, dot);
      if (dot != std::string::npos) piece.field = inside.substr(dot + 1);
      take_capital(dot == std::string::npos ? slot : piece.field, piece);
      piece.slot = slot_index(slot, line);
    }
    return piece;
  }

  // friend=name.field, not hero, not teacher
  void read_choice(Piece& piece, const std::string& inside, int line) {
    piece.kind = Piece::Kind::choose;
    const std::vector<std::string> parts = cut_at(inside, ',');
    const size_t equals = parts[0].find('=');
    if (equals == std::string::npos) {
      fail(line, {.what = "this choice names no list", .expected = "[slot=list]", .found = "[" + inside + "]"});
    }
    std::string slot = trimmed(parts[0].substr(0, equals));
    take_capital(slot, piece);
    piece.slot = slot_index(slot, line);
    const std::string from = trimmed(parts[0].substr(equals + 1));
    const size_t dot = from.find('.');
    piece.list = find_named(grammar_.lists, from.substr(0, dot));
    if (piece.list < 0) fail(line, {.what = "no list has this name", .found = from.substr(0, dot)});
    if (dot != std::string::npos) piece.field = from.substr(dot + 1);
    for (size_t i = 1; i < parts.size(); ++i) {
      if (!parts[i].starts_with("not ")) {
        fail(line, {.what = "this condition is unknown", .expected = "not and a slot", .found = parts[i]});
      }
      piece.unlike.push_back(slot_index(trimmed(parts[i].substr(4)), line));
    }
  }

  // {hero.He} is {hero.he} with a capital letter.
  static void take_capital(std::string& name, Piece& piece) {
    if (name.empty() || name[0] < 'A' || name[0] > 'Z') return;
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
    piece.capital = true;
  }

  int slot_index(const std::string& name, int line) {
    if (!is_name(name)) {
      fail(line, {.what = "this is no name of a slot", .expected = "small letters, digits and _", .found = name});
    }
    const auto found = std::find(grammar_.slots.begin(), grammar_.slots.end(), name);
    if (found != grammar_.slots.end()) return static_cast<int>(found - grammar_.slots.begin());
    grammar_.slots.push_back(name);
    return static_cast<int>(grammar_.slots.size()) - 1;
  }

  std::string_view text_;
  std::vector<Section> sections_;
  StoryGrammar grammar_;
};

}  // namespace

StoryGrammar read_story_grammar(std::string_view text, const std::string& where) {
  StoryGrammar grammar = Reader(text, where).read();
  check_story_grammar(grammar);
  return grammar;
}

}  // namespace orrery
