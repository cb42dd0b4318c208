// Options that several verbs share, and for each verb what fills its options in and calls it.
#pragma once

#include <functional>
#include <optional>

#include "cli/options.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace orrery::cli {

using Verb = std::function<int()>;

CLI::Validator at_least(int least);  // CLI::Range would show its upper end in the help
CLI::Validator whole_threads();
void add_model(CLI::App& verb, ModelOptions& options, bool computes = true);
void add_threads(CLI::App& verb, int& threads);
void add_text(CLI::App& verb, TextOptions& text, bool ids);
void add_inspection(CLI::App& verb, InspectionOptions& inspection);
void add_sampler(CLI::App& verb, SamplerSettings& settings, std::optional<uint64_t>& seed);
void add_draws(CLI::App& verb, SamplerSettings& settings);  // the same without the seed

// options_models.cpp: verbs that work on a model
Verb add_run(CLI::App& verb);
Verb add_chat(CLI::App& verb);
Verb add_tokenize(CLI::App& verb);
Verb add_detokenize(CLI::App& verb);
Verb add_logits(CLI::App& verb);
Verb add_attention(CLI::App& verb);
Verb add_show(CLI::App& verb);
Verb add_perplexity(CLI::App& verb);
Verb add_bench(CLI::App& verb);
Verb add_doctor(CLI::App& verb);

// options_inspecting.cpp: verbs that look inside a forward pass
Verb add_lens(CLI::App& verb);
Verb add_trace(CLI::App& verb);
Verb add_trace_diff(CLI::App& verb);

// options_learning.cpp: verbs that make and judge models
Verb add_train_tokenizer(CLI::App& verb);
Verb add_train(CLI::App& verb);
Verb add_eval(CLI::App& verb);
Verb add_compare(CLI::App& verb);
Verb add_stories(CLI::App& verb);

// options_counting.cpp: verbs that count and check numbers
Verb add_calc(CLI::App& verb);
Verb add_claims(CLI::App& verb);

}  // namespace orrery::cli
