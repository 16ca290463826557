// SPDX-License-Identifier: Apache-2.0
#pragma once

// Digests of bytes.  Contents are stored and compared by their digests.

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/c_ptr.h"
#include "base/result.h"

struct evp_md_ctx_st;   // OpenSSL's EVP_MD_CTX
struct SHA256state_st;  // OpenSSL's SHA256_CTX

namespace pintle {

// MD5 is needed only for the names of rendered configs, since the Machine Config Operator uses MD5 there.
enum class DigestAlgorithm { kMd5, kSha256, kSha512 };

inline constexpr std::size_t kSha256Digits = 64;  // In hexadecimal.

// A digest in lower-case hexadecimal.
class Digest {
 public:
  // Checks the length and the digits, which may be upper-case.
  static Result<Digest> FromHex(DigestAlgorithm algorithm, std::string_view hex);

  const std::string& hex() const { return hex_; }
  auto operator<=>(const Digest&) const = default;

 private:
  friend class Hasher;
  explicit Digest(std::string hex) : hex_(std::move(hex)) {}
  std::string hex_;
};

// Computes the digest of bytes that arrive in pieces.
class Hasher {
 public:
  explicit Hasher(DigestAlgorithm algorithm);

  void Update(std::string_view bytes);
  // Returns the digest of all bytes so far.  The hasher cannot be used afterwards.
  Digest Finish() &&;

 private:
  static void Free(evp_md_ctx_st* context);
  static void FreeSha256(SHA256state_st* state);

  // One of the two exists.  OpenSSL's general interface to digests reads the library's configuration and loads a
  // provider, which takes 1.8 MiB and stays.  So SHA-256, which every agent needs, is computed without it.
  CPtr<SHA256state_st, &Hasher::FreeSha256> sha256_;
  CPtr<evp_md_ctx_st, &Hasher::Free> context_;
};

Digest DigestOf(DigestAlgorithm algorithm, std::string_view bytes);
inline Digest Sha256(std::string_view bytes) { return DigestOf(DigestAlgorithm::kSha256, bytes); }

// Formats bytes as lower-case hexadecimal digits.
std::string ToHex(std::string_view bytes);

}  // namespace pintle
