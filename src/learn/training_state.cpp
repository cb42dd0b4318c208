#include "learn/training_state.h"

#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/mapped_file.h"
#include "files/gguf.h"
#include "files/gguf_writer.h"

namespace orrery {
namespace {

constexpr const char* kStep = "orrery.training.step";
constexpr const char* kEpoch = "orrery.training.epoch";
constexpr const char* kPiece = "orrery.training.piece";
constexpr const char* kSettings = "orrery.training.settings";
constexpr const char* kData = "orrery.training.data";

std::string name_in_file(const Tensor& state) { return std::string("optimizer.") + state.name; }

// What write_training_state wrote is there, or this is another file.
template <class Value>
auto required(const std::optional<Value>& value, const std::string& path, const char* key) {
  if (value) return *value;
  throw Error({.what = "the file holds a model, but no training to resume",
               .where = path,
               .expected = std::string("the key ") + key});
}

}  // namespace

void write_training_state(const std::string& path, const Checkpoint& checkpoint, const Optimizer& optimizer,
                          const TrainingState& state) {
  Checkpoint all = checkpoint;
  for (const Tensor& tensor : optimizer.state()) all.weights.emplace(name_in_file(tensor), tensor);
  write_gguf(path, all, {.add_metadata = [&](GgufMetadataWriter& metadata) {
               metadata.add_uint32(kStep, state.steps_taken);
               metadata.add_uint32(kEpoch, state.place.epoch);
               metadata.add_uint32(kPiece, state.place.piece);
               metadata.add_text(kSettings, state.settings);
               metadata.add_text(kData, state.data);
             }});
}

SavedTraining read_training_state(const std::string& path) {
  const MappedFile file(path);
  SavedTraining saved;
  saved.checkpoint = load_checkpoint(path, {.needs_tokenizer = false});
  if (!saved.checkpoint.format.starts_with("GGUF")) {
    throw Error({.what = "training is resumed from GGUF files alone",
                 .where = path,
                 .expected = "GGUF",
                 .found = saved.checkpoint.format});
  }
  const GgufMetadata metadata = parse_gguf(file).metadata;
  saved.state.steps_taken = required(metadata.integer(kStep), path, kStep);
  saved.state.place.epoch = required(metadata.integer(kEpoch), path, kEpoch);
  saved.state.place.piece = required(metadata.integer(kPiece), path, kPiece);
  saved.state.settings = required(metadata.text(kSettings), path, kSettings);
  saved.state.data = required(metadata.text(kData), path, kData);
  return saved;
}

void restore(const SavedTraining& saved, Parameters& parameters, Optimizer& optimizer) {
  parameters.copy_weights(saved.checkpoint);
  for (const Tensor& to : optimizer.state()) {
    const std::string name = name_in_file(to);
    const Tensor* from = saved.checkpoint.find_weight(name);
    if (from == nullptr || !same_shape(*from, to) || from->dtype != to.dtype) {
      throw Error({.what = "the optimizer's state does not fit this model",
                   .where = saved.checkpoint.path + ": " + name,
                   .expected = shape_text(to),
                   .found = from == nullptr ? "nothing" : shape_text(*from)});
    }
    std::memcpy(to.data, from->data, n_bytes(to));
  }
  optimizer.resume_at(saved.state.steps_taken);
}

}  // namespace orrery
