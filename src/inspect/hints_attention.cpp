// Diagnoses of what is wrong between q, k, v and their mix.
#include <algorithm>
#include <cmath>

#include "inspect/hint_evidence.h"

namespace orrery {
namespace {

// ---- RoPE ----

// Which elements of a head turn together. Heads are compared in the half-split order, where the right pairs are (i, i +
// dims/2). A program that turns the other pairs turns neighbours, (2i, 2i+1), if its heads stand in that order; if they
// stand interleaved, it turns what lies half a head apart there.
enum class Pairs { right, neighbours, halves_of_interleaved };

// The two elements of pair i, in the half-split order.
std::pair<int64_t, int64_t> pair_of(Pairs pairs, int64_t i, int64_t rope_dims) {
  const int64_t half = rope_dims / 2;
  const auto split = [&](int64_t place) { return place / 2 + place % 2 * half; };  // of an interleaved place
  switch (pairs) {
    case Pairs::right: return {i, i + half};
    case Pairs::neighbours: return {2 * i, 2 * i + 1};
    case Pairs::halves_of_interleaved: return {split(i), split(i + half)};
  }
  return {};
}

// Whether each of these pairs is as long after RoPE as before: a rotation keeps the length of the pairs that it turns,
// and of no other ones.
bool keeps_lengths(const TensorValues& before, const TensorValues& after, Pairs pairs, int64_t head_dim,
                   int64_t rope_dims) {
  double differences = 0, squares = 0;
  for (size_t head = 0; head < before.numbers.size(); head += static_cast<size_t>(head_dim)) {
    for (int64_t i = 0; i < rope_dims / 2; ++i) {
      const auto [first, second] = pair_of(pairs, i, rope_dims);
      const size_t one = head + static_cast<size_t>(first), two = head + static_cast<size_t>(second);
      const double was = before.numbers[one] * before.numbers[one] + before.numbers[two] * before.numbers[two];
      const double is = after.numbers[one] * after.numbers[one] + after.numbers[two] * after.numbers[two];
      differences += std::abs(was - is);
      squares += was;
    }
  }
  constexpr double kMostLost = 0.02;  // half precision loses less, the wrong pairs some tenths
  return differences <= kMostLost * squares;
}

struct RopePair {
  const TensorPair *before, *after;
  int64_t head_dim, rope_dims;
};

// q and q_rope, or k and k_rope, where the latter is the first that differs.
std::optional<RopePair> rotated(const Evidence& evidence) {
  const bool is_query = evidence.kind() == "attn.q_rope";
  if (!is_query && evidence.kind() != "attn.k_rope") return std::nullopt;
  RopePair pair{};
  pair.before = is_query ? evidence.here({"attn.q_norm", "attn.q"}) : evidence.here({"attn.k_norm", "attn.k"});
  pair.after = evidence.mismatch();
  pair.head_dim = evidence.known(&TraceHeader::head_dim);
  pair.rope_dims = evidence.known(&TraceHeader::rope_dims);
  if (pair.rope_dims == 0) pair.rope_dims = pair.head_dim;
  if (pair.before == nullptr || pair.after == nullptr || pair.rope_dims < 2 || pair.rope_dims > pair.head_dim ||
      pair.before->a.shape != pair.after->a.shape || pair.after->a.width() % pair.head_dim != 0) {
    return std::nullopt;
  }
  return pair;
}

bool keeps(const RopePair& pair, bool in_a, Pairs pairs) {
  return keeps_lengths(in_a ? pair.before->a : pair.before->b, in_a ? pair.after->a : pair.after->b, pairs,
                       pair.head_dim, pair.rope_dims);
}

// The rows of q or k are the same numbers in another order: one file's weights are permuted for the other layout, or
// its header says so and they are not.
Diagnosis find_permuted_rows(const Evidence& evidence) {
  const TensorPair* pair = evidence.mismatch();
  const auto head_dim = static_cast<int>(evidence.known(&TraceHeader::head_dim));
  const auto given = static_cast<int>(evidence.known(&TraceHeader::rope_dims));
  const int rope_dims = given > 0 ? given : head_dim;
  if (pair == nullptr || rope_dims < 4 || rope_dims > head_dim || rope_dims % 2 != 0) return std::nullopt;
  if (pair->a.width() % head_dim != 0) return std::nullopt;
  TensorValues a = pair->a, b = pair->b;
  split_halves(a, head_dim, rope_dims);
  split_halves(b, head_dim, rope_dims);
  const bool is_b = explains(b.numbers, pair->a.numbers, pair->b.numbers);
  if (!is_b && !explains(a.numbers, pair->b.numbers, pair->a.numbers)) return std::nullopt;
  return "the rows of q and k are the same in another order: " + std::string(is_b ? "B" : "A") +
         "'s stand interleaved, (2i, 2i+1), though they are taken for half-split, (i, i + rope_dims/2)";
}

// ---- Scores ----

bool is_seen(std::string_view kind, double value) { return kind == "attn.scores" ? std::isfinite(value) : value > 0; }

// The first and the last key that row `r` of some head sees.
struct Seen {
  int64_t first = -1, last = -1;
  bool operator==(const Seen&) const = default;
};
Seen seen_by(std::string_view kind, const TensorValues& values, int64_t r) {
  Seen seen;
  const int64_t n_rows = values.shape[1], width = values.width();
  for (int64_t h = 0; h < values.shape[0]; ++h) {
    const double* row = values.row(h * n_rows + r);
    for (int64_t j = 0; j < width; ++j) {
      if (!is_seen(kind, row[j])) continue;
      seen.first = seen.first < 0 ? j : std::min(seen.first, j);
      seen.last = std::max(seen.last, j);
    }
  }
  return seen;
}

std::string keys_text(const Seen& seen) {
  return seen.last < 0 ? "no key" : "keys " + std::to_string(seen.first) + " to " + std::to_string(seen.last);
}

// The largest difference of one row of mix, beside the row's own size.
double row_distance(const TensorPair& pair, int64_t r) {
  const auto row = [&](const TensorValues& values) {
    return std::vector<double>(values.row(r), values.row(r) + values.width());
  };
  return distance(row(pair.a), row(pair.b));
}

constexpr double kSame = 1e-3;  // distance of rows that agree, also in half precision

// Head `h` of [n_heads, rows, keys] or of [rows, n_heads * head_dim].
std::vector<double> head_of(const TensorValues& values, int64_t h, int64_t n_heads) {
  if (values.shape.size() == 3) {
    const int64_t size = values.shape[1] * values.shape[2];
    return {values.numbers.begin() + h * size, values.numbers.begin() + (h + 1) * size};
  }
  const int64_t width = values.width() / n_heads;
  std::vector<double> head;
  for (int64_t r = 0; r < values.n_rows(); ++r) {
    head.insert(head.end(), values.row(r) + h * width, values.row(r) + (h + 1) * width);
  }
  return head;
}

// Whether some head of v stands in the first row of mix, head after head: the row at position 0 sees itself alone.
bool begins_with_itself(const TensorValues& mix, const TensorValues& v, int64_t n_heads, int64_t n_kv_heads) {
  for (int64_t h = 0; h < n_heads; ++h) {
    bool is_found = false;
    const std::vector<double> head = head_of(select_rows(mix, std::vector<int64_t>{0}), h, n_heads);
    for (int64_t g = 0; g < n_kv_heads; ++g) {
      is_found = is_found || distance(head_of(select_rows(v, std::vector<int64_t>{0}), g, n_kv_heads), head) < kSame;
    }
    if (!is_found) return false;
  }
  return true;
}

}  // namespace

Diagnosis find_rope_layout(const Evidence& evidence) {
  if (evidence.is_kind({"attn.q", "attn.k", "attn.q_norm", "attn.k_norm"})) return find_permuted_rows(evidence);
  const auto pair = rotated(evidence);
  if (!pair) return std::nullopt;
  const bool a_is_right = keeps(*pair, true, Pairs::right), b_is_right = keeps(*pair, false, Pairs::right);
  if (a_is_right == b_is_right) return find_permuted_rows(evidence);
  if (!keeps(*pair, !a_is_right, Pairs::neighbours) && !keeps(*pair, !a_is_right, Pairs::halves_of_interleaved)) {
    return std::nullopt;
  }
  const std::string right = a_is_right ? "A" : "B", wrong = a_is_right ? "B" : "A";
  return "q and k agree, but RoPE turns other pairs: " + right + " turns those that the order of its rows asks for; " +
         wrong + " takes half-split rows, (i, i + rope_dims/2), for interleaved ones, (2i, 2i+1), or the reverse";
}

// The same pairs turn, by other angles. Where RoPE's output is not there: the score of a row with its own key does not
// depend on angles, all others do.
Diagnosis find_rope_angles(const Evidence& evidence) {
  if (const auto pair = rotated(evidence)) {
    if (!keeps(*pair, true, Pairs::right) || !keeps(*pair, false, Pairs::right)) return std::nullopt;
    const bool differs_at_start = pair->after->positions.front() == 0 && row_distance(*pair->after, 0) > kSame;
    return "the same pairs turn by other angles: " +
           std::string(differs_at_start
                           ? "already at position 0, where nothing should turn, so positions are shifted"
                           : "the base (rope_base), the scaling of positions, or the frequencies' factors");
  }
  const TensorPair* scores = evidence.mismatch();
  if (evidence.kind() != "attn.scores" || scores == nullptr || scores->a.shape.size() != 3) return std::nullopt;
  if (evidence.here({"attn.q_rope"}) != nullptr) return std::nullopt;  // RoPE's output is there, and agrees
  std::vector<double> own_a, own_b;
  const int64_t n = scores->a.shape[1], m = scores->a.shape[2];
  for (int64_t i = 0; i < scores->a.shape[0] * n; ++i) {
    const int64_t own = scores->positions[static_cast<size_t>(i % n)];
    if (own >= m) return std::nullopt;
    own_a.push_back(scores->a.row(i)[own]);
    own_b.push_back(scores->b.row(i)[own]);
  }
  if (distance(own_a, own_b) > kSame || distance(scores->a.numbers, scores->b.numbers) < kSame) return std::nullopt;
  return "scores of rows with their own keys agree and all others differ: RoPE, since only they do not depend on its "
         "angles; its layout, base or scaling";
}

// Where one has -infinity (a weight of 0) and the other a number, a row sees other keys. Where only the mix is there:
// the last row sees all keys with a mask and without.
Diagnosis find_mask(const Evidence& evidence) {
  const TensorPair* pair = evidence.mismatch();
  if (pair == nullptr) return std::nullopt;
  if (evidence.is_kind({"attn.scores", "attn.weights"}) && pair->a.shape.size() == 3) {
    for (int64_t r = 0; r < pair->a.shape[1]; ++r) {
      const Seen a = seen_by(evidence.kind(), pair->a, r), b = seen_by(evidence.kind(), pair->b, r);
      if (a == b) continue;
      const int position = pair->positions[static_cast<size_t>(r)];
      const Seen other = a.last != position ? a : b;
      std::string text = "the row at position " + std::to_string(position) + " sees " + keys_text(a) + " in A, " +
                         keys_text(b) + " in B";
      if (other.last > position) text += ": a key after its own, which a causal mask hides";
      if (other.last < position) text += ": not its own key, which a causal mask leaves visible";
      if (a.last == b.last) text += ": another window of attention";
      return text;
    }
    return std::nullopt;
  }
  if (evidence.kind() != "attn.mix" || evidence.here({"attn.scores", "attn.weights"}) != nullptr) return std::nullopt;
  const int64_t n = pair->a.n_rows();
  const TensorVerdict* v = evidence.diff.find(probe_name(evidence.layer(), "attn.v"));
  if (n < 2 || (v != nullptr && !v->agrees) || row_distance(*pair, n - 1) > kSame) return std::nullopt;
  return "the last row, which sees all keys, agrees, and rows before it differ: they see other keys, as without a "
         "causal mask or with one that is shifted";
}

// Heads that trade places, or query heads that read key-value head h % n_kv_heads where h / (n_heads / n_kv_heads) is
// meant: then just those agree for which both are the same.
Diagnosis find_head_mapping(const Evidence& evidence) {
  const TensorPair* pair = evidence.mismatch();
  const int64_t n_heads = evidence.known(&TraceHeader::n_heads), n_kv_heads = evidence.known(&TraceHeader::n_kv_heads);
  if (!evidence.is_kind({"attn.scores", "attn.weights", "attn.mix"}) || pair == nullptr || n_heads < 2 ||
      pair->a.width() == 0 ||
      (pair->a.shape.size() == 3 ? pair->a.shape[0] != n_heads : pair->a.width() % n_heads != 0)) {
    return std::nullopt;
  }
  std::vector<std::vector<double>> in_a, in_b;
  for (int64_t h = 0; h < n_heads; ++h) {
    in_a.push_back(head_of(pair->a, h, n_heads));
    in_b.push_back(head_of(pair->b, h, n_heads));
  }
  bool all_found = true, as_modulo = n_kv_heads > 1 && n_heads % n_kv_heads == 0, any_moved = false;
  for (int64_t h = 0; h < n_heads; ++h) {
    const bool agrees = distance(in_a[static_cast<size_t>(h)], in_b[static_cast<size_t>(h)]) < kSame;
    any_moved = any_moved || !agrees;
    const auto found = std::ranges::find_if(
        in_b, [&](const auto& head) { return distance(in_a[static_cast<size_t>(h)], head) < kSame; });
    all_found = all_found && found != in_b.end();
    if (as_modulo) as_modulo = agrees == (h / (n_heads / n_kv_heads) == h % n_kv_heads);
  }
  if (!any_moved) return std::nullopt;
  if (all_found) return "the heads of A are those of B in another order";
  if (!as_modulo) return std::nullopt;
  return "just those heads agree whose key-value head is the same by h / (n_heads / n_kv_heads), which is right, and "
         "by h % n_kv_heads: one of the two maps query heads the other way";
}

// More keys than the sequence has positions, positions past the prompt, or a row at position 0 that sees more than
// itself: what an earlier sequence left behind.
Diagnosis find_cache_not_reset(const Evidence& evidence) {
  const auto stale = [](const Trace& trace, const TraceTensor* tensor) {
    const size_t n = trace.header.prompt_ids.size();
    if (n == 0) return false;
    const auto& positions = trace.header.positions;
    const bool is_past = !positions.empty() && positions.back() >= static_cast<int>(n);
    return is_past ||
           (tensor != nullptr && tensor->shape.size() >= 3 && tensor->shape.back() > static_cast<int64_t>(n));
  };
  for (const char* kind : {"attn.scores", "attn.weights"}) {
    const std::string name = probe_name(std::max(evidence.layer(), 0), kind);
    const bool in_a = stale(evidence.a, evidence.a.find(name)), in_b = stale(evidence.b, evidence.b.find(name));
    if (in_a == in_b) continue;
    return std::string(in_a ? "A" : "B") +
           " has keys or positions past the end of its prompt: the cache still holds an earlier sequence";
  }
  const TensorPair *mix = evidence.here({"attn.mix"}), *v = evidence.here({"attn.v"});
  const int64_t n_heads = evidence.known(&TraceHeader::n_heads), n_kv_heads = evidence.known(&TraceHeader::n_kv_heads);
  if (!evidence.is_kind({"attn.scores", "attn.weights", "attn.mix"}) || mix == nullptr || v == nullptr ||
      n_heads == 0 || n_kv_heads == 0 || mix->positions.front() != 0 || mix->a.n_rows() < 2 ||
      mix->a.width() % n_heads != 0 || v->a.width() % n_kv_heads != 0 ||
      row_distance(*mix, mix->a.n_rows() - 1) < kSame) {  // the last row sees all keys of its own sequence anyway
    return std::nullopt;
  }
  const bool in_a = begins_with_itself(mix->a, v->a, n_heads, n_kv_heads);
  const bool in_b = begins_with_itself(mix->b, v->b, n_heads, n_kv_heads);
  if (in_a == in_b) return std::nullopt;
  return "at position 0 the mix is that row's own value in " + std::string(in_a ? "A" : "B") +
         " and something else in " + (in_a ? "B" : "A") +
         ", whose last row differs too: it sees keys that are not of this sequence";
}

}  // namespace orrery
