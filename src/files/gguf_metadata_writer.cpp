#include <bit>

#include "files/gguf.h"
#include "files/gguf_writer.h"

namespace orrery {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is written as numbers lie in memory");

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& bytes, std::string_view text) {
  append<uint64_t>(bytes, text.size());
  bytes += text;
}

void append_type(std::string& bytes, GgufType type) { append(bytes, static_cast<uint32_t>(type)); }

void append_array(std::string& bytes, GgufType type, uint64_t count) {
  append_type(bytes, GgufType::array);
  append_type(bytes, type);
  append(bytes, count);
}

}  // namespace

void GgufMetadataWriter::add_text(std::string_view key, std::string_view value) {
  add_encoded(key, {});
  append_type(bytes_, GgufType::string);
  append_text(bytes_, value);
}

void GgufMetadataWriter::add_uint32(std::string_view key, int64_t value) {
  add_encoded(key, {});
  append_type(bytes_, GgufType::uint32);
  append(bytes_, static_cast<uint32_t>(value));
}

void GgufMetadataWriter::add_float32(std::string_view key, double value) {
  add_encoded(key, {});
  append_type(bytes_, GgufType::float32);
  append(bytes_, static_cast<float>(value));
}

void GgufMetadataWriter::add_flag(std::string_view key, bool value) {
  add_encoded(key, {});
  append_type(bytes_, GgufType::boolean);
  append(bytes_, static_cast<uint8_t>(value));
}

void GgufMetadataWriter::add_texts(std::string_view key, std::span<const std::string_view> values) {
  add_encoded(key, {});
  append_array(bytes_, GgufType::string, values.size());
  for (const std::string_view value : values) append_text(bytes_, value);
}

void GgufMetadataWriter::add_floats(std::string_view key, std::span<const float> values) {
  add_encoded(key, {});
  append_array(bytes_, GgufType::float32, values.size());
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

void GgufMetadataWriter::add_integers(std::string_view key, std::span<const int32_t> values) {
  add_encoded(key, {});
  append_array(bytes_, GgufType::int32, values.size());
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

void GgufMetadataWriter::add_encoded(std::string_view key, std::span<const std::byte> type_and_value) {
  append_text(bytes_, key);
  bytes_.append(reinterpret_cast<const char*>(type_and_value.data()), type_and_value.size());
  ++count_;
}

}  // namespace orrery
