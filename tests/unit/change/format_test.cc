// SPDX-License-Identifier: Apache-2.0
#include "change/format.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string_view>

#include "change/claim.h"
#include "change/current_config.h"
#include "change/ignored.h"
#include "change/journal.h"
#include "change/kept_policy.h"
#include "change/original_passwords.h"
#include "change/rejected.h"
#include "change/set_aside.h"
#include "change/staged_image.h"
#include "ignition/config.h"
#include "support/expect.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::change {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const WallTime kNoon = ValueOf(FromRfc3339("2026-11-21T12:00:00Z"));

class Formats : public testing::Test {
 protected:
  void WriteVersion(const Format& format, std::int64_t version) {
    machine_.Write(format.path + 1, fmt::format(R"({{"version": {}}})", version));
  }
  std::string Tree() const { return DescribeTree(directory_.path()); }
  json::Value DocumentAt(const Format& format) { return ValueOf(json::Parse(machine_.Read(format.path + 1))); }

  // Gives the machine a config with a password, and one file of each kind that this library writes.
  void HaveAllFiles() {
    TestConfig config;
    config.WithUser("core", {});
    config.ignition().passwd.users.back().password_hash = "$6$salt$ours";
    config.spec().config = ignition::Encode(config.ignition());
    const plan::ParsedConfig parsed = config;
    CurrentConfig to{.object = parsed.object, .ignition = parsed.ignition, .writers = {{"core", {"99-core"}}}};
    plan::Plan plan = plan::Make(NoConfig(), to, machine_.policy, {});
    plan.writers = to.writers;
    ASSERT_TRUE(Succeeded(Apply(machine_.host(), NoConfig(), to, plan)));
    ASSERT_TRUE(Succeeded(KeepRejected(root_, Rejected{"rendered-worker-2", "", "it was not well"})));
    ASSERT_TRUE(Succeeded(KeepIgnored(root_, {{"/etc/a", kNoon + std::chrono::hours(1)}})));
    ASSERT_TRUE(Succeeded(KeepPolicy(root_, machine_.policy)));
    ASSERT_TRUE(Succeeded(KeepStagedImage(root_, StagedImage{"rendered-worker-2", ""})));
    ASSERT_TRUE(Succeeded(Journal(root_).Write(Change())));
  }

  using TestConfig = plan::TestConfig;
  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
};

TEST_F(Formats, HaveAPathOfTheirOwn) {
  std::set<std::string> paths;
  for (const Format& format : AllFormats()) paths.insert(format.path);
  EXPECT_EQ(paths.size(), AllFormats().size());
}

TEST_F(Formats, AreNamedByEachFile) {
  HaveAllFiles();
  for (const Format& format : AllFormats()) {
    // HaveAllFiles() lacks these two files, which the agent writes.
    const std::string_view path = format.path;
    if (path == format::kRegistries.path || path == format::kHandedOver.path) continue;
    EXPECT_EQ(DocumentAt(format)["version"], json::Value(format.version)) << format.path;
  }
}

// The files of a Pintle that wrote no version: structs without the member, and lists and maps alone.
TEST_F(Formats, OfFilesWithoutAVersionAreVersionOne) {
  HaveAllFiles();
  for (const Format& format : AllFormats()) {
    if (!machine_.Has(format.path + 1)) continue;
    json::Value document = DocumentAt(format);
    document.Erase("version");
    if (format.member != nullptr) document = json::Value(std::as_const(document)[format.member]);
    machine_.Write(format.path + 1, json::ToText(document));
  }
  EXPECT_EQ(ValueOf(ReadRejected(root_))->why, "it was not well");
  EXPECT_EQ(ValueOf(ReadStagedImage(root_))->config, "rendered-worker-2");
  EXPECT_THAT(ValueOf(ReadIgnored(root_, kNoon)), SizeIs(1));
  EXPECT_THAT(ValueOf(ReadKeptPolicy(root_)).files, SizeIs(machine_.policy.files.size()));
  EXPECT_TRUE(ValueOf(Journal(root_).Read()));
  EXPECT_EQ(ValueOf(ReadOriginalPasswords(root_)).at("core").hash, "!");
  EXPECT_THAT(ValueOf(ReadCurrentConfig(root_)).writers, SizeIs(1));
  EXPECT_TRUE(Succeeded(Claim::Take(root_)));
}

