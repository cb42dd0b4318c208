#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/build_info.h"
#include "base/error.h"
#include "generate/generate.h"
#include "inspect/probe_names.h"
#include "inspect/trace.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

class TraceRecorder : public Observer {
 public:
  TraceRecorder(const TraceRequest& request, const std::vector<int>& positions)
      : request_(request), positions_(positions) {}

  bool wants(const Probe& probe) const override {
    return request_.wants(probe.name) && std::ranges::any_of(probe.rows, [&](const Row& row) { return is_kept(row); });
  }

  void on_tensor(const Probe& probe, Tensor& tensor) override {
    if (!wants(probe)) return;  // another observer of this call may have wanted it
    const auto [found, is_new] = index_.try_emplace(std::string(probe.name), kept_.size());
    if (is_new) kept_.push_back({std::string(probe.name), tensor.dtype, {}, {}});
    Kept& kept = kept_[found->second];
    kept.pieces.push_back(piece_of(probe, tensor));
    kept.shape.assign(tensor.shape, tensor.shape + tensor.n_dims);
  }

  void move_into(Trace& trace) {
    for (Kept& kept : kept_) {
      const auto bytes = std::make_shared<std::vector<std::byte>>(joined(kept));
      trace.tensors.push_back({kept.name, kept.name, kept.dtype, kept.shape, *bytes});
      trace.owners.push_back(bytes);
      kept.pieces.clear();
    }
  }

 private:
  struct Piece {  // of one call: [n_heads, n_rows, width], one head where the tensor has none
    int64_t n_heads = 1, n_rows = 0, width = 0;
    std::vector<std::byte> bytes;
  };
  struct Kept {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;  // of the last call
    std::vector<Piece> pieces;
  };

  bool is_kept(const Row& row) const { return std::ranges::binary_search(positions_, row.position); }

  Piece piece_of(const Probe& probe, const Tensor& tensor) const {
    Piece piece;
    const auto n_rows = static_cast<int64_t>(probe.rows.size());
    if (has_heads_outside(probe.name)) piece.n_heads = tensor.shape[0];
    piece.width = n_elements(tensor) / (piece.n_heads * n_rows);
    const size_t row_bytes = bytes_of(tensor.dtype, piece.width);
    piece.bytes.reserve(n_bytes(tensor));
    for (int64_t head = 0; head < piece.n_heads; ++head) {
      for (int64_t r = 0; r < n_rows; ++r) {
        if (!is_kept(probe.rows[static_cast<size_t>(r)])) continue;
        const std::byte* row = tensor.data + static_cast<size_t>(head * n_rows + r) * row_bytes;
        piece.bytes.insert(piece.bytes.end(), row, row + row_bytes);
        if (head == 0) ++piece.n_rows;
      }
    }
    return piece;
  }

  // The rows of all calls, each as wide as the last one's: calls before it had fewer keys.
  static std::vector<std::byte> joined(Kept& kept) {
    int64_t n_rows = 0;
    for (const Piece& piece : kept.pieces) n_rows += piece.n_rows;
    kept.shape[has_heads_outside(kept.name) ? 1 : 0] = n_rows;
    if (kept.pieces.size() == 1) return std::move(kept.pieces[0].bytes);

    const Piece& last = kept.pieces.back();
    const size_t row_bytes = bytes_of(kept.dtype, last.width);
    const std::vector<double> unseen(static_cast<size_t>(last.width), split_probe_name(kept.name).kind == "attn.scores"
                                                                          ? -std::numeric_limits<double>::infinity()
                                                                          : 0);
    std::vector<std::byte> bytes(static_cast<size_t>(last.n_heads * n_rows) * row_bytes);
    std::byte* target = bytes.data();
    for (int64_t head = 0; head < last.n_heads; ++head) {
      for (const Piece& piece : kept.pieces) {
        const size_t given = bytes_of(kept.dtype, piece.width);
        for (int64_t r = 0; r < piece.n_rows; ++r, target += row_bytes) {
          const std::byte* source = piece.bytes.data() + static_cast<size_t>(head * piece.n_rows + r) * given;
          std::copy(source, source + given, target);
          convert_row(DType::F64, reinterpret_cast<const std::byte*>(unseen.data()), kept.dtype, target + given,
                      last.width - piece.width);
        }
      }
    }
    return bytes;
  }

