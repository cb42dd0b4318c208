#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/error.h"
#include "files/byte_reader.h"
#include "files/llama2c.h"
#include "files/llama2c_layout.h"
#include "files/weights_in_memory.h"

namespace orrery {
namespace {

struct Header {
  int version = 0;
  ModelConfig config;
  int group_size = 0;  // version 2: so many int8 share a scale
};

int absolute(int value) { return value < 0 && value != std::numeric_limits<int>::min() ? -value : value; }

void read_sizes(ByteReader& reader, ModelConfig& config) {
  config.d_model = reader.read<int32_t>();
  config.d_ff = reader.read<int32_t>();
  config.n_layers = reader.read<int32_t>();
  config.n_heads = reader.read<int32_t>();
  config.n_kv_heads = reader.read<int32_t>();
  config.vocab_size = reader.read<int32_t>();
  config.context_length = reader.read<int32_t>();
}

void check_sizes(ModelConfig& config, const std::string& where) {
  if (config.n_heads < 1 || config.d_model % config.n_heads != 0) {
    throw Error({.what = "the width of the model is not a multiple of the heads",
                 .where = where,
                 .expected = "a divisor of " + std::to_string(config.d_model),
                 .found = std::to_string(config.n_heads)});
  }
  config.head_dim = config.d_model / config.n_heads;
  config.rope_dims = config.head_dim;
  check(config, where);
}

Header read_header_v0(ByteReader& reader, const std::string& path) {
  Header header = {.version = 0, .config = llama2c_config()};
  read_sizes(reader, header.config);
  header.config.tied_head = header.config.vocab_size > 0;
  header.config.vocab_size = absolute(header.config.vocab_size);
  check_sizes(header.config, path);
  return header;
}

// Every matrix has d_model columns or d_model rows: then no group reaches from one matrix into the next.
int read_group_size(ByteReader& reader, const ModelConfig& config) {
  const uint64_t at = reader.offset();
  const auto size = reader.read<int32_t>();
  if (size >= 1 && config.d_model % size == 0) return size;
  reader.fail({.what = "the size of a group of int8 weights makes no sense",
               .expected = "a divisor of the width " + std::to_string(config.d_model),
               .found = std::to_string(size)},
              at);
}

// Of versions 1 and 2.
Header read_header_with_magic(ByteReader& reader, const std::string& path) {
  reader.read<uint32_t>();  // the magic number
  const uint64_t version_at = reader.offset();
  const auto version = reader.read<int32_t>();
  if (version != 1 && version != 2) {
    reader.fail({.what = "this version of llama2.c's format is not known",
                 .expected = "version 0, 1 or 2",
                 .found = "version " + std::to_string(version)},
                version_at);
  }
  Header header = {.version = version, .config = llama2c_config()};
  read_sizes(reader, header.config);
  const uint64_t flag_at = reader.offset();
  const auto shares_head = reader.read<uint8_t>();
  if (shares_head > 1) {
    reader.fail({.what = "the flag for a shared classifier is neither false nor true",
                 .expected = "0 or 1",
                 .found = std::to_string(shares_head)},
                flag_at);
  }
  header.config.tied_head = shares_head == 1;
  check_sizes(header.config, path);
  if (version == 2) header.group_size = read_group_size(reader, header.config);
  reader.take(kLlama2cHeaderBytes[version] - reader.offset());
  return header;
}

bool has_magic(const MappedFile& file) {
  return file.bytes().size() >= sizeof kLlama2cMagic &&
         ByteReader(file.bytes(), file.path()).read<uint32_t>() == kLlama2cMagic;
}

uint64_t elements_of(const NamedShape& weight) {
  uint64_t product = 1;  // check() keeps this far from overflow
  for (const int64_t dim : weight.shape) product *= static_cast<uint64_t>(dim);
  return product;
}

// Of a weight in the file: F32, or int8 with an F32 for each group.
uint64_t bytes_in_file(const Header& header, uint64_t elements, bool is_matrix) {
  if (header.version != 2 || !is_matrix) return elements * sizeof(float);
  return elements + elements / static_cast<uint64_t>(header.group_size) * sizeof(float);
}

// In numbers alone: the list of weights is made only once the file is known to be large enough to hold them.
uint64_t expected_bytes(const Header& header) {
  const ModelConfig& config = header.config;
  const auto size = [](int64_t rows, int64_t columns) { return static_cast<uint64_t>(rows * columns); };
  const auto n_layers = static_cast<uint64_t>(config.n_layers);
  const uint64_t block = size(2 * config.q_dim() + 2 * config.kv_dim() + 3 * config.d_ff, config.d_model);
  const uint64_t embeddings = size(config.tied_head ? 1 : 2, config.d_model) * static_cast<uint64_t>(config.vocab_size);
  const uint64_t norms = (2 * n_layers + 1) * static_cast<uint64_t>(config.d_model);
  const uint64_t tables = header.version == 0 ? size(config.context_length, config.head_dim) : 0;
  return kLlama2cHeaderBytes[header.version] + bytes_in_file(header, n_layers * block + embeddings, true) +
         bytes_in_file(header, norms + tables, false);
}

void check_size(const Header& header, const MappedFile& file) {
  const uint64_t expected = expected_bytes(header);
  const uint64_t found = file.bytes().size();
  if (found == expected) return;
  const auto percent = static_cast<uint64_t>(static_cast<double>(found) / static_cast<double>(expected) * 100);
  throw Error(
      {.what = found < expected ? "the llama2.c file is cut short" : "the llama2.c file is longer than its header says",
       .where = file.path(),
       .expected = std::to_string(expected) + " bytes",
       .found = std::to_string(found),
       .hint =
           found < expected ? "the download stopped at " + std::to_string(percent) + "%: fetch the file again" : ""});
}

void widen(const FileTensor& tensor, const std::byte* data, int64_t group_size, const std::string& path,
           std::span<float> widened) {
  const auto* numbers = reinterpret_cast<const int8_t*>(data);
  const std::byte* scales = data + widened.size();
  for (size_t begin = 0; begin < widened.size(); begin += static_cast<size_t>(group_size)) {
    float scale;
    std::memcpy(&scale, scales, sizeof scale);
    scales += sizeof scale;
    if (!std::isfinite(scale) || scale < 0) {
      throw Error({.what = "the scale of a group of int8 weights makes no sense",
                   .where = path + ": tensor " + tensor.name,
                   .expected = "a number that is not negative",
                   .found = std::to_string(scale),
                   .hint = "the first export.py wrote all scales at the end of the file: export the model again"});
    }
    for (size_t i = begin; i < begin + static_cast<size_t>(group_size); ++i) {
      widened[i] = static_cast<float>(numbers[i]) * scale;
    }
  }
}

void add_widened_weight(const FileTensor& tensor, const Header& header, const std::byte* data, bool is_needed,
                        Checkpoint& checkpoint) {
  const auto rows = static_cast<size_t>(tensor.shape[0]);
  const size_t n_elements = rows * static_cast<size_t>(tensor.shape[1]);
  checkpoint.copies.push_back({tensor.name, "int8 is widened to F32", n_elements * sizeof(float)});
  if (!is_needed) return;
  const std::shared_ptr<float[]> copy(new float[n_elements]);
  widen(tensor, data, header.group_size, checkpoint.path, {copy.get(), n_elements});
  checkpoint.owners.push_back(copy);
  checkpoint.weights.insert_or_assign(
      tensor.name, make_tensor(tensor.name, DType::F32, tensor.shape, reinterpret_cast<std::byte*>(copy.get())));
}

void add_weights(const Header& header, const MappedFile& file, const LoadOptions& options, Checkpoint& checkpoint) {
  uint64_t offset = kLlama2cHeaderBytes[header.version];
  for (const NamedShape& weight : llama2c_layout(header.config, header.version)) {
    const bool is_matrix = weight.shape.size() == 2;
    const bool is_int8 = header.version == 2 && is_matrix;
    const uint64_t bytes = bytes_in_file(header, elements_of(weight), is_matrix);
    checkpoint.tensors.push_back(
        {.name = weight.name, .type = is_int8 ? "I8" : "F32", .shape = weight.shape, .offset = offset, .bytes = bytes});
    offset += bytes;
    if (weight.name == kLlama2cCosines || weight.name == kLlama2cSines) continue;
    const FileTensor& tensor = checkpoint.tensors.back();
    const std::byte* data = file.bytes().data() + tensor.offset;
    if (is_int8) {
      add_widened_weight(tensor, header, data, options.needs_weights, checkpoint);
    } else {
      add_mapped_weight(tensor, DType::F32, data, checkpoint);
    }
  }
}

void add_metadata(const Header& header, Checkpoint& checkpoint) {
  const ModelConfig& config = header.config;
  const auto add = [&](const char* key, int64_t value) {
    checkpoint.metadata.emplace_back(key, std::to_string(value));
  };
  add("dim", config.d_model);
  add("hidden_dim", config.d_ff);
  add("n_layers", config.n_layers);
  add("n_heads", config.n_heads);
  add("n_kv_heads", config.n_kv_heads);
  add("vocab_size", config.vocab_size);
  add("max_seq_len", config.context_length);
  checkpoint.metadata.emplace_back("shared_classifier", config.tied_head ? "true" : "false");
  if (header.version == 2) add("group_size", header.group_size);
}

void add_vocabulary(const LoadOptions& options, Checkpoint& checkpoint) {
  const bool is_given = !options.tokenizer_path.empty();
  std::filesystem::path path = options.tokenizer_path;
  if (!is_given) path = std::filesystem::path(checkpoint.path).replace_filename("tokenizer.bin");
  std::error_code ignored;
  if (!is_given && !std::filesystem::exists(path, ignored)) {
    if (!options.needs_tokenizer) return;
    throw Error({.what = "the model has no vocabulary of its own, and there is none beside it",
                 .where = checkpoint.path,
                 .expected = "a file " + path.string(),
                 .hint = "--tokenizer FILE names another one"});
  }
  checkpoint.vocabulary = read_llama2c_tokenizer(path.string(), checkpoint.config.vocab_size);
}

}  // namespace

bool is_llama2c(const MappedFile& file) {
  if (has_magic(file)) return true;
  if (file.bytes().size() < kLlama2cHeaderBytes[0]) return false;
  try {
    ByteReader reader(file.bytes(), file.path());
    read_header_v0(reader, file.path());
    return true;
  } catch (const Error&) {
    return false;
  }
}

Checkpoint llama2c_checkpoint(std::shared_ptr<const MappedFile> file, const LoadOptions& options) {
  ByteReader reader(file->bytes(), file->path());
  reader.part("header");
  const Header header =
      has_magic(*file) ? read_header_with_magic(reader, file->path()) : read_header_v0(reader, file->path());
  check_size(header, *file);
  Checkpoint checkpoint;
  checkpoint.path = file->path();
  checkpoint.format = "llama2.c v" + std::to_string(header.version);
  checkpoint.file_bytes = file->bytes().size();
  checkpoint.config = header.config;
  checkpoint.owners.push_back(file);
  add_metadata(header, checkpoint);
  add_weights(header, *file, options, checkpoint);
  add_vocabulary(options, checkpoint);
  return checkpoint;
}

}  // namespace orrery