TEST_F(Formats, OfAMapMayHaveAnEntryThatIsNamedLikeTheVersion) {
  machine_.Write(kOriginalPasswords + 1, R"({"version": {"hash": "!"}})");
  EXPECT_EQ(ValueOf(ReadOriginalPasswords(root_)).count("version"), 1u);
  const json::Value both = ValueOf(json::Parse(R"({"version": {"hash": "!"}})"));
  EXPECT_EQ(ValueOf(WithoutVersion(format::kPasswords, WithVersion(format::kPasswords, both))), both);
}

TEST_F(Formats, RefuseAVersionThatIsNotAPositiveNumber) {
  for (const char* version : {"0", "-1", "1.5", "\"1\"", "null", "18446744073709551615"}) {
    machine_.Write(kRejected + 1, fmt::format(R"({{"config": "a", "why": "b", "version": {}}})", version));
    EXPECT_THAT(MessageOf(ReadRejected(root_)), AllOf(HasSubstr(kRejected), HasSubstr("is not a positive number"),
                                                      HasSubstr("`pintle recover --set-aside`")))
        << version;
    EXPECT_TRUE(Succeeded(Claim::Take(root_)));
  }
}

TEST_F(Formats, RefuseOtherMembersBesideAListOrMap) {
  for (const char* text : {R"({"version": 1})", R"({"version": 1, "ignored": [], "more": []})"}) {
    machine_.Write(kIgnored + 1, text);
    EXPECT_THAT(MessageOf(ReadIgnored(root_, kNoon)), HasSubstr("its members must be version and ignored"));
  }
}

TEST_F(Formats, OfANewerVersionBlockTheClaimAndNothingIsWritten) {
  for (const bool has_lock : {false, true}) {
    if (has_lock) {
      ASSERT_TRUE(Succeeded(Claim::Take(root_)));
    }
    for (const Format& format : AllFormats()) {
      SCOPED_TRACE(format.path);
      WriteVersion(format, format.version + 1);
      const std::string before = Tree();
      const auto claim = Claim::Take(root_);
      ASSERT_FALSE(claim);
      EXPECT_EQ(claim.error().kind(), ErrorKind::kTooNew);
      EXPECT_THAT(claim.error().message(),
                  AllOf(HasSubstr(format.path), HasSubstr(fmt::format("in version {} of", format.version + 1)),
                        HasSubstr(fmt::format("this one knows version {};", format.version)),
                        HasSubstr("install the newer one again")));
      EXPECT_EQ(Tree(), before);
      std::filesystem::remove(directory_ / (format.path + 1));
    }
    EXPECT_EQ(machine_.Has("var/lib/pintle/lock"), has_lock);
  }
}

TEST_F(Formats, OfANewerVersionAreNotOverwritten) {
  for (const Format& format : {format::kRejected, format::kIgnored, format::kPolicy, format::kStagedImage}) {
    WriteVersion(format, format.version + 1);
  }
  const std::string before = Tree();
  EXPECT_THAT(MessageOf(KeepRejected(root_, std::nullopt)), HasSubstr(kRejected));
  EXPECT_THAT(MessageOf(KeepRejected(root_, Rejected{"a", "", "b"})), HasSubstr(kRejected));
  EXPECT_THAT(MessageOf(KeepIgnored(root_, {})), HasSubstr(kIgnored));
  EXPECT_THAT(MessageOf(KeepPolicy(root_, {})), HasSubstr(kKeptPolicy));
  EXPECT_THAT(MessageOf(KeepStagedImage(root_, std::nullopt)), HasSubstr(kStagedImage));
  EXPECT_EQ(Tree(), before);
}

// A damaged record would lock the users.
TEST_F(Formats, OfNewerPasswordsDoNotCountAsDamage) {
  WriteVersion(format::kPasswords, format::kPasswords.version + 1);
  const auto read = ReadOriginalPasswords(root_);
  ASSERT_FALSE(read);
  EXPECT_FALSE(IsDamage(read.error()));
  EXPECT_THAT(read.error().message(), AllOf(HasSubstr(kOriginalPasswords), Not(HasSubstr("--set-aside"))));
}

TEST_F(Formats, OfANewerVersionAreSetAsideOnRequest) {
  std::size_t movable = 0;
  for (const Format& format : AllFormats()) {
    if (!format.can_be_set_aside) continue;
    WriteVersion(format, format.version + 1);
    ++movable;
  }
  const auto moved = ValueOf(SetAsideUnusable(root_, kNoon));
  EXPECT_THAT(moved, SizeIs(movable));
  for (const SetAside& file : moved) EXPECT_TRUE(machine_.Has(file.kept_as.substr(1))) << file.path;
  EXPECT_TRUE(Succeeded(Claim::Take(root_)));
}

}  // namespace
}  // namespace pintle::change
