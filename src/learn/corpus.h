// The texts that a model learns from: read from files and folders, cut into documents, a part of them held out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Boundary {
  file,        // a file is a document
  line,        // every line
  empty_line,  // what stands between empty lines
};

struct CorpusOptions {
  Boundary boundary = Boundary::file;  // "<|endoftext|>" in a text is always one as well
  double held_out = 0.1;               // share of the documents kept for validation; 0: none
  uint64_t seed = 1;                   // which documents these are
};

struct Corpus {
  std::vector<std::string_view> training, validation;      // documents; none is empty
  std::vector<std::shared_ptr<const std::string>> owners;  // of the texts

  uint64_t bytes() const;  // of all documents
};

// Of a folder all files below it, in the order of their paths, but for hidden ones. White space at both ends of a
// document is dropped, but for whole files, which stay as they are.
// Where there are too few documents to hold some of them out (fewer than 1 / held_out), the last part of each is.
// Throws Error for a path that is missing, a file with NUL bytes or above 4 GiB, and where no text is found.
Corpus read_corpus(const std::vector<std::string>& paths, const CorpusOptions& options = {});

// From texts in memory.
Corpus make_corpus(std::vector<std::string> texts, const CorpusOptions& options = {});

}  // namespace orrery
