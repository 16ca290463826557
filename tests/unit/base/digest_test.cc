// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <dlfcn.h>

#include <cstdlib>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle {
namespace {

// The values for "abc" and for the empty text are those of FIPS 180-4 and RFC 1321.
TEST(Digest, AgreesWithTheStandards) {
  EXPECT_EQ(Sha256("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(DigestOf(DigestAlgorithm::kMd5, "abc").hex(), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(DigestOf(DigestAlgorithm::kSha512, "abc").hex(),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

std::string Md5OfProvider(std::string_view bytes) {
  Hasher hasher(DigestAlgorithm::kMd5, DigestFunctions::kOfProvider);
  hasher.Update(bytes);
  return std::move(hasher).Finish().hex();
}

TEST(Hasher, GivesTheSameDigestWithAndWithoutAProvider) {
  EXPECT_EQ(Md5OfProvider("abc"), DigestOf(DigestAlgorithm::kMd5, "abc").hex());
  Hasher hasher(DigestAlgorithm::kSha256, DigestFunctions::kOfProvider);
  hasher.Update("abc");
  EXPECT_EQ(std::move(hasher).Finish(), Sha256("abc"));
}

// Sets what a system in FIPS mode sets when OpenSSL is loaded, and returns whether MD5 is computed nevertheless.
bool ComputesMd5InFipsMode() {
  static_cast<void>(Sha256("loads OpenSSL"));
  using Setter = int(void*, const char*);
  void* const library = ::dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  auto* const set_default_properties = reinterpret_cast<Setter*>(::dlsym(library, "EVP_set_default_properties"));
  if (set_default_properties == nullptr || set_default_properties(nullptr, "fips=yes") != 1) return false;
  return Md5OfProvider("abc") == "900150983cd24fb0d6963f7d28e17f72";
}

// Makes OpenSSL read a configuration that activates only a provider without digests, as that of a system in FIPS mode
// activates only providers without MD5, and returns whether MD5 is computed nevertheless.
bool ComputesMd5WithoutItsProvider() {
  const TemporaryDirectory directory;
  directory.Write("openssl.cnf",
                  "openssl_conf = start\n[start]\nproviders = providers\n"
                  "[providers]\nbase = base\n[base]\nactivate = 1\n");
  ::setenv("OPENSSL_CONF", (directory / "openssl.cnf").c_str(), 1);
  return Md5OfProvider("abc") == "900150983cd24fb0d6963f7d28e17f72";
}

TEST(DigestDeathTest, OfMd5IsComputedEvenIfTheSystemForbidsMd5) {
  // Runs each statement in a new process, since this process may have loaded MD5 before.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(ComputesMd5InFipsMode() ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(ComputesMd5WithoutItsProvider() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(Hasher, GivesTheDigestOfTheWholeForBytesInPieces) {
  Hasher hasher(DigestAlgorithm::kSha256);
  for (const char* piece : {"a", "", "bc"}) hasher.Update(piece);
  EXPECT_EQ(std::move(hasher).Finish(), Sha256("abc"));
}

TEST(Digest, IsReadFromHexadecimalInEitherCase) {
  EXPECT_EQ(ValueOf(Digest::FromHex(DigestAlgorithm::kMd5, "900150983CD24FB0D6963F7D28E17F72")),
            DigestOf(DigestAlgorithm::kMd5, "abc"));
}

TEST(Digest, RefusesATextThatIsNoDigest) {
  EXPECT_EQ(MessageOf(Digest::FromHex(DigestAlgorithm::kSha256, "abc")), "the digest has 3 digits, but must have 64");
  EXPECT_EQ(MessageOf(Digest::FromHex(DigestAlgorithm::kMd5, "90015098xcd24fb0d6963f7d28e17f72")),
            "'x' is not a hexadecimal digit");
}

}  // namespace
}  // namespace pintle
