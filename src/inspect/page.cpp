#include "inspect/page.h"

#include <set>

#include "base/error.h"
#include "base/format.h"
#include "inspect/page_json.h"

namespace orrery {
namespace {

constexpr const char kSkeleton[] =
#include "inspect/page.html.inc"
    ;
constexpr const char kStyle[] =
#include "inspect/page.css.inc"
    ;
constexpr const char* kScripts[] = {
#include "inspect/page_words.js.inc"
    ,
#include "inspect/page_data.js.inc"
    ,
#include "inspect/page_parts.js.inc"
    ,
#include "inspect/page_attention.js.inc"
    ,
#include "inspect/page.js.inc"
};

std::string number(int value) { return std::to_string(value); }
std::string short_number(float value) { return json_for_page(value); }

// "name": value, ...
class Object {
 public:
  Object& add(const char* name, const std::string& json) {
    text_ += (text_.size() > 1 ? "," : "") + json_for_page(name) + ":" + json;
    return *this;
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string model_json(const PageRun& run) {
  const ModelConfig& c = run.config;
  return Object()
      .add("name", json_for_page(run.model_name))
      .add("family", json_for_page(c.family))
      .add("layers", number(c.n_layers))
      .add("heads", number(c.n_heads))
      .add("width", number(c.d_model))
      .add("vocabulary", number(c.vocab_size))
      .text();
}

std::string settings_json(const PageRun& run) {
  const SamplerSettings& s = run.settings;
  return Object()
      .add("temp", json_for_page(s.temperature))
      .add("top-k", number(s.top_k))
      .add("top-p", json_for_page(s.top_p))
      .add("min-p", json_for_page(s.min_p))
      .add("repeat-penalty", json_for_page(s.repeat_penalty))
      .add("seed", run.seed ? json_for_page(std::to_string(*run.seed)) : "null")
      .text();
}

std::string stage_json(const SamplerStage& stage) {
  return Object()
      .add("name", json_for_page(stage.name))
      .add("left", number(stage.left))
      .add("rank", json_list(std::span(stage.rank), number))
      .add("probability", json_list(std::span(stage.probability), [](double p) { return json_for_page(p); }))
      .text();
}

std::string step_json(const Explanation& why) {
  return Object()
      .add("position", number(why.position))
      .add("drawn", number(static_cast<int>(why.index_of_drawn())))
      .add("greedy", why.is_greedy ? "true" : "false")
      .add("before", json_for_page(why.before, 6))
      .add("random", json_for_page(why.random, 6))
      .add("tokens", json_list(std::span(why.tokens), number))
      .add("stages", json_list(std::span(why.stages), stage_json))
      .text();
}

std::string attention_json(const LayerAttention& layer) {
  return Object().add("layer", number(layer.layer)).add("roots", "\"" + base64(layer.roots) + "\"").text();
}

std::string norms_json(const LayerNorms& norms) {
  const auto list = [](const std::vector<float>& lengths) { return json_list(std::span(lengths), short_number); };
  return Object()
      .add("attention", list(norms.attention))
      .add("feed_forward", list(norms.feed_forward))
      .add("stream", list(norms.stream))
      .text();
}

// For each depth and position: token, probability, token, probability, ...
std::string lens_json(const Lens& lens) {
  const std::vector<int> positions = lens.positions();
  std::string text = "[";
  for (int depth = 0; depth < lens.n_depths(); ++depth) {
    text += (depth > 0 ? "," : "") + json_list(std::span(positions), [&](int position) {
              return json_list(lens.at(depth, position), [](const Guess& guess) {
                return number(guess.token) + "," + json_for_page(guess.probability, 3);
              });
            });
  }
  return text + "]";
}

// Every token that is named anywhere, by its number.
std::string pieces_json(const PageRun& run) {
  std::set<TokenId> named(run.tokens.begin(), run.tokens.end());
  for (const Explanation& why : run.explanations) named.insert(why.tokens.begin(), why.tokens.end());
  for (const int position : run.lens.positions()) {
    for (int depth = 0; depth < run.lens.n_depths(); ++depth) {
      for (const Guess& guess : run.lens.at(depth, position)) named.insert(guess.token);
    }
  }
  Object pieces;
  for (const TokenId id : named) {
    const std::string name = std::to_string(id);
    pieces.add(name.c_str(), json_for_page(run.tokenizer != nullptr ? run.tokenizer->piece_bytes(id, true) : name));
  }
  return pieces.text();
}

std::string run_json(const PageRun& run) {
  return Object()
      .add("language", json_for_page(run.language))
      .add("model", model_json(run))
      .add("settings", settings_json(run))
      .add("prompt", number(run.n_prompt))
      .add("computed", number(run.recorder.n_positions()))
      .add("tokens", json_list(run.tokens, number))
      .add("pieces", pieces_json(run))
      .add("steps", json_list(run.explanations, step_json))
      .add("lens", lens_json(run.lens))
      .add("embedding", json_list(std::span(run.recorder.embedding()), short_number))
      .add("norms", json_list(std::span(run.recorder.norms()), norms_json))
      .add("attention", json_list(std::span(run.recorder.attention()), attention_json))
      .text();
}

// The skeleton has <!-- style -->, <!-- run --> and <!-- script --> where these belong.
void put(std::string& page, std::string_view place, const std::string& text) {
  page.replace(page.find(place), place.size(), text);
}

}  // namespace

uint64_t page_bytes(const ModelConfig& config, int n_layers_with_attention, int n_positions) {
  const auto n = static_cast<uint64_t>(n_positions);
  const uint64_t weights = n * (n + 1) / 2 * static_cast<uint64_t>(n_layers_with_attention * config.n_heads);
  constexpr uint64_t kFixed = 60'000, kStep = 1'500, kDepth = 120;  // steps; lens and lengths
  return kFixed + n * (kStep + kDepth * static_cast<uint64_t>(config.n_layers + 1)) + (weights + 2) / 3 * 4;
}

void check_page_size(const ModelConfig& config, int n_layers_with_attention, int n_positions) {
  const uint64_t bytes = page_bytes(config, n_layers_with_attention, n_positions);
  if (bytes <= kLargestPage) return;
  throw Error({.what = "the page would be too large for a browser",
               .where = std::to_string(n_positions) + " positions, attention of " +
                        std::to_string(n_layers_with_attention * config.n_heads) + " heads",
               .expected = "at most " + bytes_text(kLargestPage),
               .found = "about " + bytes_text(bytes),
               .hint = "make fewer tokens with -n, or keep the attention of some layers only: "
                       "--filter 'blk[.][0-3][.]attn[.]weights'"});
}

std::string page_text(const PageRun& run) {
  std::string scripts;
  for (const char* script : kScripts) scripts += script;
  std::string page = kSkeleton;
  put(page, "<!-- style -->", kStyle);
  put(page, "<!-- script -->", scripts);
  put(page, "<!-- run -->", run_json(run));  // last: what a model says may contain the other places' names
  return page;
}

}  // namespace orrery
