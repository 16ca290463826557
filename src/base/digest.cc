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
namespace {

// In FIPS mode, only the general interface uses the library's validated module.
bool IsFipsMode() {
  static const bool is_fips_mode = [] {
    const UniqueFd fd(open("/proc/sys/crypto/fips_enabled", O_RDONLY | O_CLOEXEC));
    char digit = '0';
    return fd && read(fd.get(), &digit, 1) == 1 && digit != '0';
  }();
  return is_fips_mode;
}

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

}  // namespace

Hasher::Hasher(DigestAlgorithm algorithm) {
  if (algorithm == DigestAlgorithm::kSha256 && !IsFipsMode()) {
    sha256_.reset(new SHA256_CTX);
    MustSucceed(Crypto().SHA256_Init(sha256_.get()));
    return;
  }
  context_.reset(Crypto().EVP_MD_CTX_new());
  MustSucceed(Crypto().EVP_DigestInit_ex(context_.get(), Method(algorithm), nullptr));
}

void Hasher::Free(evp_md_ctx_st* context) { Crypto().EVP_MD_CTX_free(context); }
void Hasher::FreeSha256(SHA256_CTX* state) { delete state; }

void Hasher::Update(std::string_view bytes) {
  MustSucceed(sha256_ ? Crypto().SHA256_Update(sha256_.get(), bytes.data(), bytes.size())
                      : Crypto().EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

Digest Hasher::Finish() && {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw;
  unsigned length = SHA256_DIGEST_LENGTH;
  MustSucceed(sha256_ ? Crypto().SHA256_Final(raw.data(), sha256_.get())
                      : Crypto().EVP_DigestFinal_ex(context_.get(), raw.data(), &length));
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
