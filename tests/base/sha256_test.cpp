#include "base/sha256.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace orrery;

namespace {

std::string hash_of(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

}  // namespace

// The examples of FIPS 180-2, appendix B, and the hash of nothing.
TEST_CASE("sha256: published examples") {
  CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash_of(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: pieces of any size give the hash of the whole") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (size_t length = 0; length <= text.size(); length += 13) {
    const std::string_view whole = std::string_view(text).substr(0, length);
    for (const size_t step : {1, 55, 56, 63, 64, 65, 128}) {
      Sha256 hash;
      for (size_t at = 0; at < length; at += step) hash.add(std::as_bytes(std::span(whole.substr(at, step))));
      CHECK(hash.hex() == hash_of(whole));
    }
  }
}
