#include "compare/table.h"

#include <cstdio>

#include "base/error.h"
#include "base/utf8.h"

namespace orrery {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string line(const std::vector<std::string>& cells, const char* begin, const char* between, const char* end,
                 std::string (*cell)(const std::string&)) {
  std::string text = begin;
  for (size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? between : "") + cell(cells[i]);
  return text + end;
}

std::string as_it_is(const std::string& text) { return text; }

std::string markdown(const Table& table) {
  std::string text = "### " + table.title + "\n\n" + (table.note.empty() ? "" : table.note + "\n\n");
  text += line(table.columns, "| ", " | ", " |\n", as_it_is);
  for (size_t i = 0; i < table.columns.size(); ++i) text += i == 0 ? "|---|" : "---:|";
  text += "\n";
  for (const auto& row : table.rows) text += line(row, "| ", " | ", " |\n", as_it_is);
  return text + "\n";
}

std::string csv(const Table& table) {
  std::string text = "# " + table.title + "\n" + line(table.columns, "", ",", "\n", csv_cell);
  for (const auto& row : table.rows) text += line(row, "", ",", "\n", csv_cell);
  return text;
}

std::string json(const Table& table) {
  std::string text =
      " {\"title\": " + json_text(table.title) + ", \"note\": " + json_text(table.note) + ", \"rows\": [";
  const char* comma = "\n";
  for (const auto& row : table.rows) {
    text += comma + std::string("  {");
    for (size_t i = 0; i < row.size(); ++i) {
      text += (i > 0 ? ", " : "") + json_text(table.columns[i]) + ": " + json_text(row[i]);
    }
    text += "}";
    comma = ",\n";
  }
  return text + "]}";
}

void check(const Table& table) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() == table.columns.size()) continue;
    throw Error({.what = "a row of a table has not a cell for each column",
                 .where = table.title + ", row " + std::to_string(i),
                 .expected = std::to_string(table.columns.size()),
                 .found = std::to_string(table.rows[i].size())});
  }
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : utf8_sanitized(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      quoted += escaped;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string text_of(const std::vector<Table>& tables, std::string_view format) {
  if (format != "md" && format != "csv" && format != "json") {
    throw Error({.what = "there is no such format of tables",
                 .where = "output",
                 .expected = "md, csv or json",
                 .found = std::string(format)});
  }
  std::string text = format == "json" ? "[" : "";
  for (size_t i = 0; i < tables.size(); ++i) {
    check(tables[i]);
    if (format == "md") text += markdown(tables[i]);
    if (format == "csv") text += (i > 0 ? "\n" : "") + csv(tables[i]);
    if (format == "json") text += (i > 0 ? ",\n" : "\n") + json(tables[i]);
  }
  return text + (format == "json" ? "\n]\n" : "");
}

}  // namespace orrery
