#include "cli/session.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/mapped_file.h"
#include "base/utf8.h"
#include "config/arithmetic.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "recurrent/recurrent_model.h"

namespace orrery::cli {
namespace {

constexpr const char* kShippedModel = "models/storyteller.gguf";

// More is refused before it is read: no context is longer than this many bytes.
constexpr size_t kLongestText = size_t{1} << 30;

std::filesystem::path executable_folder() {
  std::error_code ignored;
  const auto path = std::filesystem::canonical("/proc/self/exe", ignored);  // Linux; elsewhere the current folder
  return ignored ? std::filesystem::current_path() : path.parent_path();
}

std::vector<std::filesystem::path> model_places() {
  const std::filesystem::path beside = executable_folder();
  // Beside the program, above build/release, above build/release/lessons, where it is installed.
  std::vector<std::filesystem::path> places = {beside, beside / "../..", beside / "../../..",
                                               beside / "../share/orrery"};
  if (const char* home = std::getenv("ORRERY_HOME")) places.insert(places.begin(), home);
  return places;
}

DType cache_type(const std::string& name, const ModelOptions& options) {
  // The double-precision oracle would be of little use over a rounded cache.
  return options.kernels == "double" ? DType::F64 : dtype_from_name(name).value();
}

}  // namespace

std::string model_path(const std::string& given) {
  if (!given.empty()) return given;
  for (const auto& place : model_places()) {
    std::error_code ignored;
    if (std::filesystem::exists(place / kShippedModel, ignored)) return (place / kShippedModel).lexically_normal();
  }
  throw Error({.what = "no model given, and none ships with this build",
               .where = kShippedModel,
               .hint = "name a model file: -m FILE"});
}

std::shared_ptr<const Checkpoint> open_checkpoint(const ModelOptions& options, const LoadOptions& load) {
  return std::make_shared<const Checkpoint>(load_checkpoint(model_path(options.path), load));
}

std::unique_ptr<Kernels> make_kernels(const std::string& name, int threads) {
  const Threads with(threads);
  if (name == "reference") return std::make_unique<ReferenceKernels<float>>(with);
  if (name == "double") return std::make_unique<ReferenceKernels<double>>(with);
  return std::make_unique<FastKernels>(with);
}

std::unique_ptr<LanguageModel> make_model(const std::shared_ptr<const Checkpoint>& checkpoint,
                                          const ModelOptions& options) {
  if (checkpoint->config.is_recurrent()) {
    const DType state_type = options.kernels == "double" ? DType::F64 : DType::F32;
    return std::make_unique<RecurrentModel>(checkpoint, RecurrentOptions{options.context, state_type});
  }
  return std::make_unique<Transformer>(checkpoint,
                                       TransformerOptions{options.context, cache_type(options.key_type, options),
                                                          cache_type(options.value_type, options)});
}

std::unique_ptr<Session> open_session(const ModelOptions& options, bool needs_tokenizer) {
  auto session = std::make_unique<Session>();
  session->threads = options.threads > 0 ? options.threads : default_thread_count();
  session->checkpoint = open_checkpoint(
      options, {.tokenizer_path = options.tokenizer, .needs_tokenizer = needs_tokenizer, .needs_weights = true});
  const Checkpoint& checkpoint = *session->checkpoint;
  if (needs_tokenizer || !checkpoint.vocabulary.empty()) {
    session->tokenizer = make_tokenizer(checkpoint.vocabulary, checkpoint.path);
  }
  session->model = make_model(session->checkpoint, options);
  session->kernels = make_kernels(options.kernels, session->threads);
  return session;
}

OpenTokenizer open_tokenizer(const ModelOptions& options) {
  OpenTokenizer open;
  open.checkpoint =
      open_checkpoint(options, {.tokenizer_path = options.tokenizer, .needs_tokenizer = true, .needs_weights = false});
  open.tokenizer = make_tokenizer(open.checkpoint->vocabulary, open.checkpoint->path);
  return open;
}

Transformer& transformer_of(const Session& session) {
  auto* transformer = dynamic_cast<Transformer*>(session.model.get());
  if (transformer != nullptr) return *transformer;
  throw Error({.what = "only a transformer can be looked into this way", .where = session.checkpoint->path});
}

std::string quoted_piece(const Tokenizer* tokenizer, TokenId id, size_t columns) {
  std::string text = std::to_string(id);
  if (tokenizer != nullptr) text = "'" + printable(tokenizer->piece_bytes(id, true)) + "'";
  const size_t taken = terminal_columns(text);
  return taken < columns ? text + std::string(columns - taken, ' ') : text;
}

void print_banner(const Session& session, const ModelOptions& options) {
  const Checkpoint& checkpoint = *session.checkpoint;
  const ModelConfig& config = checkpoint.config;
  const std::string name = config.name.empty() ? checkpoint.path : config.name;
  const int context = session.model->context_length();
  const std::string context_text = context == kUnboundedContext ? "without end" : std::to_string(context);
  std::fprintf(stderr, "%s: %s parameters, %s, %s; context %s, %s kernels, %d thread%s\n", printable(name).c_str(),
               scaled(static_cast<double>(parameter_count(config).total())).c_str(), checkpoint.format.c_str(),
               bytes_text(checkpoint.file_bytes).c_str(), context_text.c_str(), options.kernels.c_str(),
               session.threads, session.threads == 1 ? "" : "s");
}

std::string given_text(const TextOptions& options, const std::string& fallback) {
  if (options.file) return read_file(*options.file, kLongestText);
  return options.prompt.value_or(fallback);
}

std::vector<TokenId> parse_ids(const std::string& text) {
  std::vector<TokenId> ids;
  std::string number;
  const auto finish = [&] {
    if (number.empty()) return;
    char* end = nullptr;
    const long long value = std::strtoll(number.c_str(), &end, 10);
    if (*end != '\0' || value < 0 || value > INT32_MAX) {
      throw Error({.what = "this is not a list of token ids",
                   .where = "ids",
                   .expected = "whole numbers, as in 1,2,3",
                   .found = "'" + number + "'"});
    }
    ids.push_back(static_cast<TokenId>(value));
    number.clear();
  };
  for (const char c : text) {
    if (c == ',' || c == '[' || c == ']' || c == ' ' || c == '\n') {
      finish();
    } else {
      number += c;
    }
  }
  finish();
  return ids;
}

std::vector<TokenId> prompt_ids(const Session& session, const TextOptions& options, const EncodeOptions& encode) {
  if (options.ids) return parse_ids(*options.ids);
  const std::vector<TokenId> ids = session.tokenizer->encode(given_text(options, ""), encode);
  const TokenId bos = session.tokenizer->vocabulary().bos;
  if (ids.size() >= 2 && bos != kNoToken && ids[0] == bos && ids[1] == bos) {
    std::fprintf(stderr, "note: the prompt begins with two BOS tokens; leave yours out\n");
  }
  return ids;
}

std::string json_array(const std::vector<TokenId>& ids) {
  std::string text = "[";
  for (size_t i = 0; i < ids.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(ids[i]);
  return text + "]";
}

uint64_t chosen_seed(const SamplerSettings& settings, const std::optional<uint64_t>& seed) {
  const uint64_t chosen = seed.value_or(random_seed() % 1'000'000'000);
  if (settings.temperature > 0) {
    std::fprintf(stderr, "seed %llu%s\n", static_cast<unsigned long long>(chosen), seed ? "" : " (drawn)");
  }
  return chosen;
}

Sampler make_sampler(const SamplerSettings& settings, const std::optional<uint64_t>& seed) {
  return Sampler(settings, chosen_seed(settings, seed));
}

void print_prompt_ids(const Tokenizer* tokenizer, std::span<const TokenId> ids) {
  std::fprintf(stderr, "prompt: %zu token%s\n", ids.size(), ids.size() == 1 ? "" : "s");
  for (const TokenId id : ids) {
    const std::string piece = tokenizer != nullptr ? tokenizer->piece_bytes(id, true) : "";
    std::fprintf(stderr, "%8d  '%s'\n", id, printable(piece).c_str());
  }
}

void print(const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!is_written || std::fflush(stdout) != 0) {
    throw Error({.what = "nobody takes the output any more", .where = "standard output"});
  }
}

}  // namespace orrery::cli
