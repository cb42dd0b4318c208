#include "inspect/trace_export.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/output_file.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

std::string numbers_text(std::span<const int> numbers) {
  std::string text;
  for (const int number : numbers) text += " " + std::to_string(number);
  return text + "\n";
}

struct Summary {
  double least = std::numeric_limits<double>::infinity(), largest = -least, sum = 0, squares = 0;
  int64_t n_finite = 0;
};

Summary summary_of(std::span<const double> numbers) {
  Summary s;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    s.least = std::min(s.least, x);
    s.largest = std::max(s.largest, x);
    s.sum += x;
    s.squares += x * x;
    ++s.n_finite;
  }
  return s;
}

std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, " %11.4e", x + 0.0);  // -0 + 0 is 0
  return text;
}

std::string line_of(const TraceTensor& tensor) {
  const TensorValues values = trace_values(tensor, {});
  const Summary s = summary_of(values.numbers);
  char head[160];
  std::snprintf(head, sizeof head, "%-28s %-4s %-16s", printable(tensor.name).substr(0, 80).c_str(),
                info(tensor.dtype).name, shape_text(TensorValues{tensor.shape, {}}).c_str());
  std::string text = head;
  text += number_text(s.n_finite > 0 ? s.least : NAN) + number_text(s.n_finite > 0 ? s.largest : NAN);
  text += number_text(s.sum / static_cast<double>(s.n_finite)) + number_text(std::sqrt(s.squares));
  char count[24];
  std::snprintf(count, sizeof count, " %10lld", static_cast<long long>(std::ssize(values.numbers) - s.n_finite));
  text += count;
  for (size_t i = 0; i < std::min<size_t>(4, values.numbers.size()); ++i) text += number_text(values.numbers[i]);
  return text + "\n";
}

std::string npy_header(const char* descr, std::span<const int64_t> shape) {
  std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i) dict += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  dict += shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t kBefore = 10, kAlignment = 64;  // magic, version, length; where the data must begin
  dict.append(kAlignment - (kBefore + dict.size() + 1) % kAlignment, ' ');
  dict += '\n';
  const auto length = static_cast<uint16_t>(dict.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xFF) + static_cast<char>(length >> 8) + dict;
}

void write_npy(const std::string& path, const TraceTensor& tensor) {
  OutputFile file(path);
  const bool is_brain = tensor.dtype == DType::BF16;  // NumPy has no such type
  file.write(npy_header(tensor.dtype == DType::F64 ? "<f8" : tensor.dtype == DType::F16 ? "<f2" : "<f4", tensor.shape));
  if (is_brain) {
    const auto n = static_cast<int64_t>(tensor.bytes.size() / sizeof(uint16_t));
    std::vector<float> wide(static_cast<size_t>(n));
    convert_row(DType::BF16, tensor.bytes.data(), DType::F32, reinterpret_cast<std::byte*>(wide.data()), n);
    file.write(std::as_bytes(std::span(wide)));
  } else {
    file.write(tensor.bytes);
  }
  file.commit();
}

}  // namespace

std::string trace_text(const Trace& trace) {
  const TraceHeader& header = trace.header;
  std::string text = "# ids" + numbers_text(header.prompt_ids) + "# positions" + numbers_text(header.positions);
  text += "# kernels " + header.kernels + ", attention " + header.attention;
  if (header.rope_layout) {
    text +=
        std::string(", rope_layout ") + (*header.rope_layout == RopeLayout::interleaved ? "interleaved" : "half_split");
  }
  char columns[200];
  std::snprintf(columns, sizeof columns, "\n%-28s %-4s %-16s %11s %11s %11s %11s %10s %11s\n", "# name", "type",
                "shape", "least", "largest", "mean", "l2", "non-finite", "first four");
  text += columns;
  for (const TraceTensor& tensor : trace.tensors) text += line_of(tensor);
  return text;
}

void write_npy_files(const std::string& folder, const Trace& trace) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error({.what = "cannot make the folder: " + error.message(), .where = folder});
  for (const TraceTensor& tensor : trace.tensors) {
    if (tensor.name.find('/') != std::string::npos) {
      throw Error({.what = "a tensor of this name cannot be a file", .where = tensor.name});
    }
    write_npy(folder + "/" + tensor.name + ".npy", tensor);
  }
}

}  // namespace orrery
