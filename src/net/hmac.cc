// SPDX-License-Identifier: Apache-2.0
#include "net/hmac.h"

#include <array>
#include <climits>
#include <cstdlib>

#include "base/libcrypto.h"

namespace pintle::net {

std::string HmacSha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  // HMAC() fails only if memory runs out; a key is never longer than a file that we read.
  if (key.size() > INT_MAX || Crypto().HMAC(Crypto().EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes,
                                            text.size(), digest.data(), &length) == nullptr) {
    std::abort();
  }
  return std::string(reinterpret_cast<const char*>(digest.data()), length);
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && Crypto().CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace pintle::net
