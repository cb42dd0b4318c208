// The options of verbs that make and judge models.
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/option_parts.h"

namespace orrery::cli {
namespace {

// One of these words, each for a value: --optimizer {adamw,muon,sgd}. CLI11 reads the value of an enum as a number.
template <class Value>
CLI::Validator one_of(const std::map<std::string, Value>& values) {
  std::string words;
  for (const auto& [word, value] : values) words += (words.empty() ? "" : ",") + word;
  const auto to_number = [values, words](std::string& word) {
    const auto found = values.find(word);
    if (found == values.end()) return word + " not in {" + words + "}";
    word = std::to_string(static_cast<int>(found->second));
    return std::string();
  };
  return {to_number, "{" + words + "}"};
}

void add_data(CLI::App& verb, std::vector<std::string>& data) {
  verb.add_option("data", data, "text files, and folders of them")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_recurrent(CLI::App& verb, TrainOptions& o) {
  static const std::map<std::string, Architecture> kArchitectures = {
      {"transformer", Architecture::transformer},
      {"rnn", Architecture::rnn},
      {"lstm", Architecture::lstm},
      {"gru", Architecture::gru},
      {"gru-reset-before", Architecture::gru_reset_before}};
  verb.add_option("--model", o.architecture, "transformer, rnn, lstm, gru, or gru-reset-before (before the product)")
      ->transform(one_of(kArchitectures))
      ->type_name("TEXT");
  verb.add_option("--embedding", o.d_embedding, "width of a recurrent model's embedding (default: that of its state)")
      ->check(at_least(1));
  verb.add_flag("--tied", o.tied_head, "a recurrent model's head is its embedding (a transformer's always is)");
  verb.add_flag("--orthogonal", o.recurrent.orthogonal, "begin with orthogonal matrices for the hidden state");
  verb.add_option("--forget-bias", o.recurrent.forget_bias, "added to the LSTM's forget gates at first")
      ->capture_default_str();
  verb.add_option("--torch", o.torch_folder, "also write a recurrent model into this folder, with PyTorch's names");
}

void add_shape(CLI::App& verb, TrainOptions& o) {
  add_recurrent(verb, o);
  verb.add_option("--layers", o.n_layers, "blocks, or recurrent layers")->check(at_least(1))->capture_default_str();
  verb.add_option("--width", o.d_model, "numbers of a position (d_model), or of a hidden state")
      ->check(at_least(1))
      ->capture_default_str();
  verb.add_option("--heads", o.n_heads, "heads of attention")->check(at_least(1))->capture_default_str();
  verb.add_option("--kv-heads", o.n_kv_heads, "heads of keys and values (default: as many)")->check(at_least(1));
  verb.add_option("--feed-forward", o.d_ff, "width of the feed-forward layer (default: 8/3 of the width)")
      ->check(at_least(1));
  verb.add_option("-c,--ctx-size", o.training.context, "context, in tokens")->check(at_least(1))->capture_default_str();
}

void add_training(CLI::App& verb, TrainingSettings& s, double& lowest_rate) {
  static const std::map<std::string, OptimizerKind> kOptimizers = {
      {"adamw", OptimizerKind::adamw}, {"sgd", OptimizerKind::sgd}, {"muon", OptimizerKind::muon}};
  verb.add_option("--steps", s.steps, "updates of the weights")->check(at_least(1))->capture_default_str();
  verb.add_option("--batch", s.tokens_per_step, "tokens of a step")->check(at_least(1))->capture_default_str();
  verb.add_option("--micro-batch", s.tokens_per_call, "tokens computed at a time: less memory, the same gradient")
      ->check(at_least(1))
      ->capture_default_str();
  verb.add_flag_function(
      "--checkpointing", [&s](int64_t) { s.activations = Activations::compute; },
      "compute intermediates again on the way back: less memory, more time");
  verb.add_option("--optimizer", s.optimizer, "adamw, sgd, or muon (matrices by Muon, the rest by AdamW)")
      ->transform(one_of(kOptimizers))
      ->type_name("TEXT");
  verb.add_option("--rate", s.rate, "highest learning rate")->capture_default_str();
  verb.add_option("--lowest-rate", lowest_rate, "where its cosine ends (default: a tenth)");
  verb.add_option("--warmup", s.warmup_steps, "steps until it is reached")->check(at_least(0))->capture_default_str();
  verb.add_option("--weight-decay", s.weight_decay, "of matrices")->capture_default_str();
  verb.add_option("--beta1", s.beta1, "AdamW's memory of gradients")->capture_default_str();
  verb.add_option("--beta2", s.beta2, "and of their squares")->capture_default_str();
  verb.add_option("--momentum", s.momentum, "of SGD and Muon")->capture_default_str();
  verb.add_option("--clip", s.clip, "longest gradient; 0: any")->capture_default_str();
  verb.add_option("--dropout", s.dropout, "share of what blocks add that is left out")->capture_default_str();
  verb.add_option("-s,--seed", s.seed, "of weights, batches and held-out text")->capture_default_str();
}

}  // namespace

Verb add_train_tokenizer(CLI::App& verb) {
  const auto o = std::make_shared<TrainTokenizerOptions>();
  add_data(verb, o->data);
  verb.add_option("-o,--output", o->output, "where the tokenizer.json goes")->capture_default_str();
  verb.add_option("--vocab-size", o->vocabulary_size, "pieces: special tokens, 256 bytes, and merges")
      ->check(at_least(257))
      ->capture_default_str();
  verb.add_option("--special", o->special_tokens, "special tokens; the first begins and ends a text")
      ->allow_extra_args(false)
      ->capture_default_str();
  verb.add_flag("--han-apart", o->han_apart, "no piece joins two Chinese characters");
  return [o] { return train_tokenizer(*o); };
}

Verb add_train(CLI::App& verb) {
  static const std::map<std::string, Boundary> kBoundaries = {
      {"file", Boundary::file}, {"line", Boundary::line}, {"empty-line", Boundary::empty_line}};
  const auto o = std::make_shared<TrainOptions>();
  verb.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // after the config file's
  add_data(verb, o->data);
  // with_config_file() has put its lines in front of all other arguments.
  verb.add_option("--config", "a file with options, a line each: steps = 1000; the command line counts more");
  verb.add_option("-o,--output", o->run.output, "the model; NAME.state.gguf, .csv and .png come beside it")
      ->capture_default_str();
  verb.add_flag("--resume", o->resume, "go on where a run with the same options was stopped");
  verb.add_flag("--overwrite", o->overwrite, "begin anew where the output of another run lies");
  verb.add_option("--documents", o->corpus.boundary, "a document is a file, line or empty-line (what is between them)")
      ->transform(one_of(kBoundaries))
      ->type_name("TEXT");
  verb.add_option("--held-out", o->corpus.held_out, "share of the documents for validation")->capture_default_str();
  verb.add_option("--tokenizer", o->tokenizer, "bpe, characters, a tokenizer.json or a model file")
      ->capture_default_str();
  verb.add_option("--vocab-size", o->vocabulary_size, "pieces to learn with bpe")
      ->check(at_least(257))
      ->capture_default_str();
  verb.add_option("--name", o->name, "the model's name (default: that of its file)");
  add_shape(verb, *o);
  add_training(verb, o->training, o->lowest_rate);
  verb.add_option("--save-every", o->run.save_every, "steps from one validation and saving to the next")
      ->check(at_least(1))
      ->capture_default_str();
  verb.add_option("--validation-tokens", o->run.validation_tokens, "tokens of a validation; 0: all held out")
      ->check(at_least(0))
      ->capture_default_str();
  verb.add_option("--floor", o->run.floor, "a loss that no model can pass, drawn into the figure");
  verb.add_option("--type", o->type, "of the matrices in the model file: f32, f16, bf16 or q8_0")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "q8_0"}))
      ->capture_default_str();
  add_threads(verb, o->threads);
  verb.footer(
      "An LSTM on characters:\n  orrery train shakespeare.txt --tokenizer characters --model lstm --layers 2 -o "
      "lstm.gguf");
  return [o] { return train(*o); };
}

