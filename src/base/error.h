// The one exception type of the library. A message is one line that says what went wrong, where, what was expected
// and found, and what to do about it. Only `cli` prints it and exits.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace orrery {

struct ErrorParts {
  std::string what = {};      // "the tensor reaches past the end of the file"
  std::string where = {};     // file, tensor, byte offset: "m.gguf: tensor blk.0.attn_q.weight at byte 4096"
  std::string expected = {};  // "at least 8192 bytes"
  std::string found = {};     // "5000 bytes"
  std::string hint = {};      // "the download was probably cut short; fetch the file again"
};

class Error : public std::runtime_error {
 public:
  explicit Error(ErrorParts parts);
  const ErrorParts& parts() const { return parts_; }

 private:
  ErrorParts parts_;
};

// Text from a file made fit for a terminal and one line: control characters, DEL and broken UTF-8 become \xNN.
std::string printable(std::string_view text);

}  // namespace orrery
