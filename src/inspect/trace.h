// A trace: the intermediate tensors of a forward pass, with what one must know to compare them with those of another
// pass or another program. In a file it is safetensors, with the header as metadata.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/compare_tensors.h"
#include "model/language_model.h"
#include "tensor/tensor.h"

namespace orrery {

struct TraceHeader {  // empty, 0 or absent: not known
  std::vector<TokenId> prompt_ids;
  std::vector<int> positions;             // of the rows that were kept, in order; all tensors have the same
  std::string model;                      // its name or file
  std::string checksum;                   // SHA-256 of its files, a line each, as sha256sum prints them
  std::string build;                      // of the program that made the trace
  std::string kernels;                    // Kernels::name(), or another program
  std::string attention;                  // "visible": scores, softmax and mix one after the other; "fused": at once
  std::optional<RopeLayout> rope_layout;  // in which the heads of q and k stand
  int rope_dims = 0;                      // elements of each head that turn
  int n_heads = 0, n_kv_heads = 0, head_dim = 0;
  std::optional<Norm> norm;
  double norm_epsilon = 0;
};

// As far as a model and kernels say.
TraceHeader trace_header(const ModelConfig& config, const Kernels& kernels);

struct TraceTensor {
  std::string name;       // one of src/model/PROBES.md where it is known by one
  std::string file_name;  // as the file has it
  DType dtype = DType::F32;
  std::vector<int64_t> shape;        // outermost first, as the file has it
  std::span<const std::byte> bytes;  // contiguous
};

struct Trace {
  TraceHeader header;
  std::vector<TraceTensor> tensors;  // in the order of computation
  std::vector<std::shared_ptr<const void>> owners;
  const TraceTensor* find(std::string_view name) const;  // nullptr where it is absent
};

struct TraceRequest {
  std::function<bool(std::string_view name)> wants = [](std::string_view) { return true; };
  std::vector<int> positions;                 // of which to keep rows, ascending; empty: all
  std::span<Observer* const> observers = {};  // see, and may change, each tensor before it is kept
  std::function<bool()> goes_on = {};         // asked before every call; false gives up, with a trace of what there is
};

// Computes `tokens` as the continuation of `state`, in calls of at most kPrefillRows rows, and keeps what they
// announce; tensors keep their type. Scores and weights have all keys: what a row of an earlier call could not see yet
// is -infinity and 0. Throws Error for a position that the tokens have not, and as LanguageModel::forward does.
Trace record_trace(LanguageModel& model, SequenceState& state, std::span<const TokenId> tokens, Kernels& kernels,
                   const TraceRequest& request = {});
// The same in a new sequence.
Trace record_trace(LanguageModel& model, std::span<const TokenId> tokens, Kernels& kernels,
                   const TraceRequest& request = {});

void write_trace(const std::string& path, const Trace& trace);  // throws Error
// Also safetensors without such a header, and with the names of Hugging Face's modules; tensors whose type is none of
// F32, F64, F16 and BF16 are left out. Throws Error for a broken file, or a broken header.
Trace read_trace(const std::string& path);

// A tensor as two programs can compare it: [rows, width], scores and weights as [n_heads, rows, keys]; also where the
// file has [1, n, ...] or heads as [n_heads, n, head_dim]. The heads of q and k in the half-split layout, wherever the
// header says that they stand interleaved. Scores far below any that is computed (-1e30) are -infinity.
TensorValues trace_values(const TraceTensor& tensor, const TraceHeader& header);
// Of a tensor that lives now; rows of it are those of the call.
TensorValues trace_values(const Tensor& tensor, const TraceHeader& header);

// In each head of q or k, [rows, heads * head_dim], the pairs (2i, 2i+1) become (i, i + rope_dims/2).
void split_halves(TensorValues& values, int head_dim, int rope_dims);

// Positions of the tensor's rows: the header's, else counted from 0.
std::vector<int> row_positions(const TensorValues& values, const TraceHeader& header);
// Rows at these places of [rows, width] or [n_heads, rows, keys].
TensorValues select_rows(const TensorValues& values, std::span<const int64_t> rows);
// Of the tensor of that name, the rows at these positions; nothing where the tensor or one of the rows is absent.
std::optional<TensorValues> trace_rows(const Trace& trace, std::string_view name, std::span<const int> positions);

}  // namespace orrery
