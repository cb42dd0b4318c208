// The tiny models of tests/data/tiny-models, as GGUF, llama2.c file and folder: logits and greedy ids that another,
// plain implementation computed, and that for the GGUF files a second engine confirmed. manifest.json says how close we
// have to come.
#include <cmath>
#include <fstream>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "files/checkpoint.h"
#include "generate/generate.h"
#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using nlohmann::json;

namespace {

const std::string kFolder = std::string(ORRERY_TEST_DATA) + "/tiny-models/";

json manifest() {
  std::ifstream file(kFolder + "manifest.json");
  return json::parse(file);
}

// What a user gives: a file, or the folder that it is in.
std::string model_path(const std::string& file) {
  return kFolder + (file.ends_with(".safetensors") ? file.substr(0, file.rfind('/')) : file);
}

struct KernelSet {
  const char* name;
  std::unique_ptr<Kernels> (*make)(int threads);
};

const KernelSet kKernelSets[] = {
    {"fast", [](int n) -> std::unique_ptr<Kernels> { return std::make_unique<FastKernels>(Threads(n)); }},
    {"reference",
     [](int n) -> std::unique_ptr<Kernels> { return std::make_unique<ReferenceKernels<float>>(Threads(n)); }},
    {"double",
     [](int n) -> std::unique_ptr<Kernels> { return std::make_unique<ReferenceKernels<double>>(Threads(n)); }},
};

std::vector<double> last_logits(LanguageModel& model, Kernels& kernels, const std::vector<TokenId>& prompt) {
  const auto state = model.new_sequence();
  Arena arena;
  return test::numbers(prefill(model, *state, prompt, kernels, arena));
}

std::vector<TokenId> greedy(LanguageModel& model, Kernels& kernels, const std::vector<TokenId>& prompt, int count) {
  SamplerSettings settings;
  settings.temperature = 0;
  Sampler sampler(settings, 0);
  Arena arena;
  return generate(model, prompt, sampler, kernels, arena, {.max_tokens = count}, [](TokenId) { return true; }).ids;
}

}  // namespace

TEST_CASE("tiny models give the logits and greedy ids of an independent implementation") {
  int n_files = 0;
  const json entries = manifest();
  for (const auto& [file, entry] : entries.items()) {
    // Where a program may also refuse a file, it must not compute something else: "either".
    if (!entry.contains("expect") || entry["expect_outcome"] == "reject") continue;
    CAPTURE(file);
    ++n_files;
    const json& expect = entry["expect"];
    const auto prompt = expect["prompt_ids"].get<std::vector<TokenId>>();
    const auto logits = expect["logits_last"].get<std::vector<double>>();
    // Q8_0's looser tolerance is for 8-bit activations, which we do not use.
    const double tolerance = std::min(expect["tolerance"].get<double>(), 0.002);
    const auto ids = expect["greedy_ids"].get<std::vector<TokenId>>();
    Transformer model(std::make_shared<const Checkpoint>(load_checkpoint(model_path(file))));
    for (const KernelSet& set : kKernelSets) {
      CAPTURE(set.name);
      std::vector<double> with_one_thread;
      for (const int threads : {1, 2, 3}) {
        CAPTURE(threads);
        const auto kernels = set.make(threads);
        const std::vector<double> ours = last_logits(model, *kernels, prompt);
        CHECK(test::largest_difference(ours, logits) <= tolerance);
        CHECK(greedy(model, *kernels, prompt, static_cast<int>(ids.size())) == ids);
        if (threads == 1) with_one_thread = ours;
        CHECK(ours == with_one_thread);  // bit for bit
      }
    }
  }
  CHECK(n_files == 21);
}

TEST_CASE("tiny models that say one thing and are another are refused") {
  CHECK_ERROR(load_checkpoint(kFolder + "st/untied_without_head"), "lm_head.weight", "missing", "[336, 32]");
  int n_files = 0;
  const json entries = manifest();
  for (const auto& [file, entry] : entries.items()) n_files += entry["expect_outcome"] == "reject" ? 1 : 0;
  CHECK(n_files == 1);
}

TEST_CASE("what a typical mistake would give is not what we give") {
  // The manifest lists the ids of a program with the mistake; were they ours as well, the files would show nothing.
  const json entries = manifest();
  int n_mistakes = 0;
  for (const auto& [file, entry] : entries.items()) {
    if (!file.starts_with("gguf/") || !entry.contains("expect")) continue;
    const json mistakes = entry["expect"].value("if_wrong", json::object());
    for (const auto& [mistake, ids] : mistakes.items()) {
      CHECK(ids != entry["expect"]["greedy_ids"]);
      ++n_mistakes;
    }
  }
  CHECK(n_mistakes >= 5);
}
