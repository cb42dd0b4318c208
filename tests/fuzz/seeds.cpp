// Writes what the fuzz targets begin with: seeds FOLDER makes FOLDER/<target>/ with a few small valid inputs each. The
// rest they find out by themselves.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "files/gguf_builder.h"
#include "fuzz/fuzz.h"
#include "support/safetensors.h"

using namespace orrery::test;

namespace {

class Seeds {
 public:
  explicit Seeds(const std::filesystem::path& folder) : folder_(folder) {}
  void add(const std::string& target, const std::string& bytes) {
    std::filesystem::create_directories(folder_ / target);
    write_file((folder_ / target / std::to_string(++count_)).string(), bytes);
  }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

std::string joined(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) all += (&file == files.data() ? "" : std::string(kCut)) + file;
  return all;
}

void add_gguf(Seeds& seeds) {
  const auto add = [&](const GgufBuilder& builder) { seeds.add("gguf", builder.bytes().substr(4)); };
  add(tiny_llama());
  GgufBuilder sentencepiece = tiny_llama();
  sentencepiece.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"<unk>", "a", "<0x41>"});
  sentencepiece.array("tokenizer.ggml.scores", kFloat32, 3, raw(0.f) + raw(-1.f) + raw(-2.f));
  sentencepiece.array("tokenizer.ggml.token_type", kInt32, 3, raw(2) + raw(1) + raw(6));
  sentencepiece.number("tokenizer.ggml.bos_token_id", 1).add("tokenizer.ggml.add_bos_token", kBool, raw<uint8_t>(1));
  add(sentencepiece);
  GgufBuilder byte_level = tiny_llama();
  byte_level.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2");
  byte_level.texts("tokenizer.ggml.tokens", {"a", "b", "ab"}).texts("tokenizer.ggml.merges", {"a b"});
  byte_level.text("tokenizer.chat_template", "{{ '<|im_start|>' }}");
  add(byte_level);
  GgufBuilder types;
  types.text("general.architecture", "qwen3").number("general.alignment", 32).add("split.count", 2, raw<uint16_t>(2));
  types.array("a", kUint64, 1, raw(uint64_t{7})).add("f64", 12, raw(1.0));
  types.tensor_with_data("t", {32}, kQ8_0, std::string(34, '\1')).tensor_with_data("u", {2, 2}, kF16, "12345678");
  add(types);
}

void add_llama2c(Seeds& seeds) {
  std::string sizes;
  for (const int32_t size : {2, 2, 1, 1, 1, 3, 4}) sizes += raw(size);
  const std::string tokenizer = raw<int32_t>(6) + raw(0.f) + raw<int32_t>(5) + "<unk>" + raw(0.f) + raw<int32_t>(5) +
                                "\n<s>\n" + raw(0.f) + raw<int32_t>(6) + "\n</s>\n";
  seeds.add("llama2c", joined({sizes + std::string(48 * 4, '\0'), tokenizer}));
  const auto with_magic = [&](int32_t version, int32_t group) {
    std::string header = raw<uint32_t>(0x616b3432) + raw(version) + sizes + raw<uint8_t>(1) + raw(group);
    header.resize(256);
    return header;
  };
  seeds.add("llama2c", joined({with_magic(1, 0) + std::string(40 * 4, '\0'), tokenizer}));
  seeds.add("llama2c", joined({with_magic(2, 2) + std::string(6 * 4 + 34 + 17 * 4, '\0'), tokenizer}));
}

const char* kByteLevelJson =
    R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],"normalizer":{"type":"NFC"},"pre_tokenizer":)"
    R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\p{L}+| "},"behavior":"Isolated"},)"
    R"({"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)"
    R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},)"
    R"({"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>","ids":[2],"tokens":["<s>"]}}},)"
    R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":3},"merges":["a b"],"ignore_merges":false}})";
const char* kSentencePieceJson =
    R"({"added_tokens":[{"id":0,"content":"<unk>","special":true}],"normalizer":{"type":"Sequence","normalizers":[)"
    R"({"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]},)"
    R"("model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":{"<unk>":0,"<0x41>":1,"a":2,"aa":3},)"
    R"("merges":[["a","a"]]}})";

