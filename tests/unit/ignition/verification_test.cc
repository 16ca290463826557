// SPDX-License-Identifier: Apache-2.0
#include "ignition/verification.h"

#include <string>

#include "base/digest.h"
#include "support/expect.h"

namespace pintle::ignition {
namespace {

TEST(VerifyHash, AcceptsContentsWithTheirHash) {
  EXPECT_TRUE(Succeeded(VerifyHash("a", "sha256-" + Sha256("a").hex())));
  EXPECT_TRUE(Succeeded(VerifyHash("a", "sha512-" + DigestOf(DigestAlgorithm::kSha512, "a").hex())));
}

TEST(VerifyHash, RefusesOtherContents) { EXPECT_FALSE(VerifyHash("b", "sha256-" + Sha256("a").hex())); }

TEST(VerifyHash, RefusesATextThatIsNoHash) {
  EXPECT_FALSE(VerifyHash("a", "md5-0"));
  EXPECT_FALSE(VerifyHash("a", "sha256-" + std::string(64, 'x')));
}

TEST(HashProblem, AcceptsSha256SinceSpec31) {
  const std::string hash = "sha256-" + std::string(64, '0');
  EXPECT_EQ(HashProblem(hash, true), "");
  EXPECT_EQ(HashProblem(hash, false), "unrecognized hash function");
}

}  // namespace
}  // namespace pintle::ignition