  const TraceRequest& request_;
  const std::vector<int>& positions_;
  std::vector<Kept> kept_;
  std::unordered_map<std::string, size_t> index_;
};

// Those asked for, or all that the tokens have.
std::vector<int> kept_positions(const TraceRequest& request, int first, int count) {
  std::vector<int> positions = request.positions;
  std::ranges::sort(positions);
  positions.erase(std::ranges::unique(positions).begin(), positions.end());
  if (!positions.empty() && (positions.front() < first || positions.back() >= first + count)) {
    throw Error({.what = "the text has no such position",
                 .where = "positions",
                 .expected = std::to_string(first) + " to " + std::to_string(first + count - 1),
                 .found = std::to_string(positions.front() < first ? positions.front() : positions.back())});
  }
  if (positions.empty()) {
    positions.resize(static_cast<size_t>(count));
    std::iota(positions.begin(), positions.end(), first);
  }
  return positions;
}

}  // namespace

TraceHeader trace_header(const ModelConfig& config, const Kernels& kernels) {
  TraceHeader header;
  header.model = config.name;
  header.build = std::string("orrery ") + build_info().version + ", " + build_info().build;
  header.kernels = kernels.name();
  if (config.is_recurrent()) return header;
  if (config.positions == Positions::rope) header.rope_layout = config.rope_layout;
  header.rope_dims = config.rope_dims;
  header.n_heads = config.n_heads;
  header.n_kv_heads = config.n_kv_heads;
  header.head_dim = config.head_dim;
  header.norm = config.norm;
  header.norm_epsilon = config.norm_epsilon;
  return header;
}

const TraceTensor* Trace::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TraceTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

Trace record_trace(LanguageModel& model, SequenceState& state, std::span<const TokenId> tokens, Kernels& kernels,
                   const TraceRequest& request) {
  const int start = state.length();
  Trace trace;
  trace.header = trace_header(model.config(), kernels);
  trace.header.prompt_ids.assign(tokens.begin(), tokens.end());
  trace.header.positions = kept_positions(request, start, static_cast<int>(tokens.size()));
  const std::vector<int>& positions = trace.header.positions;

  TraceRecorder recorder(request, positions);
  std::vector<Observer*> observers(request.observers.begin(), request.observers.end());
  observers.push_back(&recorder);
  const bool wants_logits = request.wants("logits");
  Arena arena;
  for (size_t first = 0; first == 0 || first < tokens.size(); first += kPrefillRows) {
    if (request.goes_on && !request.goes_on()) break;
    std::vector<Row> rows;
    for (size_t i = first; i < std::min<size_t>(first + kPrefillRows, tokens.size()); ++i) {
      const int position = start + static_cast<int>(i);
      rows.push_back({tokens[i], position, &state, wants_logits && std::ranges::binary_search(positions, position)});
    }
    arena.reset();
    model.forward(rows, kernels, arena, observers);
  }
  recorder.move_into(trace);
  const bool is_visible =
      std::ranges::any_of(trace.tensors, [](const TraceTensor& tensor) { return has_heads_outside(tensor.name); });
  if (!model.config().is_recurrent()) trace.header.attention = is_visible ? "visible" : "fused";
  return trace;
}

Trace record_trace(LanguageModel& model, std::span<const TokenId> tokens, Kernels& kernels,
                   const TraceRequest& request) {
  const auto state = model.new_sequence();
  return record_trace(model, *state, tokens, kernels, request);
}

}  // namespace orrery
