// SPDX-License-Identifier: Apache-2.0
#pragma once

// Digests of bytes.  Contents are stored and compared by their digests.

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/c_ptr.h"
#include "base/result.h"

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

// Which functions of OpenSSL compute MD5 and SHA-256.  SHA-512 always comes from a provider.
enum class DigestFunctions {
  kPlain,       // Functions that need nothing else.
  kOfProvider,  // OpenSSL reads its configuration and loads a provider, which takes 1.8 MiB for as long as we run.
};

// Returns kOfProvider in FIPS mode, in which only a provider has validated functions.
DigestFunctions UsualDigestFunctions();

class HashState;

// Computes the digest of bytes that arrive in pieces.
class Hasher {
 public:
  explicit Hasher(DigestAlgorithm algorithm, DigestFunctions functions = UsualDigestFunctions());

  void Update(std::string_view bytes);
  // Returns the digest of all bytes so far.  The hasher cannot be used afterwards.
  Digest Finish() &&;

 private:
  static void Free(HashState* state);
  CPtr<HashState, &Hasher::Free> state_;
};

Digest DigestOf(DigestAlgorithm algorithm, std::string_view bytes);
inline Digest Sha256(std::string_view bytes) { return DigestOf(DigestAlgorithm::kSha256, bytes); }

// Formats bytes as lower-case hexadecimal digits.
std::string ToHex(std::string_view bytes);

}  // namespace pintle
