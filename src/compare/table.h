// Tables of words and numbers as Markdown, CSV or JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct Table {
  std::string title = {};
  std::string note = {};  // a line or two below the title; Markdown and JSON only
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};  // as many cells as columns each
};

// `format` is "md", "csv" (each table after its title, which is a line of its own with "# ") or "json" (one array).
// Throws Error for another one, and for a row that has not as many cells as there are columns.
std::string text_of(const std::vector<Table>& tables, std::string_view format);

// A JSON string with its quotation marks. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace orrery
