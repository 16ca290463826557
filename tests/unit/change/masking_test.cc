// SPDX-License-Identifier: Apache-2.0
#include "change/masking.h"

#include "support/expect.h"

namespace pintle::change {
namespace {

using testing::ElementsAre;

TEST(MaskedLine, HidesTheValueOfANameThatSuggestsASecret) {
  EXPECT_EQ(MaskedLine("db_password=hunter2 and more"), "db_password=<masked>");
  EXPECT_EQ(MaskedLine("  client-key-data: LS0tLS1"), "  client-key-data: <masked>");
  EXPECT_EQ(MaskedLine(R"({"auths":{"quay.io":{"auth":"dXNlcg==","email":"a@b"}}})"),
            R"({"auths":{"quay.io":{"auth":<masked>,"email":"a@b"}}})");
  EXPECT_EQ(MaskedLine(R"("token" : "a\"b", "x": 1)"), R"("token" : <masked>, "x": 1)");
  EXPECT_EQ(MaskedLine("{password: 'it''s secret', x: 1}"), "{password: <masked>, x: 1}");
}

TEST(MaskedLine, HidesTheArgumentOfAnOptionThatSuggestsASecret) {
  EXPECT_EQ(MaskedLine("ExecStart=/bin/x --token s3cret --port 80"), "ExecStart=/bin/x --token <masked> --port 80");
  EXPECT_EQ(MaskedLine("--token s3cret \\"), "--token <masked> \\");
  EXPECT_EQ(MaskedLine("\t--token\ts3cret"), "\t--token\t<masked>");
  EXPECT_EQ(MaskedLine(R"(/bin/x --password "two words" -v)"), "/bin/x --password <masked> -v");
  EXPECT_EQ(MaskedLine(R"(/bin/x --password 'two'"\" words" -v)"), "/bin/x --password <masked> -v");
  EXPECT_EQ(MaskedLine(R"(args: ["--token", "s3cret", "-v"])"), R"(args: ["--token", <masked> "-v"])");
  EXPECT_EQ(MaskedLine("/bin/x --token a--token b"), "/bin/x --token <masked> b");
  for (const char* line : {"/bin/x --token --port 80", "/bin/x --port 80", "my--token is lost", "/bin/x --token"}) {
    EXPECT_EQ(MaskedLine(line), line);
  }
}

TEST(MaskedLine, HidesPasswordHashesAndPasswordsInUrls) {
  EXPECT_EQ(MaskedLine("core:$6$salt$abcdef:19000:0"), "core:<masked>:19000:0");
  EXPECT_EQ(MaskedLine("proxy http://user:pass@proxy:3128/"), "proxy http://user:<masked>@proxy:3128/");
}

TEST(MaskedLine, LeavesOtherLinesAlone) {
  for (const char* line :
       {"ExecStart=/bin/true", "https://quay.io/x@sha256:1", "cost: $5 and $6", "a=b=c", "path: /etc"}) {
    EXPECT_EQ(MaskedLine(line), line);
  }
}

TEST(Masked, HidesAllOfAPrivateKey) {
  EXPECT_THAT(
      Masked({"-----BEGIN RSA PRIVATE KEY-----", "MIIE", "abcd", "-----END RSA PRIVATE KEY-----", "after"}),
      ElementsAre("-----BEGIN RSA PRIVATE KEY-----", "<masked>", "<masked>", "-----END RSA PRIVATE KEY-----", "after"));
  EXPECT_THAT(Masked({R"("x": "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n")"}),
              ElementsAre("<masked>"));
  EXPECT_THAT(
      Masked({"-----BEGIN PGP PRIVATE KEY BLOCK-----", "lQdG", "-----END PGP PRIVATE KEY BLOCK-----", "after"}),
      ElementsAre("-----BEGIN PGP PRIVATE KEY BLOCK-----", "<masked>", "-----END PGP PRIVATE KEY BLOCK-----", "after"));
}

TEST(Masked, HidesAPrivateKeyThatSharesALineWithItsMarks) {
  // YAML writers fold long texts at blanks, and the marks of a key have blanks.
  EXPECT_THAT(
      Masked({R"(x: "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END\)", R"(  \ RSA PRIVATE KEY-----\n")"}),
      ElementsAre("x: \"-----BEGIN RSA PRIVATE KEY-----<masked>", "<masked>"));
  EXPECT_THAT(
      Masked({R"(x: "-----BEGIN RSA\)", R"(  \ PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n")", "after"}),
      ElementsAre("x: \"-----BEGIN RSA\\", "<masked>", "after"));
  EXPECT_THAT(
      Masked({"-----BEGIN PRIVATE KEY-----", R"(-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----\)", "MIIE"}),
      ElementsAre("-----BEGIN PRIVATE KEY-----", "<masked>", "<masked>"));
  EXPECT_THAT(Masked({"  -----BEGIN PRIVATE KEY-----\r", "MIIE", "  -----END PRIVATE KEY-----\r"}),
              ElementsAre("  -----BEGIN PRIVATE KEY-----\r", "<masked>", "  -----END PRIVATE KEY-----\r"));
}

TEST(Masked, HidesAPrivateKeyIfBothOfItsMarksAreFolded) {
  EXPECT_THAT(Masked({R"(x: "-----BEGIN RSA\)", R"(  \ PRIVATE KEY-----\nMIIE\nabcd\n-----END\)",
                      R"(  \ RSA PRIVATE KEY-----\n")", "after"}),
              ElementsAre("x: \"-----BEGIN RSA\\", "<masked>", "<masked>", "after"));
  // PyYAML also folds a text behind its line breaks.
  EXPECT_THAT(Masked({R"(x: "-----BEGIN PRIVATE\)", R"(  \ KEY-----\nMIIE\n\)", R"(  abcd\n\)",
                      R"(  -----END PRIVATE KEY-----")"}),
              ElementsAre("x: \"-----BEGIN PRIVATE\\", "<masked>", "<masked>", R"(  -----END PRIVATE KEY-----")"));
  // The lines of a plain text are folded without backslashes.
  EXPECT_THAT(
      Masked({"x: -----BEGIN", "  PRIVATE KEY-----", "", "  MIIE", "", "  -----END", "  PRIVATE KEY-----", "y: 1"}),
      ElementsAre("x: -----BEGIN", "<masked>", "<masked>", "<masked>", "<masked>", "<masked>", "<masked>", "y: 1"));
}

TEST(Masked, LeavesACertificateWhoseMarksAreFolded) {
  const std::vector<std::string_view> lines = {R"(x: "-----BEGIN\)", R"(  \ CERTIFICATE-----\nMIIE\n-----END\)",
                                               R"(  \ CERTIFICATE-----\n")", "the PRIVATE KEY----- is elsewhere"};
  EXPECT_THAT(Masked(lines), testing::ElementsAreArray(lines));
}

// YAML writers fold long texts at blanks.
TEST(Masked, HidesASecretThatGoesOnInTheNextLines) {
  EXPECT_THAT(
      Masked({R"(pull-secret: '{"auths": {"quay.io": {"auth":)", R"(  "dXNlcg==", "email": "a@b"}}}')", "kind: a"}),
      ElementsAre("pull-secret: <masked>", "<masked>", "kind: a"));
  EXPECT_THAT(Masked({R"(- password: "two\)", "", R"(    \ words")", "  user: a", "    b"}),
              ElementsAre("- password: <masked>", "", "<masked>", "  user: a", "    b"));
  EXPECT_THAT(Masked({"token: two", "  words", "", "kind: a"}),
              ElementsAre("token: <masked>", "<masked>", "", "kind: a"));
  EXPECT_THAT(Masked({R"(private: "-----BEGIN PRIVATE KEY-----\n\)", R"(  MIIE\n\)",
                      R"(  -----END PRIVATE KEY-----\n")", "kind: a"}),
              ElementsAre("private: <masked>", "<masked>", "<masked>", "kind: a"));
}

TEST(Masked, HidesTheNextLinesOfASecretWhereverItsNameIsInItsLine) {
  for (const std::string name : {"- {name: db, password", "- example.com/auth-token", "- db password"}) {
    EXPECT_THAT(Masked({name + ": 'correct", "    horse'", "- kind: a"}),
                ElementsAre(name + ": <masked>", "<masked>", "- kind: a"));
  }
}

TEST(Masked, LeavesLinesBelowASecretThatHasEnded) {
  EXPECT_THAT(Masked({R"(token: "a")", "  b: c"}), ElementsAre("token: <masked>", "  b: c"));
  EXPECT_THAT(Masked({"- token: a", "  b: c"}), ElementsAre("- token: <masked>", "  b: c"));
  EXPECT_THAT(Masked({"secret:", "  name: a"}), ElementsAre("secret:", "  name: a"));
}

}  // namespace
}  // namespace pintle::change
