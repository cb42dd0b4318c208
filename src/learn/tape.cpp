#include "learn/tape.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/error.h"

namespace orrery {
namespace {

void show(Tensor& tensor, std::span<Observer* const> observers) {
  std::string_view name = tensor.name;
  Probe probe{.name = name};
  // "blk.3.attn.q.grad", "lstm.0.out.grad"; other names have no number there.
  const size_t number = std::min(name.find('.'), name.size() - 1) + 1;
  std::from_chars(name.data() + number, name.data() + name.size(), probe.layer);
  for (Observer* observer : observers) {
    if (observer->wants(probe)) observer->on_tensor(probe, tensor);
  }
}

[[noreturn]] void refuse(const char* operation, const char* hint) {
  throw Error({.what = "this operation has no way back", .where = operation, .hint = hint});
}

}  // namespace

// ---- Writing down ----------------------------------------------------------------------------------------------

void Tape::clear() {
  for (Call& call : calls_) {
    if (call.dy.data != nullptr) gradient_memory_.give_back(call.dy);
  }
  for (const Tensor& gradient : discarded_) gradient_memory_.give_back(gradient);
  discarded_.clear();
  calls_.clear();
  tenants_.clear();
  logits_ = {};
  targets_.clear();
}

Tape::Input Tape::find(const Tensor& tensor) const {
  Input input{.tensor = tensor, .parameter = parameters_.of_address(tensor.data)};
  auto after = tenants_.upper_bound(tensor.data);
  if (after != tenants_.begin()) {
    const auto [begin, call] = *--after;
    if (tensor.data < begin + n_bytes(calls_[static_cast<size_t>(call)].y)) input.call = call;
  }
  return input;
}

void Tape::record(Call call, std::span<const Tensor> others) {
  call.make();
  call.n_others = static_cast<int>(others.size());
  const int maker = n_calls() + call.n_others;
  for (const Tensor& other : others) {
    calls_.push_back({.operation = call.operation, .y = other, .back = [](const Tensor&) {}, .maker = maker});
    occupy(n_calls() - 1);
  }
  calls_.push_back(std::move(call));
  occupy(maker);
}

// The call's output is in its place: whatever lay there is gone.
void Tape::occupy(int index) {
  Call& call = calls_[static_cast<size_t>(index)];
  const std::byte *begin = call.y.data, *end = begin + n_bytes(call.y);
  auto place = tenants_.upper_bound(begin);
  if (place != tenants_.begin()) --place;  // it may reach into ours
  while (place != tenants_.end() && place->first < end) {
    Call& other = calls_[static_cast<size_t>(place->second)];
    if (other.y.data + n_bytes(other.y) > begin) {
      other.is_overwritten = true;
      place = tenants_.erase(place);
    } else {
      ++place;
    }
  }
  call.is_overwritten = false;
  tenants_[begin] = index;
}

// ---- Walking back ----------------------------------------------------------------------------------------------

void Tape::backward(std::span<const double> dlosses, std::span<Observer* const> observers) {
  if (logits_.tensor.data == nullptr || dlosses.size() != targets_.size()) {
    throw Error({.what = "there is no loss to begin with, or not as many weights as losses",
                 .where = "tape",
                 .expected = std::to_string(targets_.size()),
                 .found = std::to_string(dlosses.size())});
  }
  remake(logits_);
  Tensor dlogits = gradient_of(logits_);
  backward_.cross_entropy(logits_.tensor, targets_, dlosses, dlogits);  // [n, vocab]
  for (int i = n_calls(); i-- > 0;) {
    if (leads_to_loss(i)) walk_back(calls_[static_cast<size_t>(i)], observers);
  }
  for (const Parameter& parameter : parameters_.all()) {
    Tensor gradient = parameter.gradient;
    show(gradient, observers);
  }
  clear();
}

// Whether anything that led to the loss used one of its outputs.
bool Tape::leads_to_loss(int index) const {
  const int n_others = calls_[static_cast<size_t>(index)].n_others;
  return std::any_of(calls_.begin() + index - n_others, calls_.begin() + index + 1,
                     [](const Call& call) { return call.dy.data != nullptr; });
}

void Tape::walk_back(Call& call, std::span<Observer* const> observers) {
  const int index = static_cast<int>(&call - calls_.data());
  if (call.dy.data == nullptr) gradient_of({.tensor = call.y, .call = index});  // zeros: its other outputs lead there
  show(call.dy, observers);
  for (const Input& input : call.needed) remake(input);
  for (const Input& input : call.needed) {
    if (input.call < 0 || !calls_[static_cast<size_t>(input.call)].is_overwritten) continue;
    throw Error({.what = "inputs of a call lie in the same memory",
                 .where = std::string("tape, ") + call.operation + " " + call.y.name,
                 .hint = "use an arena that keeps all"});
  }
  call.back(call.dy);
  gradient_memory_.give_back(call.dy);
  call.dy = {};
  for (const Tensor& gradient : discarded_) gradient_memory_.give_back(gradient);
  discarded_.clear();
}

// Makes the call again that this input came from, if its output was overwritten, and before it those that it needs.
void Tape::remake(const Input& input) {
  if (input.call < 0 || !calls_[static_cast<size_t>(input.call)].is_overwritten) return;
  const int maker = calls_[static_cast<size_t>(input.call)].maker;
  const int index = maker < 0 ? input.call : maker;
  Call& call = calls_[static_cast<size_t>(index)];
  for (const Input& earlier : call.inputs) remake(earlier);
  call.make();
  if (repeated_observer_ != nullptr) show(call.y, std::span(&repeated_observer_, 1));
  for (int made = index - call.n_others; made <= index; ++made) occupy(made);
  ++repeated_calls_;
}

// Where to add what is found out about the gradient of this input. Zeros at the first use of an activation.
Tensor Tape::gradient_of(const Input& input) {
  Tensor gradient = input.tensor;
  if (input.parameter != nullptr) {
    const Parameter& parameter = *input.parameter;
    gradient.data = parameter.gradient.data + (input.tensor.data - parameter.weight.data);
  } else if (input.call >= 0) {
    Call& maker = calls_[static_cast<size_t>(input.call)];
    if (maker.dy.data == nullptr) {
      maker.dy = gradient_memory_.take(maker.y);
      backward_.clear(maker.dy);
    }
    gradient.data = maker.dy.data + (input.tensor.data - maker.y.data);
  } else {
    gradient = gradient_memory_.take(input.tensor);
    backward_.clear(gradient);
    discarded_.push_back(gradient);
  }
  set_name(gradient, std::string(input.tensor.name) + ".grad");
  return gradient;
}

// ---- One operation after the other: how it is made, and its way back -------------------------------------------

void Tape::embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) {
  const Input from = find(table);
  const std::vector<int32_t> rows(ids.begin(), ids.end());
  record({.operation = "embed",
          .y = y,
          .inputs = {from},
          .needed = {},
          .make = [=, this]() mutable { forward_.embed(table, rows, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dtable = gradient_of(from);
                backward_.embed(rows, dy, dtable);  // [vocab, d]
              }});
}

void Tape::matmul(const Tensor& x, const Tensor& w, Tensor& y) {
  const Input from = find(x), weight = find(w);
  record({.operation = "matmul",
          .y = y,
          .inputs = {from, weight},
          .needed = {from, weight},
          .make = [=, this]() mutable { forward_.matmul(x, w, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dx = gradient_of(from), dw = gradient_of(weight);
                backward_.matmul_input(dy, w, dx);   // [n, in]
                backward_.matmul_weight(dy, x, dw);  // [out, in]
              }});
}

void Tape::add(const Tensor& a, const Tensor& b, Tensor& y) {
  const Input left = find(a), right = find(b);
  record({.operation = "add",
          .y = y,
          .inputs = {left, right},
          .needed = {},
          .make = [=, this]() mutable { forward_.add(a, b, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor da = gradient_of(left), db = gradient_of(right);
                backward_.add(dy, da);  // [n, d]
                backward_.add(dy, db);  // [n, d] or [d]
              }});
}

void Tape::scale(const Tensor& x, double factor, Tensor& y) {
  const Input from = find(x);
  record({.operation = "scale",
          .y = y,
          .inputs = {from},
          .needed = {},
          .make = [=, this]() mutable { forward_.scale(x, factor, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dx = gradient_of(from), scaled = dy;  // nobody reads dy after this
                backward_.scale(factor, scaled);
                backward_.add(scaled, dx);  // [n, d]
              }});
}

void Tape::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) {
  const Input from = find(x), factor = find(gain);
  record({.operation = "rms_norm",
          .y = y,
          .inputs = {from, factor},
          .needed = {from, factor},
          .make = [=, this]() mutable { forward_.rms_norm(x, gain, epsilon, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dx = gradient_of(from), dgain = gradient_of(factor);
                backward_.rms_norm(x, gain, epsilon, dy, dx, dgain);  // [n, d], [d]
              }});
}

void Tape::layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) {
  const Input from = find(x), factor = find(gain), addend = find(bias);
  record({.operation = "layer_norm",
          .y = y,
          .inputs = {from, factor, addend},
          .needed = {from, factor},
          .make = [=, this]() mutable { forward_.layer_norm(x, gain, bias, epsilon, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dx = gradient_of(from), dgain = gradient_of(factor), dbias = gradient_of(addend);
                backward_.layer_norm(x, gain, epsilon, dy, dx, dgain, dbias);  // [n, d], [d], [d]
              }});
}

// The angles follow from the positions: constants, as far as learning goes. They are not recorded.
void Tape::rope_angles(std::span<const int> positions, std::span<const double> frequencies, Tensor& cosine,
                       Tensor& sine) {
  forward_.rope_angles(positions, frequencies, cosine, sine);
}

void Tape::rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim, Tensor& y) {
  const Input from = find(x);
  record({.operation = "rope",
          .y = y,
          .inputs = {from},
          .needed = {},
          .make = [=, this]() mutable { forward_.rope(x, cosine, sine, layout, head_dim, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dx = gradient_of(from);
                backward_.rope(dy, cosine, sine, layout, head_dim, dx);  // [n, heads * head_dim]
              }});
}

void Tape::activate(Activation activation, const Tensor& x, Tensor& y) {
  const Input from = find(x);
  record({.operation = "activate",
          .y = y,
          .inputs = {from},
          .needed = {from},
          .make = [=, this]() mutable { forward_.activate(activation, x, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dx = gradient_of(from);
                backward_.activate(activation, x, dy, dx);  // [n, d]
              }});
}

void Tape::activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) {
  const Input from_gate = find(gate), from_up = find(up);
  record({.operation = "activate_gated",
          .y = y,
          .inputs = {from_gate, from_up},
          .needed = {from_gate, from_up},
          .make = [=, this]() mutable { forward_.activate_gated(activation, gate, up, y); },
          .back =
              [=, this](const Tensor& dy) {
                Tensor dgate = gradient_of(from_gate), dup = gradient_of(from_up);
                backward_.activate_gated(activation, gate, up, dy, dgate, dup);  // [n, d_ff] twice
              }});
}

// Attention's groups with memory of their own, for the caller's are gone after the call; each tensor of theirs as
// `replace` has it.
struct Tape::Groups {
  template <class Replace>
  Groups(std::span<const AttentionGroup> groups, const Replace& replace) {
    for (const AttentionGroup& group : groups) {
      positions.emplace_back(group.positions.begin(), group.positions.end());
      spans.emplace_back();
      for (const KeyValueSpan& span : group.spans) spans.back().push_back({replace(span.keys), replace(span.values)});
    }
    for (size_t i = 0; i < groups.size(); ++i) list.push_back({groups[i].first_row, positions[i], spans[i]});
  }
  Groups(const Groups&) = delete;  // the list points into the other two
  Groups& operator=(const Groups&) = delete;

  std::vector<std::vector<int>> positions;
  std::vector<std::vector<KeyValueSpan>> spans;
  std::vector<AttentionGroup> list;
};

void Tape::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                     Tensor& mix) {
  const Input from = find(q);
  std::vector<Input> read = {from};
  const auto own = std::make_shared<const Groups>(groups, [&](const Tensor& tensor) {
    read.push_back(find(tensor));
    return tensor;
  });
  std::vector<Input> needed = read;
  needed.push_back({.tensor = mix, .call = static_cast<int>(calls_.size())});  // its own output
  record({.operation = "attention",
          .y = mix,
          .inputs = read,
          .needed = needed,
          .make = [=, this]() mutable { forward_.attention(shape, own->list, q, mix); },
          .back =
              [=, this](const Tensor& dmix) {
                Tensor dq = gradient_of(from);
                size_t i = 1;
                const Groups gradients(own->list, [&](const Tensor&) { return gradient_of(read[i++]); });
                backward_.attention(shape, own->list, q, mix, dmix, dq,
                                    gradients.list);  // [n, n_heads * head_dim], ...
              }});
}

void Tape::cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) {
  forward_.cross_entropy(logits, targets, losses);
  logits_ = find(logits);
  targets_.assign(targets.begin(), targets.end());
}

namespace {

constexpr const char* kNoScores = "do not watch attention scores or weights while training";

}  // namespace

void Tape::attention_scores(const AttentionShape&, const AttentionGroup&, const Tensor&, Tensor&) {
  refuse("attention_scores", kNoScores);
}

void Tape::softmax(const Tensor&, Tensor&) { refuse("softmax", kNoScores); }

void Tape::attention_mix(const AttentionShape&, const AttentionGroup&, const Tensor&, Tensor&) {
  refuse("attention_mix", kNoScores);
}

void Tape::convert(const Tensor&, Tensor&) { refuse("convert", "give rows without a state when training"); }

}  // namespace orrery
