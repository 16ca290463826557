// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/ascii.h"
#include "base/hex_digit.h"
#include "base/libcrypto.h"
#include "base/unique_fd.h"

namespace pintle {

// The state of one computation.  As in OpenSSL, its functions return 1 on success.
class HashState {
 public:
  virtual ~HashState() = default;
  virtual int Update(std::string_view bytes) = 0;
  virtual int Finish(unsigned char* digest, unsigned& length) = 0;
};

namespace {

// Returns MD5 even in FIPS mode, in which the system forbids MD5: we use MD5 only to compute names, and it protects
// nothing.  In FIPS mode, the active providers have no MD5, so the default provider is loaded into a separate context.
const EVP_MD* FetchMd5() {
  if (const EVP_MD* const md5 = Crypto().EVP_MD_fetch(nullptr, "MD5", "-fips")) return md5;
  OSSL_LIB_CTX* const context = Crypto().OSSL_LIB_CTX_new();
  if (context == nullptr || Crypto().OSSL_PROVIDER_load(context, "default") == nullptr) return nullptr;
  return Crypto().EVP_MD_fetch(context, "MD5", "-fips");
}

const EVP_MD* Md5() {
  static const EVP_MD* const md5 = FetchMd5();  // Never freed, and neither is its context.
  return md5;
}

const EVP_MD* Method(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::kMd5:
      return Md5();
    case DigestAlgorithm::kSha256:
      return Crypto().EVP_sha256();
    case DigestAlgorithm::kSha512:
      return Crypto().EVP_sha512();
  }
  std::abort();
}

std::size_t DigitsOf(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::kMd5:
      return 32;
    case DigestAlgorithm::kSha256:
      return kSha256Digits;
    case DigestAlgorithm::kSha512:
      return 128;
  }
  std::abort();
}

// Hashing fails only if memory runs out, or if OpenSSL's configuration has no provider of the algorithm.  A wrong
// digest would be worse than a crash.
void MustSucceed(int ok) {
  if (ok != 1) std::abort();
}

// Computes a digest with those functions of OpenSSL that need no provider (DigestFunctions::kPlain).
template <typename Context, auto kInit, auto kUpdate, auto kFinal, unsigned kLength>
class PlainHash final : public HashState {
 public:
  PlainHash() { MustSucceed((Crypto().*kInit)(&context_)); }
  int Update(std::string_view bytes) override { return (Crypto().*kUpdate)(&context_, bytes.data(), bytes.size()); }
  int Finish(unsigned char* digest, unsigned& length) override {
    length = kLength;
    return (Crypto().*kFinal)(digest, &context_);
  }

 private:
  Context context_ = {};
};

using PlainMd5 =
    PlainHash<MD5_CTX, &LibCrypto::MD5_Init, &LibCrypto::MD5_Update, &LibCrypto::MD5_Final, MD5_DIGEST_LENGTH>;
using PlainSha256 = PlainHash<SHA256_CTX, &LibCrypto::SHA256_Init, &LibCrypto::SHA256_Update, &LibCrypto::SHA256_Final,
                              SHA256_DIGEST_LENGTH>;

class ProviderHash final : public HashState {
 public:
  explicit ProviderHash(DigestAlgorithm algorithm) {
    MustSucceed(Crypto().EVP_DigestInit_ex(context_.get(), Method(algorithm), nullptr));
  }
  int Update(std::string_view bytes) override {
    return Crypto().EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }
  int Finish(unsigned char* digest, unsigned& length) override {
    return Crypto().EVP_DigestFinal_ex(context_.get(), digest, &length);
  }

 private:
  static void Free(EVP_MD_CTX* context) { Crypto().EVP_MD_CTX_free(context); }
  CPtr<EVP_MD_CTX, &ProviderHash::Free> context_{Crypto().EVP_MD_CTX_new()};
};

}  // namespace

DigestFunctions UsualDigestFunctions() {
  static const bool is_fips_mode = [] {
    const UniqueFd fd(::open("/proc/sys/crypto/fips_enabled", O_RDONLY | O_CLOEXEC));
    char digit = '0';
    return fd && ::read(fd.get(), &digit, 1) == 1 && digit != '0';
  }();
  return is_fips_mode ? DigestFunctions::kOfProvider : DigestFunctions::kPlain;
}

Hasher::Hasher(DigestAlgorithm algorithm, DigestFunctions functions) {
  const bool is_plain = functions == DigestFunctions::kPlain;
  if (is_plain && algorithm == DigestAlgorithm::kMd5) {
    state_.reset(new PlainMd5);
  } else if (is_plain && algorithm == DigestAlgorithm::kSha256) {
    state_.reset(new PlainSha256);
  } else {
    state_.reset(new ProviderHash(algorithm));
  }
}

void Hasher::Free(HashState* state) { delete state; }

void Hasher::Update(std::string_view bytes) { MustSucceed(state_->Update(bytes)); }

Digest Hasher::Finish() && {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw;
  unsigned length = 0;
  MustSucceed(state_->Finish(raw.data(), length));
  return Digest(ToHex(std::string_view(reinterpret_cast<const char*>(raw.data()), length)));
}

Digest DigestOf(DigestAlgorithm algorithm, std::string_view bytes) {
  Hasher hasher(algorithm);
  hasher.Update(bytes);
  return std::move(hasher).Finish();
}

Result<Digest> Digest::FromHex(DigestAlgorithm algorithm, std::string_view hex) {
  const std::size_t wanted = DigitsOf(algorithm);
  if (hex.size() != wanted) {
    return Error(ErrorKind::kInvalid, fmt::format("the digest has {} digits, but must have {}", hex.size(), wanted));
  }
  std::string lower(hex);
  for (char& c : lower) {
    if (HexDigit(c) < 0) return Error(ErrorKind::kInvalid, fmt::format("'{}' is not a hexadecimal digit", c));
    c = LowerCaseOf(c);
  }
  return Digest(std::move(lower));
}

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace pintle
