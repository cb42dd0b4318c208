// Shapes of models that people know, from models.table.
#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"

namespace orrery {

const std::vector<ModelConfig>& model_catalogue();

// By name, in any case of letters. Throws Error that lists the names.
const ModelConfig& catalogued_model(const std::string& name);

// Rows of a table: words separated by spaces, the first row names the columns, '#' begins a comment line.
using TableRow = std::vector<std::pair<std::string, std::string>>;              // column and value
std::vector<TableRow> parse_table(const char* text, const std::string& where);  // throws Error

}  // namespace orrery
