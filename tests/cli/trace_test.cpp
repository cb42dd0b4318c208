// orrery trace and trace-diff, as a user runs them, beside a transformer that is written once more.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "support/families.h"
#include "support/files.h"
#include "support/models.h"
#include "support/program.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

const std::string kModel = data_file("tiny-models/gguf/valid_base.gguf");
const std::string kIds = "72,101,259,4,199";

using Matrix = std::vector<std::vector<double>>;  // rows

// The weight [out, in], or [d] as a single row.
Matrix weight(const Checkpoint& model, const std::string& name) {
  const Tensor& tensor = model.weights.at(name);
  const size_t rows = tensor.n_dims == 1 ? 1 : static_cast<size_t>(tensor.shape[0]);
  const std::vector<double> all = numbers(tensor);
  Matrix result(rows);
  for (size_t i = 0; i < all.size(); ++i) result[i / (all.size() / rows)].push_back(all[i]);
  return result;
}

Matrix times(const Matrix& x, const Matrix& w) {
  Matrix y(x.size(), std::vector<double>(w.size()));
  for (size_t n = 0; n < x.size(); ++n) {
    for (size_t o = 0; o < w.size(); ++o) {
      for (size_t i = 0; i < w[o].size(); ++i) y[n][o] += x[n][i] * w[o][i];
    }
  }
  return y;
}

Matrix plus(Matrix x, const Matrix& y) {
  for (size_t n = 0; n < x.size(); ++n) {
    for (size_t i = 0; i < x[n].size(); ++i) x[n][i] += y[n][i];
  }
  return x;
}

Matrix rms_norm(Matrix x, const Matrix& gain, double epsilon) {
  for (auto& row : x) {
    double squares = 0;
    for (const double value : row) squares += value * value;
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] *= gain[0][i] / std::sqrt(squares / static_cast<double>(row.size()) + epsilon);
    }
  }
  return x;
}

// Halves of each head turn as complex numbers.
Matrix rope(Matrix x, const ModelConfig& config) {
  const auto half = static_cast<size_t>(config.head_dim / 2);
  for (size_t n = 0; n < x.size(); ++n) {
    for (size_t begin = 0; begin < x[n].size(); begin += 2 * half) {
      for (size_t i = 0; i < half; ++i) {
        const double angle = double(n) * std::pow(config.rope_base, -double(i) / double(half));
        const double re = x[n][begin + i], im = x[n][begin + half + i];
        x[n][begin + i] = re * std::cos(angle) - im * std::sin(angle);
        x[n][begin + half + i] = re * std::sin(angle) + im * std::cos(angle);
      }
    }
  }
  return x;
}

// A trace as transformers would give it, of a Llama in the half-split layout.
struct PlainLlama {
  const Checkpoint& model;
  SafetensorsBuilder file = {};

  void keep(const std::string& name, const Matrix& x) {
    std::vector<float> flat;
    for (const auto& row : x) flat.insert(flat.end(), row.begin(), row.end());
    file.floats(name, {1, static_cast<int64_t>(x.size()), static_cast<int64_t>(x[0].size())}, flat);
  }

  Matrix attend(const std::string& layer, const Matrix& q, const Matrix& k, const Matrix& v) {
    const ModelConfig& config = model.config;
    const auto d = static_cast<size_t>(config.head_dim), n_heads = static_cast<size_t>(config.n_heads);
    const size_t group = n_heads / static_cast<size_t>(config.n_kv_heads), n = q.size();
    Matrix mix(n, std::vector<double>(n_heads * d));
    std::vector<float> kept;
    for (size_t h = 0; h < n_heads; ++h) {
      for (size_t i = 0; i < n; ++i) {
        std::vector<double> weights(n);
        double sum = 0;
        for (size_t j = 0; j <= i; ++j) {
          double score = 0;
          for (size_t c = 0; c < d; ++c) score += q[i][h * d + c] * k[j][h / group * d + c];
          sum += weights[j] = std::exp(score / std::sqrt(double(d)));
        }
        for (size_t j = 0; j < n; ++j) {
          kept.push_back(static_cast<float>(weights[j] / sum));
          for (size_t c = 0; c < d; ++c) mix[i][h * d + c] += weights[j] / sum * v[j][h / group * d + c];
        }
      }
    }
    const auto rows = static_cast<int64_t>(n);
    file.floats(layer + "self_attn.attn_weights", {1, config.n_heads, rows, rows}, kept);
    return mix;
  }

