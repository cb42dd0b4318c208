// Traces in files: the header as safetensors metadata, and files of other programs read as if they had ours.
#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/utf8.h"
#include "files/json_reader.h"
#include "files/safetensors.h"
#include "files/safetensors_writer.h"
#include "inspect/probe_names.h"
#include "inspect/trace.h"

namespace orrery {
namespace {

constexpr const char* kFormat = "orrery trace 1";
constexpr int kMostHeads = 1 << 20;  // of heads, and of elements of one

std::string list_text(std::span<const int> numbers) {
  std::string text = "[";
  for (const int number : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

// "[1, 2, 3]", where no number is negative.
class ListReader : public JsonListener {
 public:
  explicit ListReader(const std::string& where) : where_(where) {}
  std::vector<int> numbers;

  void add(const std::string&, JsonValue value) override {
    const bool is_number = depth_ == 1 && value.type == JsonValue::integer && value.number >= 0 &&
                           value.number <= std::numeric_limits<int>::max();
    if (is_number) numbers.push_back(static_cast<int>(value.number));
    if (!is_number && (depth_ > 0 || value.type != JsonValue::list)) {
      throw Error(
          {.what = "the header of the trace is broken", .where = where_, .expected = "a list of whole numbers"});
    }
    depth_ += value.type == JsonValue::list ? 1 : 0;
  }
  void end() override { --depth_; }

 private:
  const std::string& where_;
  int depth_ = 0;
};

// What the metadata say, or nothing where they do not.
class HeaderFields {
 public:
  explicit HeaderFields(const std::string& path, const std::map<std::string, std::string>& metadata)
      : path_(path), metadata_(metadata) {}

  std::string text(const char* key) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? "" : found->second;
  }
  std::vector<int> list(const char* key) const {
    if (text(key).empty()) return {};
    const std::string where = path_ + ": " + key;
    ListReader reader(where);
    read_json(where, text(key), text(key).size() + 1, reader);
    return reader.numbers;
  }
  int count(const char* key) const {
    const double value = number(key);
    if (value <= kMostHeads && value == static_cast<int>(value)) return static_cast<int>(value);
    fail(key, "a whole number up to " + std::to_string(kMostHeads));
  }
  double number(const char* key) const {
    const std::string given = text(key);
    if (given.empty()) return 0;
    double value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error == std::errc() && end == given.data() + given.size() && value >= 0 && value < 1e300) return value;
    fail(key, "a number that is not negative");
  }
  // One of two words, or nothing.
  template <class Choice>
  std::optional<Choice> choice(const char* key, const char* first, Choice one, const char* second, Choice other) const {
    const std::string given = text(key);
    if (given.empty()) return std::nullopt;
    if (given == first) return one;
    if (given == second) return other;
    fail(key, std::string(first) + " or " + second);
  }
  [[noreturn]] void fail(const char* key, const std::string& expected) const {
    throw Error({.what = "the header of the trace is broken",
                 .where = path_ + ": " + key,
                 .expected = expected,
                 .found = text(key)});
  }

 private:
  const std::string& path_;
  const std::map<std::string, std::string>& metadata_;
};

std::map<std::string, std::string> metadata_of(const TraceHeader& header) {
  std::map<std::string, std::string> metadata = {{"format", kFormat}};
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) metadata[key] = text;
  };
  const auto put_count = [&](const char* key, int count) {
    if (count > 0) metadata[key] = std::to_string(count);
  };
  put("prompt_ids", header.prompt_ids.empty() ? "" : list_text(header.prompt_ids));
  put("positions", header.positions.empty() ? "" : list_text(header.positions));
  put("model", utf8_sanitized(header.model));
  put("checksum", utf8_sanitized(header.checksum));
  put("build", header.build);
  put("kernels", header.kernels);
  put("attention", header.attention);
  if (header.rope_layout) {
    put("rope_layout", *header.rope_layout == RopeLayout::interleaved ? "interleaved" : "half_split");
  }
  put_count("rope_dims", header.rope_dims);
  put_count("n_heads", header.n_heads);
  put_count("n_kv_heads", header.n_kv_heads);
  put_count("head_dim", header.head_dim);
  if (header.norm) put("norm", *header.norm == Norm::rms ? "rms" : "layer");
  if (header.norm_epsilon > 0) {
    char text[32];
    put("norm_epsilon", {text, std::to_chars(text, text + sizeof text, header.norm_epsilon).ptr});
  }
  return metadata;
}

