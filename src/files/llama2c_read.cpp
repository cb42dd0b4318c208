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

Header read_header_v1(ByteReader& reader, const std::string& path) {
  reader.read<uint32_t>();  // the magic number
  const uint64_t version_at = reader.offset();
  const auto version = reader.read<int32_t>();
  if (version != 1) {
    reader.fail({.what = version == 2 ? "the llama2.c file comes as version 2 (int8), which is not supported"
                                      : "this version of llama2.c's format is not known",
                 .expected = "version 0 or 1",
                 .found = "version " + std::to_string(version),
                 .hint = version == 2 ? "export the model with --version 1" : ""},
                version_at);
  }
  Header header = {.version = 1, .config = llama2c_config()};
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
  reader.take(kLlama2cHeaderBytes[1] - reader.offset());
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

// In numbers alone: the list of weights is made only once the file is known to be large enough to hold them.
uint64_t expected_bytes(const Header& header) {
  const ModelConfig& config = header.config;
  const auto size = [](int64_t rows, int64_t columns) { return static_cast<uint64_t>(rows * columns); };
  const uint64_t block = size(2 * config.q_dim() + 2 * config.kv_dim() + 3 * config.d_ff + 2, config.d_model);
  const uint64_t embeddings = size(config.tied_head ? 1 : 2, config.d_model) * static_cast<uint64_t>(config.vocab_size);
  const uint64_t tables = header.version == 0 ? size(config.context_length, config.head_dim) : 0;
  const uint64_t floats =
      static_cast<uint64_t>(config.n_layers) * block + embeddings + tables + static_cast<uint64_t>(config.d_model);
  return kLlama2cHeaderBytes[header.version] + floats * sizeof(float);
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

void add_weights(const Header& header, const MappedFile& file, Checkpoint& checkpoint) {
  uint64_t offset = kLlama2cHeaderBytes[header.version];
  for (const NamedShape& weight : llama2c_layout(header.config, header.version)) {
    const uint64_t bytes = elements_of(weight) * sizeof(float);
    checkpoint.tensors.push_back(
        {.name = weight.name, .type = "F32", .shape = weight.shape, .offset = offset, .bytes = bytes});
    offset += bytes;
    if (weight.name == kLlama2cCosines || weight.name == kLlama2cSines) continue;
    const FileTensor& tensor = checkpoint.tensors.back();
    add_mapped_weight(tensor, DType::F32, file.bytes().data() + tensor.offset, checkpoint);
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
  const Header header = has_magic(*file) ? read_header_v1(reader, file->path()) : read_header_v0(reader, file->path());
  check_size(header, *file);
  Checkpoint checkpoint;
  checkpoint.path = file->path();
  checkpoint.format = "llama2.c v" + std::to_string(header.version);
  checkpoint.file_bytes = file->bytes().size();
  checkpoint.config = header.config;
  checkpoint.owners.push_back(file);
  add_metadata(header, checkpoint);
  add_weights(header, *file, checkpoint);
  add_vocabulary(options, checkpoint);
  return checkpoint;
}

}  // namespace orrery
