// SPDX-License-Identifier: Apache-2.0
#pragma once

// Digests of bytes: the name under which contents are stored and compared.

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/c_ptr.h"
#include "base/result.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace pintle {

// MD5 is here for the names of rendered configs, which others have fixed; it protects nothing.
enum class DigestAlgorithm { kMd5, kSha256, kSha512 };

// A digest in lower-case hexadecimal.
class Digest {
 public:
  // Checks length and digits; letters may be of either case.
  static Result<Digest> FromHex(DigestAlgorithm algorithm, std::string_view hex);

  const std::string& hex() const { return hex_; }
  auto operator<=>(const Digest&) const = default;

 private:
  friend class Hasher;
  explicit Digest(std::string hex) : hex_(std::move(hex)) {}
  std::string hex_;
};

// Takes bytes as they come and gives the digest of them all.
class Hasher {
 public:
  explicit Hasher(DigestAlgorithm algorithm);

  void Update(std::string_view bytes);
  // The digest of everything so far.  The hasher is spent.
  Digest Finish() &&;

 private:
  static void Free(evp_md_ctx_st* context);
  CPtr<evp_md_ctx_st, &Hasher::Free> context_;
};

Digest DigestOf(DigestAlgorithm algorithm, std::string_view bytes);
inline Digest Sha256(std::string_view bytes) { return DigestOf(DigestAlgorithm::kSha256, bytes); }

// Bytes as lower-case hexadecimal digits.
std::string ToHex(std::string_view bytes);

}  // namespace pintle
