// The decode loop: the prompt in as few calls as memory allows, then one token at a time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "generate/sampler.h"
#include "model/language_model.h"

namespace orrery {

// Rows of one prefill call: enough for matrix products to run at full speed, few enough to keep activations small.
constexpr int kPrefillRows = 512;

enum class StopReason { end_token, token_limit, context_full, asked };

struct GenerateOptions {
  int max_tokens = -1;              // -1: until the text ends or the context is full
  std::vector<TokenId> end_tokens;  // drawing one of them ends the text; it is not part of it
  std::span<Observer* const> observers = {};
};

struct Generation {
  std::vector<TokenId> ids;  // the new ones
  StopReason reason = StopReason::token_limit;
  int prompt_tokens = 0;      // computed for the prompt
  int decode_calls = 0;       // forward passes after the prompt
  double prompt_seconds = 0;  // until the first token could be drawn
  double decode_seconds = 0;  // of the calls after it
  int final_length = 0;       // positions in the sequence at the end
};

// Called with each new token; false ends the text ("asked").
using OnToken = std::function<bool(TokenId)>;

// Computes `tokens` as the continuation of `state`, in calls of at most kPrefillRows rows, and returns the logits
// [1, vocab] of the last one, which live in the arena. `goes_on` is asked before every call: false gives up, with a
// tensor without data. Throws Error before anything is computed where the context is too short.
Tensor prefill(LanguageModel& model, SequenceState& state, std::span<const TokenId> tokens, Kernels& kernels,
               Arena& arena, const std::function<bool()>& goes_on = {}, std::span<Observer* const> observers = {});

// Continues `prompt`, whose first state.length() tokens the state has seen; at least one must be new. `goes_on` is
// asked before every forward pass.
Generation generate(LanguageModel& model, SequenceState& state, std::span<const TokenId> prompt, Sampler& sampler,
                    Kernels& kernels, Arena& arena, const GenerateOptions& options, const OnToken& on_token,
                    const std::function<bool()>& goes_on = {});
// The same in a new sequence.
Generation generate(LanguageModel& model, std::span<const TokenId> prompt, Sampler& sampler, Kernels& kernels,
                    Arena& arena, const GenerateOptions& options, const OnToken& on_token,
                    const std::function<bool()>& goes_on = {});

}  // namespace orrery
