// GGUF does not say how to cut a text before merging; it gives that a name (tokenizer.ggml.pre). Which names mean what
// is in files/pre_tokenizations.table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace orrery {

// All that the table has, each name on its own.
const std::vector<PreTokenization>& known_pre_tokenizations();
// The one of that name; without patterns where it is not known.
PreTokenization pre_tokenization_named(std::string_view name);
// The first name that means the same; "" where there is none.
std::string name_of(const PreTokenization& rules);

}  // namespace orrery