Verb add_eval(CLI::App& verb) {
  const auto o = std::make_shared<EvalOptions>();
  add_model(verb, o->model);
  add_threads(verb, o->model.threads);
  verb.add_option("--pairs", o->pairs, "sentence pairs, as BLiMP has them: columns paradigm, field, good and bad");
  verb.add_option("--stories", o->stories, "loss on so many new stories, beside the lowest possible one (default: 500)")
      ->check(at_least(1));
  verb.add_option("--recall", o->recall, "questions about facts, for each range of distance (default: 200)")
      ->check(at_least(1));
  verb.add_option("--tell", o->tell, "stories that the model tells and the grammar judges (default: 200)")
      ->check(at_least(1));
  verb.add_option("--training", o->training, "the stories it was trained on, one a line: which does it repeat?");
  verb.add_option("-s,--seed", o->seed, "of stories, questions and draws; not that of the training text")
      ->capture_default_str();
  add_draws(verb, o->sampler);
  verb.add_flag("--json", o->json, "print one JSON object instead of tables");
  return [o] { return eval(*o); };
}

Verb add_compare(CLI::App& verb) {
  const auto o = std::make_shared<CompareOptions>();
  verb.add_flag("--quick", o->quick, "smaller models, one task, two and a half minutes");
  verb.add_option("--minutes", o->minutes, "for all of it, about (default: 10)");
  verb.add_option("--parameters", o->parameters, "of each model, about (default: 60000)");
  verb.add_option("--parts", o->parts, "costs, names, stories, gradient, recall, sequences (default: all)")
      ->delimiter(',');
  verb.add_option("--tasks", o->tasks, "reverse, dates, addition (default: all; with --quick the first)")
      ->delimiter(',');
  verb.add_option("--rates", o->rates, "learning rates to choose from (default: 0.001,0.003,0.01,0.03)")
      ->delimiter(',');
  verb.add_option("--equal", o->equal, "what all have the same of when they learn: time or tokens")
      ->check(CLI::IsMember({"time", "tokens"}))
      ->capture_default_str();
  verb.add_option("--pairs", o->pairs,
                  "keys and values to recall, 1 to 8, of which one is asked for (default: 2, quick 1)")
      ->check(CLI::Range(1, 8));
  verb.add_option("--noise", o->noise, "most tokens between a value and its question (default: 400, quick 1000)")
      ->check(CLI::Range(1, 10000));
  verb.add_option("--output", o->folder, "folder for results and figures; what is in it is not done again")
      ->capture_default_str();
  verb.add_flag("--overwrite", o->overwrite, "do everything again");
  verb.add_option("-o,--format", o->format, "of the tables: md, csv or json")
      ->check(CLI::IsMember({"md", "csv", "json"}))
      ->capture_default_str();
  verb.add_option("-s,--seed", o->seed, "of weights, texts and tasks")->capture_default_str();
  verb.add_option("-t,--threads", o->threads, "threads of learning; models as small as these gain little from more")
      ->check(whole_threads())
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  return [o] { return compare(*o); };
}

Verb add_stories(CLI::App& verb) {
  const auto o = std::make_shared<StoriesOptions>();
  verb.add_option("-n,--count", o->count, "stories to tell (default: 10; for --statistics 10,000 of each language)")
      ->check(at_least(1));
  verb.add_option("--language", o->language, "english, chinese, or both by turns")
      ->check(CLI::IsMember({"english", "chinese", "both"}))
      ->capture_default_str();
  verb.add_option("-s,--seed", o->seed, "the same seed tells the same stories (default: drawn and printed)");
  verb.add_option("--check", o->check, "say of each line of a file whether it is a story; - is stdin");
  verb.add_flag("--statistics", o->statistics, "entropy, length and vocabulary instead of stories")
      ->excludes("--check");
  return [o] { return stories(*o); };
}

}  // namespace orrery::cli
