// orrery doctor: this build, this machine, and a model file, in the words that a bug report needs.
#include <algorithm>
#include <filesystem>

#include "base/build_info.h"
#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"
#include "cli/session.h"
#include "kernels/fast/blas.h"
#include "kernels/fast/instruction_set.h"
#include "measure/machine_facts.h"

namespace orrery::cli {
namespace {

std::string line(const std::string& name, const std::string& value) {
  return name + std::string(name.size() < 16 ? 16 - name.size() : 1, ' ') + value + "\n";
}

std::string build_text() {
  const BuildInfo& build = build_info();
  std::string text = line("orrery", build.version);
  text += line("build", std::string(build.build) + ": " + build.compiler + " " + build.flags);
  text += line("OpenMP", build.openmp ? "simd loops" : "no: fewer loops are vectorised");
  text += line("BLAS", blas_description());
  text += line("instructions", std::string(name_of(best_instruction_set())) + ", chosen for this CPU");
  return text;
}

std::string machine_text() {
  const MachineFacts facts = machine_facts();
  std::string text = line("CPU", facts.cpu.empty() ? "unknown" : printable(facts.cpu));
  text += line("cores", std::to_string(facts.cores));
  text += line("threads", std::to_string(default_thread_count()) + " by default");
  std::string memory = bytes_text(facts.memory);
  if (facts.available_memory > 0) memory += ", " + bytes_text(facts.available_memory) + " available";
  return text + line("memory", memory);
}

std::string token(const Vocabulary& vocabulary, TokenId id) {
  if (id == kNoToken) return "none";
  return std::to_string(id) + " '" + printable(vocabulary.pieces[static_cast<size_t>(id)]) + "'";
}

// Of a folder, of each file that a model is read from.
std::string checksums(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return line("SHA-256", sha256_of_file(path));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    const std::string extension = entry.path().extension();
    const bool is_read = extension == ".json" || extension == ".safetensors";
    if (is_read && entry.is_regular_file(ignored) && entry.file_size(ignored) > 0) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::string text;
  for (const auto& file : files) {
    text += line("SHA-256", sha256_of_file(file) + "  " + printable(file.filename().string()));
  }
  return text;
}

std::string model_text(const ModelOptions& options) {
  const auto checkpoint =
      open_checkpoint(options, {.tokenizer_path = options.tokenizer, .needs_tokenizer = false, .needs_weights = false});
  const Vocabulary& vocabulary = checkpoint->vocabulary;
  std::string text = line("model", printable(checkpoint->path));
  text += line("format", checkpoint->format + ", " + with_separators(static_cast<int64_t>(checkpoint->file_bytes)) +
                             " bytes, family " + printable(checkpoint->config.family));
  text += checksums(checkpoint->path);
  if (!checkpoint->obstacle.empty()) text += line("cannot run", printable(checkpoint->obstacle));
  text += line("tokenizer", vocabulary.empty() ? "none"
                                               : printable(vocabulary.model) + ", " +
                                                     std::to_string(vocabulary.pieces.size()) + " pieces");
  text +=
      line("begins with", token(vocabulary, vocabulary.bos) + (vocabulary.add_bos ? "" : " (not put before a text)"));
  std::vector<std::string> ends;
  for (const TokenId id : vocabulary.end_tokens) ends.push_back(token(vocabulary, id));
  return text + line("ends with", ends.empty() ? "none" : join(ends, ", "));
}

}  // namespace

int doctor(const DoctorOptions& options) {
  print(build_text() + machine_text());
  if (options.has_model) print(model_text(options.model));
  return kDone;
}

}  // namespace orrery::cli