  std::string trace(const std::vector<TokenId>& ids) {
    const ModelConfig& config = model.config;
    const Matrix table = weight(model, "token_embd.weight");
    Matrix x;
    for (const TokenId id : ids) x.push_back(table[static_cast<size_t>(id)]);
    keep("model.embed_tokens", x);
    for (int l = 0; l < config.n_layers; ++l) {
      const auto w = [&](const char* name) {
        return weight(model, "blk." + std::to_string(l) + "." + name + ".weight");
      };
      const std::string layer = "model.layers." + std::to_string(l) + ".";
      const Matrix a = rms_norm(x, w("attn_norm"), config.norm_epsilon);
      const Matrix q = times(a, w("attn_q")), k = times(a, w("attn_k")), v = times(a, w("attn_v"));
      const Matrix mix = attend(layer, rope(q, config), rope(k, config), v);
      const Matrix out = times(mix, w("attn_output")), middle = plus(x, out);
      const Matrix f = rms_norm(middle, w("ffn_norm"), config.norm_epsilon);
      const Matrix gate = times(f, w("ffn_gate")), up = times(f, w("ffn_up"));
      Matrix act = up;
      for (size_t n = 0; n < act.size(); ++n) {
        for (size_t i = 0; i < act[n].size(); ++i) act[n][i] *= gate[n][i] / (1 + std::exp(-gate[n][i]));
      }
      const Matrix down = times(act, w("ffn_down"));
      x = plus(middle, down);
      const std::pair<const char*, const Matrix*> kept[] = {
          {"input_layernorm", &a},          {"self_attn.q_proj", &q},         {"self_attn.k_proj", &k},
          {"self_attn.v_proj", &v},         {"self_attn.o_proj.input", &mix}, {"self_attn.o_proj", &out},
          {"post_attention_layernorm", &f}, {"mlp.gate_proj", &gate},         {"mlp.up_proj", &up},
          {"mlp.down_proj.input", &act},    {"mlp.down_proj", &down},
      };
      for (const auto& [name, matrix] : kept) keep(layer + name, *matrix);
      keep("model.layers." + std::to_string(l), x);
    }
    const Matrix last = rms_norm(x, weight(model, "output_norm.weight"), config.norm_epsilon);
    keep("model.norm", last);
    keep("lm_head", times(last, weight(model, config.tied_head ? "token_embd.weight" : "output.weight")));
    return file.bytes();
  }
};

}  // namespace

TEST_CASE("trace-diff: our trace agrees with a transformer written once more, under Hugging Face's names") {
  const TemporaryFolder folder;
  const Checkpoint model = family_model("llama");
  write_model_folder(folder.path().string(), "llama", model);
  write_file(folder / "theirs.safetensors", PlainLlama{model}.trace({72, 101, 259, 4, 199}));
  const std::string ours = folder / "ours.safetensors", theirs = folder / "theirs.safetensors";
  const auto traced = run_program({"trace", folder.path().string(), "--prompt-ids", kIds, "-o", ours});
  CAPTURE(traced.errors);
  REQUIRE(traced.status == 0);
  const auto same = run_program({"trace-diff", ours, theirs, "--tolerance", "1e-5"});
  CAPTURE(same.output);
  CHECK(same.status == 0);
  CHECK(same.output.find("29 of 29 tensors agree") != std::string::npos);
  CHECK(same.output.find("only in A: blk.0.attn.q_rope") != std::string::npos);
  const auto judged = run_program({"trace-diff", ours, theirs, "-m", folder.path().string()});
  CHECK(judged.status == 0);
  CHECK(judged.output.find("bug in") == std::string::npos);
  CHECK(judged.output.find("rounding") != std::string::npos);

  // With other angles the first that differs of what is there is what softmax made of the scores.
  Checkpoint wrong = model;
  wrong.config.rope_base = 100;
  write_file(theirs, PlainLlama{wrong}.trace({72, 101, 259, 4, 199}));
  const auto other = run_program({"trace-diff", ours, theirs, "-m", folder.path().string()});
  CHECK(other.status == 3);
  CHECK(other.output.find("first mismatch: blk.0.attn.weights") != std::string::npos);
  CHECK(other.output.find("bug in B") != std::string::npos);
  CHECK(other.output.find("bug in A") == std::string::npos);
}

