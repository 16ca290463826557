// SPDX-License-Identifier: Apache-2.0
#include "serving/access.h"

#include <chrono>
#include <string>
#include <vector>

#include "support/expect.h"

namespace pintle::serving {
namespace {

using std::chrono::seconds;

const std::string kKey(32, 'k');
const std::string kOtherKey(32, 'o');
constexpr WallTime kNow = WallTime(std::chrono::hours(500'000));

// Checks a token for the pool worker at kNow.
TokenProblem Check(std::string_view token, const std::vector<std::string>& keys = {kKey}) {
  return CheckToken(keys, token, "worker", kNow);
}

TEST(Access, ATokenOpensItsPoolUntilItExpires) {
  const std::string token = MakeToken(kKey, "worker", kNow + seconds(10));
  EXPECT_EQ(Check(token), TokenProblem::kNone);
  EXPECT_EQ(CheckToken({kKey}, token, "worker", kNow + seconds(9)), TokenProblem::kNone);
  EXPECT_EQ(CheckToken({kKey}, token, "worker", kNow + seconds(10)), TokenProblem::kExpired);
  EXPECT_EQ(CheckToken({kKey}, token, "master", kNow), TokenProblem::kOtherPool);
}

TEST(Access, ATokenMayBeSignedWithAnyOfTheKeys) {
  const std::string token = MakeToken(kKey, "worker", kNow + seconds(10));
  EXPECT_EQ(Check(token, {kOtherKey, kKey}), TokenProblem::kNone);
  EXPECT_EQ(Check(token, {kOtherKey}), TokenProblem::kForged);
  EXPECT_EQ(Check(token, {}), TokenProblem::kForged);
}

TEST(Access, ATokenWithAChangedCharacterIsRefused) {
  const std::string token = MakeToken(kKey, "worker", kNow + seconds(10));
  for (std::size_t at = 0; at < token.size(); ++at) {
    for (const char c : {'A', 'B', '.', '='}) {
      if (token[at] == c) continue;
      std::string changed = token;
      changed[at] = c;
      EXPECT_EQ(Check(changed), TokenProblem::kForged) << changed;
    }
  }
}

TEST(Access, ATextThatIsNoTokenIsRefused) {
  EXPECT_EQ(Check(""), TokenProblem::kMissing);
  const std::string token = MakeToken(kKey, "worker", kNow + seconds(10));
  for (const std::string& junk : {std::string("."), std::string("a.b"), std::string("x"), token + token, token + ".",
                                  token.substr(0, token.find('.') + 1), std::string(10'000, 'x'), "." + token}) {
    EXPECT_EQ(Check(junk), TokenProblem::kForged) << junk;
  }
}

TEST(Access, ATokenNeedsNoQuotingInAHeaderOrUrl) {
  for (int i = 0; i < 50; ++i) {
    const std::string token = MakeToken(kKey, "pool-" + std::to_string(i), kNow);
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."),
              std::string::npos);
  }
}

TEST(Access, KeysAreLinesOfSufficientLength) {
  EXPECT_THAT(ValueOf(ParseKeys(kKey + "\r\n\n" + kOtherKey)), testing::ElementsAre(kKey, kOtherKey));
  EXPECT_EQ(MessageOf(ParseKeys(kKey + "\nshort\n")),
            "line 2: a key must have at least 32 characters; `openssl rand -hex 32` makes one");
  EXPECT_EQ(MessageOf(ParseKeys("\n")), "there is no key; `openssl rand -hex 32` makes one");
}

TEST(Access, ModesAreParsedFromTheirNames) {
  EXPECT_EQ(ValueOf(ParseAccessMode("required")), AccessMode::kRequired);
  EXPECT_EQ(MessageOf(ParseAccessMode("closed")), "\"closed\" is not open, grace or required");
}

}  // namespace
}  // namespace pintle::serving
