// SPDX-License-Identifier: Apache-2.0
#include "controller/webhook.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "controller/start_options.h"
#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::controller {
namespace {

using Kind = NoticeQueue::Outcome::Kind;

// RFC 4231, section 4.3.
TEST(SignatureOf, IsTheHmacOfTheBody) {
  EXPECT_EQ(SignatureOf("Jefe", "what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(CloudEventOf, HasTheAttributesOfCloudEvents) {
  Notice notice;
  notice.id = "0123";
  notice.type = kNodeDegraded;
  notice.subject = "nodes/a";
  notice.at = ValueOf(FromRfc3339("2027-01-04T12:00:00Z"));
  notice.data["node"] = "a";
  const json::Value wanted = {{"specversion", "1.0"},
                              {"id", "0123"},
                              {"source", "/cluster/a"},
                              {"type", "io.pintle.node.degraded"},
                              {"subject", "nodes/a"},
                              {"time", "2027-01-04T12:00:00Z"},
                              {"datacontenttype", "application/json"},
                              {"data", {{"node", "a"}}}};
  EXPECT_EQ(ValueOf(json::Parse(CloudEventOf(notice, "/cluster/a"))), wanted);
}

TEST(JudgeAnswer, DecidesWhetherAnotherAttemptMakesSense) {
  const std::vector<std::pair<int, Kind>> cases = {
      {200, Kind::kTaken},  {202, Kind::kTaken},   {204, Kind::kTaken},   {301, Kind::kFailed}, {400, Kind::kRefused},
      {401, Kind::kFailed}, {413, Kind::kRefused}, {422, Kind::kRefused}, {429, Kind::kFailed}, {503, Kind::kFailed},
  };
  for (const auto& [status, kind] : cases) EXPECT_EQ(JudgeAnswer(status, "hook:443").kind, kind) << status;
  EXPECT_EQ(JudgeAnswer(503, "hook:443").why, "hook:443 answers 503");
}

TEST(JudgeAnswer, NamesARemedyForAnswersThatSettingsCause) {
  EXPECT_EQ(
      JudgeAnswer(302, "hook:443").why,
      "hook:443 answers 302, and redirects are not followed; give the address to which it redirects as --notify-url");
  EXPECT_EQ(JudgeAnswer(401, "hook:443").why, "hook:443 answers 401; check that it has the key of --notify-key-file");
  EXPECT_EQ(JudgeAnswer(404, "hook:443").why, "hook:443 answers 404; check the path in --notify-url");
}

struct KeyCase {
  std::string key;
  std::filesystem::perms mode;
  const char* why;
};

TEST(Webhook, FailsWithoutAPrivateKeyThatIsLongEnough) {
  const auto kPrivate = std::filesystem::perms::owner_read;
  const std::vector<KeyCase> cases = {
      {"", kPrivate, "has 0 bytes and must have 32 or more"},
      {std::string(31, 'k') + "\n", kPrivate, "has 31 bytes and must have 32 or more"},
      {std::string(32, 'k'), kPrivate | std::filesystem::perms::others_read, "everyone on this machine may read it"},
      {std::string(5000, 'k'), kPrivate, "reading the key for notices"},
  };
  const TemporaryDirectory folder;
  const std::string file = folder / "key";
  const auto loop = ValueOf(event::Loop::Create());
  for (const KeyCase& row : cases) {
    std::filesystem::remove(file);
    std::ofstream(file) << row.key;
    std::filesystem::permissions(file, row.mode);
    Webhook webhook(*loop, {.url = ValueOf(net::Url::Parse("http://127.0.0.1:1/")), .key_file = file});
    NoticeQueue::Outcome outcome;
    webhook.Send(Notice(), [&](NoticeQueue::Outcome ended) { outcome = std::move(ended); });
    EXPECT_EQ(outcome.kind, Kind::kFailed);
    EXPECT_THAT(outcome.why, testing::HasSubstr(row.why));
  }
}

struct OptionsCase {
  std::vector<std::string_view> words;
  const char* error;  // Empty if the options are right.
};

TEST(StartOptions, AllowAWebhookWithoutTlsAtALoopbackAddressOnly) {
  const std::vector<OptionsCase> cases = {
      {{"--notify-url=https://hook.example/secret", "--notify-key-file=/key"}, ""},
      {{"--notify-url=http://127.0.0.1:8080/", "--notify-key-file=/key"}, ""},
      {{"--notify-url=http://localhost/", "--notify-key-file=/key"}, ""},
      {{"--notify-url=http://hook.example/secret", "--notify-key-file=/key"},
       "hook.example:80 is not a loopback address"},
      {{"--notify-url=http://169.254.169.254/secret", "--notify-key-file=/key"}, "is not a loopback address"},
      {{"--notify-url=http://[fe80::1]/secret", "--notify-key-file=/key"}, "is not a loopback address"},
      {{"--notify-url=http://169.254.169.254/secret", "--notify-key-file=/key", "--notify-http=all"}, ""},
      {{"--notify-url=http://[::1]:8080/", "--notify-key-file=/key"}, ""},
      {{"--notify-url=http://hook.example/secret", "--notify-key-file=/key", "--notify-http=all"}, ""},
      {{"--notify-url=ftp://hook.example/secret", "--notify-key-file=/key"}, "not an http or https URL"},
      {{"--notify-url=https://hook.example/secret", "--notify-key-file=key"}, "must be an absolute path"},
      {{"--notify-url=https://hook.example/secret"}, "--notify-url needs --notify-key-file"},
      {{"--notify-key-file=/key"}, "--notify-key-file needs --notify-url"},
      {{"--notify-url=https://hook.example/secret", "--notify-key-file=/key", "--notify-source="}, "must not be empty"},
  };
  for (const OptionsCase& row : cases) {
    const auto options = ReadStartOptions(ValueOf(CommandLine::Parse(KnownStartOptions(), row.words)));
    if (*row.error == '\0') {
      ASSERT_TRUE(Succeeded(options)) << row.words[0];
      EXPECT_EQ(options->controller.webhook->source, "/pintle-controller");
      continue;
    }
    ASSERT_FALSE(options) << row.words[0];
    EXPECT_THAT(options.error().message(), testing::HasSubstr(row.error));
    EXPECT_THAT(options.error().message(), testing::Not(testing::HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace pintle::controller
