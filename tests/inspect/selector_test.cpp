#include "inspect/selector.h"

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/expect_error.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

bool selects(const std::string& pattern, const std::string& name) { return parse_selector(pattern, "").selects(name); }

}  // namespace

TEST_CASE("selector: * stands for any characters, all others for themselves") {
  CHECK(selects("blk.3.attn.q", "blk.3.attn.q"));
  CHECK_FALSE(selects("blk.3.attn.q", "blk.3.attn.q_rope"));
  CHECK_FALSE(selects("blk.3.attn.q", "blk.13.attn.q"));
  CHECK(selects("blk.*.attn.q", "blk.13.attn.q"));
  CHECK(selects("*", "logits"));
  CHECK(selects("*.attn.*_rope", "blk.0.attn.k_rope"));
  CHECK(selects("*resid*", "blk.0.resid"));
  CHECK(selects("b*resid", "blk.0.resid_resid"));  // the first place that fits is not the right one
  CHECK_FALSE(selects("*resid", "blk.0.resid_mid"));
  CHECK_FALSE(selects("blk?0.resid", "blk.0.resid"));
}

TEST_CASE("selector: positions are one, a range, or the last") {
  const Row rows[] = {{1, 4, nullptr, false}, {1, 5, nullptr, false}, {1, 6, nullptr, true}};
  using Indices = std::vector<int64_t>;
  CHECK(selected_rows(parse_selector("embed", ""), rows) == Indices{0, 1, 2});
  CHECK(selected_rows(parse_selector("embed@5", ""), rows) == Indices{1});
  CHECK(selected_rows(parse_selector("embed@5-900", ""), rows) == Indices{1, 2});
  CHECK(selected_rows(parse_selector("embed@last", ""), rows) == Indices{2});
  CHECK(selected_rows(parse_selector("embed@0-3", ""), rows).empty());
  for (const char* wrong : {"embed@", "embed@x", "embed@5x", "embed@7-3", "embed@-3", "embed@3-", "embed@99999999999",
                            "embed@5@6", "embed@ 5", "embed@+5"}) {
    CAPTURE(wrong);
    CHECK_ERROR(parse_selector(wrong, "--stop-at"), "--stop-at: these are no positions", "NAME@3-7");
  }
  CHECK_ERROR(parse_selector("@5", "--stop-at"), "this names no tensor");
}

TEST_CASE("selector: a name must be one that the model announces; the nearest are named") {
  Transformer model(random_model(small_config(5), DType::F32));  // learned positions, no gate
  ReferenceKernels<float> kernels{Threads(1)};
  const auto tensors = announced_tensors(model, kernels);
  CHECK(tensors.front().name == "embed");
  CHECK(tensors.back().name == "logits");
  CHECK(tensors.back().width == 300);
  const auto checked = [&](const std::string& text) { check(parse_selector(text, ""), "here", tensors, 1024); };
  checked("blk.*.attn.scores@1023");
  CHECK_ERROR(checked("blk.1.attn.score"), "here", "such as blk.1.attn.scores,", "'blk.1.attn.score'");
  CHECK_ERROR(checked("blk.0.attn.q_rope"), "blk.0.attn.q,");  // only models with RoPE have it
  CHECK_ERROR(checked("blk.2.resid"), "no tensor of this name", "blk.0.resid");
  CHECK_ERROR(checked("embed@1024"), "no such position", "0 to 1023");
  CHECK_ERROR(checked(std::string(1000000, 'x')), "no tensor of this name");
}