void add_folder(Seeds& seeds) {
  SafetensorsBuilder weights;
  weights.floats("model.embed_tokens.weight", {4, 2}, std::vector<float>(8)).floats("model.norm.weight", {2}, {1, 1});
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
    weights.floats("model.layers.0." + std::string(norm) + ".weight", {2}, {1, 1});
  }
  for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                           "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
    weights.floats("model.layers.0." + std::string(name) + ".weight", {2, 2}, std::vector<float>(4));
  }
  const std::string config =
      R"({"model_type":"llama","hidden_size":2,"intermediate_size":2,"num_hidden_layers":1,"num_attention_heads":1,)"
      R"("num_key_value_heads":1,"vocab_size":4,"max_position_embeddings":8,"rms_norm_eps":1e-5,"rope_theta":10000,)"
      R"("hidden_act":"silu","tie_word_embeddings":true,"eos_token_id":[1,2],"bos_token_id":1})";
  const std::string tokenizer_config =
      R"({"add_bos_token":true,"bos_token":{"content":"<s>"},"chat_template":"{{ '<|im_start|>' }}"})";
  seeds.add("folder", joined({config, kByteLevelJson, weights.bytes(), tokenizer_config, R"({"eos_token_id":1})"}));
  seeds.add("folder", joined({config, kSentencePieceJson, weights.bytes()}));
  SafetensorsBuilder other;
  other.tensor("z", "BF16", {1, 2}, "1234");
  seeds.add("folder", joined({config, kByteLevelJson, "", "", "",
                              R"({"weight_map":{"model.norm.weight":"a.safetensors","z":"b.safetensors"}})",
                              SafetensorsBuilder().floats("model.norm.weight", {2}, {1, 1}).bytes(), other.bytes()}));
}

void add_chat_templates(Seeds& seeds) {
  const std::string loop = "{% for message in messages %}";
  const std::string end = "{% endfor %}{% if add_generation_prompt %}";
  const auto add = [&](const std::string& jinja) {
    seeds.add("chat_template", joined({jinja, " Hi\n", "Be brief. "}));
  };
  add("{{ bos_token }}" + loop +
      "{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nIt is "
      "me.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] | trim + "
      "'<|im_end|>' + '\n'}}" +
      end + "{{ '<|im_start|>assistant\n' }}{% endif %}");
  add("{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}{% endif %}{% for message in rest %}{% set "
      "content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message.content %}{{ bos_token + '[INST] ' + "
      "content.strip() + ' [/INST]' }}{% endfor %}");
  add("{{ bos_token }}" + loop +
      "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + "
      "message['content'] | trim + '<|eot_id|>' }}" +
      end + "{{ '<|start_header_id|>assistant' }}{% endif %}");
  add(loop + "{{ '<|user|>\n' + message['content'] + eos_token }}{{ '<|system|>\n<|assistant|>' }}" + end +
      "{% endif %}");
  add(loop + "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}" + end +
      "{{'<start_of_turn>model\n'}}{% endif %}");
}

void add_texts(Seeds& seeds) {
  for (const char* target : {"sentencepiece", "byte_level"}) {
    for (const char* text : {"0 a aab abc <added> more", "1\u4E2D\u6587 12 it's\n\n\ta", "2e\u0301\xFF\xC3 \u2581<s>",
                             "3AbC dEF 12345", "4\xF0\x9F\x98\x80\u200D\x01"}) {
      seeds.add(target, text);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "seeds FOLDER\n");
    return 2;
  }
  Seeds seeds(argv[1]);
  add_gguf(seeds);
  add_llama2c(seeds);
  add_folder(seeds);
  seeds.add("tokenizer_json", kByteLevelJson);
  seeds.add("tokenizer_json", kSentencePieceJson);
  add_chat_templates(seeds);
  add_texts(seeds);
  seeds.add("story_grammar",
            "language english\n\nlist girl (he=she, a=a ~)\n  Anna, Ivy/she/an Ivy\nlist home (he, a)\n  hut/it/a hut\n"
            "list name = girl + home\n\nrule story\n  [who=girl] saw [it=name, not who]. {who.He} ran. <end>\n\n"
            "rule end\n  slept in {it.a}.\n  *3 ran,\n    and {who} sang.\n");
  return 0;
}