TraceHeader header_of(const std::string& path, const SafetensorsFile& file) {
  const HeaderFields fields(path, file.metadata);
  if (const std::string format = fields.text("format"); format.starts_with("orrery trace") && format != kFormat) {
    fields.fail("format", kFormat);
  }
  TraceHeader header;
  header.prompt_ids = fields.list("prompt_ids");
  header.positions = fields.list("positions");
  if (std::ranges::adjacent_find(header.positions, std::ranges::greater_equal()) != header.positions.end()) {
    fields.fail("positions", "ascending numbers");
  }
  header.model = fields.text("model");
  header.checksum = fields.text("checksum");
  header.build = fields.text("build");
  header.kernels = fields.text("kernels");
  header.attention = fields.text("attention");
  header.rope_layout =
      fields.choice("rope_layout", "interleaved", RopeLayout::interleaved, "half_split", RopeLayout::half_split);
  header.rope_dims = fields.count("rope_dims");
  header.n_heads = fields.count("n_heads");
  header.n_kv_heads = fields.count("n_kv_heads");
  header.head_dim = fields.count("head_dim");
  header.norm = fields.choice("norm", "rms", Norm::rms, "layer", Norm::layer);
  header.norm_epsilon = fields.number("norm_epsilon");
  return header;
}

// GPT-2's q, k and v as transformers have them, [n, 3 * d]: three tensors.
void add_fused(const TraceTensor& fused, int layer, Trace& trace) {
  const int64_t row = fused.shape.empty() ? 0 : fused.shape.back();
  if (row <= 0 || row % 3 != 0) return;
  const size_t part = bytes_of(fused.dtype, row / 3);
  for (size_t i = 0; i < 3; ++i) {
    const auto bytes = std::make_shared<std::vector<std::byte>>();
    for (size_t at = i * part; at < fused.bytes.size(); at += 3 * part) {
      const auto piece = fused.bytes.subspan(at, part);
      bytes->insert(bytes->end(), piece.begin(), piece.end());
    }
    TraceTensor tensor = fused;
    constexpr const char* kNames[] = {"attn.q", "attn.k", "attn.v"};
    tensor.name = probe_name(layer, kNames[i]);
    tensor.shape.back() = row / 3;
    tensor.bytes = *bytes;
    trace.tensors.push_back(std::move(tensor));
    trace.owners.push_back(bytes);
  }
}

void add_tensor(TraceTensor tensor, bool has_post_norms, Trace& trace) {
  constexpr std::string_view kFused = ".attn.c_attn";
  if (tensor.name.ends_with(kFused)) {
    const std::string block = tensor.name.substr(0, tensor.name.size() - kFused.size());
    const ProbeName name = split_probe_name(probe_name_of_module(block, false));
    if (name.layer >= 0) return add_fused(tensor, name.layer, trace);
  }
  if (probe_order(tensor.name) == std::numeric_limits<int64_t>::max()) {
    const std::string ours = probe_name_of_module(tensor.name, has_post_norms);
    if (!ours.empty()) tensor.name = ours;
  }
  trace.tensors.push_back(std::move(tensor));
}

}  // namespace

void write_trace(const std::string& path, const Trace& trace) {
  std::vector<SafetensorsTensor> tensors;
  for (const TraceTensor& tensor : trace.tensors) {
    tensors.push_back({tensor.name, info(tensor.dtype).name, tensor.shape, tensor.bytes});
  }
  write_safetensors(path, tensors, metadata_of(trace.header));
}

Trace read_trace(const std::string& path) {
  const SafetensorsFile file = read_safetensors(path);
  Trace trace;
  trace.header = header_of(path, file);
  trace.owners.push_back(file.file);
  const bool has_post_norms = std::ranges::any_of(file.tensors, [](const FileTensor& tensor) {
    return tensor.name.find(".pre_feedforward_layernorm") != std::string::npos;
  });
  for (const FileTensor& tensor : file.tensors) {
    const auto dtype = safetensors_dtype(tensor.type);
    if (!dtype) continue;
    add_tensor(
        {tensor.name, tensor.name, *dtype, tensor.shape, file.file->bytes().subspan(tensor.offset, tensor.bytes)},
        has_post_norms, trace);
  }
  std::ranges::stable_sort(trace.tensors, {}, [](const TraceTensor& tensor) { return probe_order(tensor.name); });
  return trace;
}

}  // namespace orrery
