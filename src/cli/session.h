// What most verbs begin with: a model that is open and ready to compute.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "cli/options.h"
#include "files/checkpoint.h"
#include "kernels/kernels.h"
#include "model/transformer.h"
#include "tensor/arena.h"

namespace orrery::cli {

// The path given, else the model that ships with the program: models/storyteller.gguf beside the executable, in
// PREFIX/share/orrery, or in the folder that ORRERY_HOME names. Throws Error where there is none.
std::string model_path(const std::string& given);

std::shared_ptr<const Checkpoint> open_checkpoint(const ModelOptions& options, const LoadOptions& load);
std::unique_ptr<Kernels> make_kernels(const std::string& name, int threads);
std::unique_ptr<LanguageModel> make_model(const std::shared_ptr<const Checkpoint>& checkpoint,
                                          const ModelOptions& options);

struct Session {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::unique_ptr<Tokenizer> tokenizer;  // nullptr where the file has none
  std::unique_ptr<LanguageModel> model;
  std::unique_ptr<Kernels> kernels;
  Arena arena;
  int threads = 1;
};
std::unique_ptr<Session> open_session(const ModelOptions& options, bool needs_tokenizer);

struct OpenTokenizer {  // its pieces lie in the checkpoint's file
  std::shared_ptr<const Checkpoint> checkpoint;
  std::unique_ptr<Tokenizer> tokenizer;
};
OpenTokenizer open_tokenizer(const ModelOptions& options);

// The model, where it is a transformer; for what looks into layers. Throws Error.
Transformer& transformer_of(const Session& session);

// 'piece' as printable text, in quotes, or the number of a token where there is no tokenizer; filled up with blanks.
std::string quoted_piece(const Tokenizer* tokenizer, TokenId id, size_t columns = 0);

// One or two lines about the model, on standard error.
void print_banner(const Session& session, const ModelOptions& options);

// The text that -p or -f give; `fallback` where neither is given.
std::string given_text(const TextOptions& options, const std::string& fallback);
// "1,2,3" or "[1, 2, 3]". Throws Error.
std::vector<TokenId> parse_ids(const std::string& text);
// --prompt-ids as they are, else the text encoded. Prints a hint to standard error for a BOS that is there twice.
std::vector<TokenId> prompt_ids(const Session& session, const TextOptions& options, const EncodeOptions& encode);
std::string json_array(const std::vector<TokenId>& ids);
// --verbose-prompt: how many ids are fed, and each with its piece, on standard error.
void print_prompt_ids(const Tokenizer* tokenizer, std::span<const TokenId> ids);

// The seed given, else one that is drawn; says which on standard error where anything is drawn at all.
uint64_t chosen_seed(const SamplerSettings& settings, const std::optional<uint64_t>& seed);
Sampler make_sampler(const SamplerSettings& settings, const std::optional<uint64_t>& seed);

// Ctrl-C asks to stop; a second one ends the program at once.
void catch_interrupt();
bool interrupted();
// A Ctrl-C counts as answered, and the next one is the first again. To be followed by catch_interrupt().
void forget_interrupt();

// Writes to standard output at once. Throws Error when nobody takes it.
void print(const std::string& text);

}  // namespace orrery::cli