TEST_CASE("trace: text that diff understands, NumPy's files, one file with a checksum") {
  const TemporaryFolder folder;
  const std::vector<std::string> start = {"trace",     kModel,     "--prompt-ids",
                                          "1,310,259", "--filter", "^embed$|0.attn.q$"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), start.begin(), start.end());
    return run_program(more);
  };
  const auto text = with({"--text"});
  CHECK(text.status == 0);
  CHECK(text.output.starts_with("# ids 1 310 259\n# positions 0 1 2\n"));
  CHECK(std::ranges::count(text.output, '\n') == 6);
  CHECK(text.output.find("embed                        F32  [3, ") != std::string::npos);
  CHECK(with({"--text", "--kernels", "reference"}).output.find("fast") == std::string::npos);
  CHECK(with({"--text", "--precision", "f64"}).output.find("F64") != std::string::npos);

  REQUIRE(with({"--npy", folder / "new/npy", "-o", folder / "t.safetensors", "--positions", "1-2"}).status == 0);
  const std::string npy = file_bytes(folder / "new/npy/blk.0.attn.q.npy");
  const size_t data = 10 + static_cast<unsigned char>(npy[8]) + 256 * static_cast<size_t>(npy[9]);
  CHECK(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(data % 64 == 0);
  const std::string width = npy.substr(npy.find("(2, ") + 4, npy.find("), }") - npy.find("(2, ") - 4);
  CHECK(npy.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, ") == 10);
  const std::string tensor = npy.substr(data);
  CHECK(tensor.size() == 2 * std::stoul(width) * sizeof(float));
  const std::string file = file_bytes(folder / "t.safetensors");
  CHECK(file.find(tensor) != std::string::npos);
  CHECK(file.find("  valid_base.gguf") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "new/npy"), {}) == 2);
}

TEST_CASE("trace and trace-diff: what cannot be done is said in one line, and leaves no file") {
  const TemporaryFolder folder;
  const std::string out = folder / "t.safetensors";
  const auto refused = [&](const std::vector<std::string>& arguments, int status, const char* words) {
    const auto result = run_program(arguments);
    CAPTURE(result.errors);
    CHECK(result.status == status);
    CHECK(result.output.empty());
    CHECK(result.errors.find(words) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(out));
  };
  const std::string ids = "1,310";
  refused({"trace", kModel, "--prompt-ids", ids}, 2, "nothing says where the trace shall go");
  refused({"trace", kModel, "--prompt-ids", ids, "-o", out, "--filter", "a("}, 1, "missing closing parenthesis");
  refused({"trace", kModel, "--prompt-ids", ids, "-o", out, "--filter", "zebra"}, 1, "matches no name");
  refused({"trace", kModel, "--prompt-ids", ids, "-o", out, "--positions", "2"}, 1,
          "expected numbers and ranges from 0 to 1");
  for (const char* positions : {"0-2000000000", "99999999999", "1-0", "0-", "-1", "0,,1", "a", "0 1"}) {
    refused({"trace", kModel, "--prompt-ids", ids, "-o", out, std::string("--positions=") + positions}, 1,
            "--positions");
  }
  refused({"trace", kModel, "--prompt-ids", ids, "-o", out, "--precision", "f16"}, 2, "f16");
  refused({"trace", kModel, "--prompt-ids", ids, "-o", folder / "no/t"}, 1, "no/t");
  refused({"trace", kModel, "--prompt-ids", ids, "--npy", kModel}, 1, "cannot make the folder");
  refused({"trace-diff", kModel}, 2, "a second trace is missing");
  refused({"trace-diff", kModel, kModel}, 1, "not safetensors");
  const std::string other = write_file(folder / "other", SafetensorsBuilder().floats("x", {1}, {1}).bytes());
  const std::string third = write_file(folder / "third", SafetensorsBuilder().floats("y", {1}, {1}).bytes());
  refused({"trace-diff", other, third}, 1, "no tensor in common");
  refused({"trace-diff", other, third, "-m", kModel}, 1, "does not say of which prompt");
  CHECK(run_program({"trace-diff", other, other}).status == 0);
}
