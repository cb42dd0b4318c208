// One run as a page for a browser: a single file, which asks for nothing else. It shows the tokens, the candidates of
// each step and the sampler's choice, attention by head, what each layer would say, and how much each layer adds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "generate/sampler.h"
#include "inspect/lens.h"
#include "inspect/page_recorder.h"
#include "inspect/why.h"

namespace orrery {

// A page may have so many bytes: browsers become slow with more.
constexpr uint64_t kLargestPage = uint64_t{64} << 20;

struct PageRun {
  const ModelConfig& config;
  std::string model_name;
  const Tokenizer* tokenizer = nullptr;  // nullptr: tokens are shown as numbers
  std::span<const TokenId> tokens;       // the prompt, and what was made
  int n_prompt = 0;
  SamplerSettings settings;
  std::optional<uint64_t> seed;  // of the sampler; not given where nothing is drawn
  const PageRecorder& recorder;  // has seen the tokens, or all but the last ones
  const Lens& lens;              // the same
  std::span<const Explanation> explanations;
  std::string language = "english";  // or "chinese"
};

// About how many bytes the page of a run with so many positions will have.
uint64_t page_bytes(const ModelConfig& config, int n_layers_with_attention, int n_positions);
// Throws Error where that is more than kLargestPage.
void check_page_size(const ModelConfig& config, int n_layers_with_attention, int n_positions);

std::string page_text(const PageRun& run);

}  // namespace orrery
