// Where the memory of a training step goes: every byte of a small model's under its label, then models of 7B to 175B.
#include "base/clock.h"
#include "inspect/recorder.h"
#include "kernels/decorated_kernels.h"
#include "learn/learner.h"
#include "learn/memory_watch.h"
#include "learn/optimizer.h"
#include "learn/training_memory.h"
#include "lesson.h"
#include "measure/machine_facts.h"

using namespace orrery;
using lesson::measured, lesson::print_row;

namespace {

constexpr size_t kTexts = 4, kLength = 256, kIds = kLength + 1;
constexpr auto kWidths = {-28, 14, 14, 14, 8, 10};  // columns of the tables
constexpr auto kLarge = {-10, 9, 9, 9, 9, 12, 9, 9};
const ModelConfig kModel =
    llama_config({.n_layers = 6, .d_model = 128, .n_heads = 4, .vocab_size = 1280, .context_length = 512});
std::string count(uint64_t value) { return with_separators(static_cast<int64_t>(value)); }

// A model in training. gradients() goes forward and backward with all texts, in `calls` calls that add up.
struct Training {
  explicit Training(Activations activations)
      : maker(*learner.model, counting, *learner.backward, learner.parameters, activations) {}
  void gradients(size_t calls) {
    Observer* const observers[] = {&watch};
    learner.parameters.clear_gradients(*learner.backward);
    watch.restart();
    for (TokenId id = 0; ids.size() < kTexts * kIds; ++id)
      ids.push_back(id);  // what texts say makes no difference to memory
    for (size_t i = 0; i < kTexts; i += kTexts / calls) {
      std::vector<Sample> part;
      while (part.size() < kTexts / calls) part.push_back({std::span(ids).subspan((i + part.size()) * kIds, kIds)});
      maker.add_gradients(part, kTexts * kLength, observers, observers);
    }
  }
  std::vector<TokenId> ids;
  Learner learner{kModel, DType::F32, Threads()};
  CountingKernels counting{*learner.forward};  // counts forward operations, also those that are done again
  GradientMaker maker;
  MemoryWatch watch{maker};
};

// Part 1: one step, every byte under its label.
void label_every_byte(const std::string& path) {
  const uint64_t heap_before = heap_bytes();
  Training training(Activations::keep);
  Parameters& parameters = training.learner.parameters;
  AdamW adam(parameters, {});
  training.gradients(1);  // takes the memory that it needs
  training.gradients(1);  // this one is looked at
  adam.step(parameters, *training.learner.backward, 1e-3);
  uint64_t moments = 0, all = 0;
  for (const Tensor& tensor : adam.state()) moments += n_bytes(tensor);
  const uint64_t weights = parameters.bytes() / 2;  // the other half are their gradients
  const TrainingMemory formula = training_memory(kModel, kTexts * kLength, Activations::keep);
  const auto n = static_cast<double>(parameters.count());
  std::printf("One step of a model with %.0f parameters on 4 texts of 256 tokens, in F32\n", n);
  const auto label = [&](const char* name, uint64_t held, uint64_t expected) {
    all += held;
    print_row(kWidths, {name, count(held), count(expected), fixed(double(held) / n, 2)});
  };
  print_row(kWidths, {"", "bytes held", "by formula", "per parameter"});
  for (const char* name : {"parameters", "gradients"}) label(name, weights, formula.weights);
  for (const char* name : {"Adam's first moment", "second"}) label(name, moments / 2, formula.optimizer / 2);
  label("activations", training.watch.most_activations(), formula.activations);
  label("temporary: their gradients", training.maker.tape().gradient_bytes(), formula.activation_gradients);
  print_row(kWidths, {"together", count(all), count(formula.total()), fixed(double(all) / n, 2)});
  all += training.maker.arena().capacity() - training.watch.most_activations();  // what the arena took in advance
  const double labelled = 100 * double(all) / double(heap_bytes() - heap_before);
  std::printf(" under a label: %s%% of what malloc gave\n\n", measured(labelled, 1).c_str());
  if (!path.empty()) write_png(memory_figure(training.watch, 2 * weights + moments), path);
}

// Part 2: what the number of texts and their length do to activations, also where attention's matrices are kept.
void vary_the_batch() {
  Learner learner(kModel, DType::F32, Threads());
  print_row(kWidths, {"texts x tokens", "activations", "with matrices"});
  for (const auto& [texts, length] : {std::pair(1, 128), std::pair(4, 128), std::pair(1, 256), std::pair(1, 512)}) {
    std::vector<Row> rows;
    for (int i = 0; i < texts * length; ++i) rows.push_back({i, i % length});
    std::printf(" %d x %-24d", texts, length);
    for (const bool matrices : {false, true}) {
      Recorder recorder([=](std::string_view name) { return matrices && name.ends_with("attn.scores"); });
      Observer* const observers[] = {&recorder};
      Arena arena(true);  // gives nothing back, as in training
      for (int i = 0; i < 2; ++i) {
        arena.reset();  // the second time it is one block, without gaps
        learner.model->forward(rows, *learner.forward, arena, observers);
      }
      std::printf(" %14s", count(arena.used()).c_str());
    }
    std::printf(length == 512 ? "\n\n" : "\n");
  }
}

// Part 3: the same gradients from less memory.
void save_memory() {
  double plain = 0, usual = 0;
  print_row(kWidths, {"kept for the way back", "activations", "temporary", "operations", "time", "gradient"});
  const auto try_it = [&](const char* name, Activations activations, size_t calls) {
    Training training(activations);
    training.gradients(calls);
    const auto forward = static_cast<double>(sum(training.counting.totals()).flops);
    double seconds = 1e9;
    for (int i = 0; i < 5; ++i) {
      const double start = seconds_now();
      training.gradients(calls);
      seconds = std::min(seconds, seconds_now() - start);
    }
    if (plain == 0) plain = forward, usual = seconds;  // the way back takes 2 * plain
    print_row(kWidths,
              {name, count(training.watch.most_activations()), count(training.maker.tape().gradient_bytes()),
               fixed(100 * (2 * plain + forward) / (3 * plain), 1) + "%", measured(100 * seconds / usual, 0) + "%",
               measured(training.learner.parameters.gradient_norm(*training.learner.backward), 5)});
  };
  try_it("everything", Activations::keep, 1);
  try_it("everything, 4 calls", Activations::keep, 4);
  try_it("what enters a block", Activations::compute, 1);
}

// Part 4: models that do not fit here. Korthikanti et al. (2022) count s*b*h*(34 + 5*a*s/h) bytes for a layer.
void print_large_models() {
  std::printf("\nGB: 2, 4 and 16 bytes a parameter; activations for texts of 2,048 tokens, in 16 bits\n");
  print_row(kLarge, {"", "2 bytes", "4 bytes", "16 bytes", "all", "no matrices", "inputs", "+ a block"});
  const auto print = [&](const char* name, double n, double layers, double h, double a, double b) {
    const double s = 2048, rows = s * b * h, block = rows * (34 + 5 * a * s / h);
    const auto gb = [](double bytes) { return fixed(bytes / 1e9, 1); };
    print_row(kLarge, {name, gb(2 * n), gb(4 * n), gb(16 * n), gb(layers * block), gb(layers * 34 * rows),
                       gb(layers * 2 * rows), gb(block)});
  };
  print("7B, b=32", 7e9, 32, 4096, 32, 32);
  print("13B, b=32", 13e9, 40, 5120, 40, 32);
  print("175B, b=1", 175e9, 96, 12288, 96, 1);
  lesson::check_source("16");
}

}  // namespace

int main(int argc, char** argv) {
  return lesson::run(argc, argv, [](const std::string& figure) {
    label_every_byte(figure);
    vary_the_batch();
    save_memory();
    print_large_models();
  });
}
