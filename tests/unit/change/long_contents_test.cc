// SPDX-License-Identifier: Apache-2.0

// Tests configs with long files, many files and long records.  A file or record that could not be read back must be
// refused before anything is changed, and all others must need little memory.

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/size_limits.h"
#include "change/drift.h"
#include "change/findings.h"
#include "change/journal.h"
#include "host/files/files.h"
#include "support/counted_memory.h"
#include "support/expect.h"
#include "support/packed.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// This is longer than any file that is read as a whole.
constexpr std::size_t kLong = limits::kRecord + (16 << 20);

// This much memory is enough for a few pieces, the index of a store and the machine's records.
constexpr std::size_t kLittle = 4 << 20;

TestConfig WithLongFile(std::size_t size = kLong) {
  TestConfig config;
  config.WithFile("/etc/big", PackedUrl(size));
  config.ignition().storage.files.back().contents.compression = "gzip";
  return config;
}

class LongContents : public testing::Test {
 protected:
  Result<std::vector<Finding>> Findings(const TestConfig& config) { return FindingsOn(machine_.host(), config); }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
};

TEST_F(LongContents, AreAppliedAndRemovedInLittleMemory) {
  const TestConfig config = WithLongFile();
  const std::string motd = machine_.Read("etc/motd");
  EXPECT_LT(counted::PeakDuring([&] { EXPECT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config))); }), kLittle);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "etc/big"), kLong);
  EXPECT_LT(counted::PeakDuring([&] { EXPECT_THAT(ValueOf(Findings(config)), IsEmpty()); }), kLittle);
  EXPECT_LT(counted::PeakDuring([&] { EXPECT_TRUE(Succeeded(machine_.GoFromTo(config, NoConfig()))); }), kLittle);
  EXPECT_FALSE(machine_.Has("etc/big"));
}

TEST_F(LongContents, AreComparedInLittleMemory) {
  TestConfig config = WithLongFile();
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config)));
  std::filesystem::resize_file(directory_ / "etc/big", kLong - 1);
  EXPECT_LT(counted::PeakDuring([&] {
              auto findings = ValueOf(Findings(config));
              ASSERT_THAT(findings, testing::SizeIs(1));
              EXPECT_EQ(findings.front().text, "content mismatch for file \"/etc/big\"");
              CurrentConfig current;
              current.ignition = config.ignition();
              const auto report = ValueOf(VerifyReportOf(machine_.host().root, current, std::move(findings), {}));
              EXPECT_THAT(report.things.front().difference, HasSubstr("too long to print"));
            }),
            kLittle);
}

TEST_F(LongContents, HaveNoDifferenceIfOnlyTheModeDiffers) {
  TestConfig config = WithLongFile();
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config)));
  std::filesystem::permissions(directory_ / "etc/big", std::filesystem::perms(0600));
  auto findings = ValueOf(Findings(config));
  ASSERT_THAT(findings, testing::SizeIs(1));
  EXPECT_THAT(findings.front().text, HasSubstr("mode mismatch for file: \"/etc/big\""));
  CurrentConfig current;
  current.ignition = config.ignition();
  EXPECT_EQ(ValueOf(VerifyReportOf(machine_.host().root, current, std::move(findings))).things.front().difference, "");
}

TEST_F(LongContents, OfAReplacedFileAreRestoredInLittleMemory) {
  std::filesystem::resize_file(directory_ / "etc/motd", kLong);
  TestConfig config;
  config.WithFile("/etc/motd", "data:,ours");
  EXPECT_LT(counted::PeakDuring([&] { EXPECT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config))); }), kLittle);
  EXPECT_LT(counted::PeakDuring([&] { EXPECT_TRUE(Succeeded(machine_.GoFromTo(config, NoConfig()))); }), kLittle);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "etc/motd"), kLong);
}

TEST_F(LongContents, BeyondTheLimitAreRefusedInLittleMemory) {
  const TestConfig config = WithLongFile(2 * limits::kFileContents);
  EXPECT_LT(counted::PeakDuring([&] {
              EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), config)),
                          AllOf(HasSubstr("could not decode file \"/etc/big\""),
                                HasSubstr("unpacks to more than 268435456 bytes")));
            }),
            kLittle);
  EXPECT_FALSE(machine_.Has("etc/big"));
}

TEST_F(LongContents, OfTheConfigItselfAreRefusedWithTheNameOfTheLargestFile) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/largest", "data:,22");
  config.spec().config = json::Value{{"x", std::string(limits::kRecord, 'x')}};
  EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), config)),
              AllOf(HasSubstr("/etc/machine-config-daemon/currentconfig would be 67109"),
                    HasSubstr("more than the 67108864 that can be read back; of that, /etc/largest has 8 bytes")));
  EXPECT_FALSE(machine_.Has("etc/a"));
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
}

TEST_F(LongContents, OfTheJournalAreRefusedBeforeAnythingIsChanged) {
  std::string directory = "/etc/deep";
  while (directory.size() < 3700) directory += "/" + std::string(200, 'd');
  TestConfig config;
  for (int i = 0; i < 5000; ++i) config.WithFile(fmt::format("{}/{}", directory, i), "data:,x");
  EXPECT_THAT(MessageOf(machine_.GoFromTo(NoConfig(), config)),
              AllOf(HasSubstr("steps, and its journal would be "), HasSubstr("more than the 66060288")));
  EXPECT_FALSE(machine_.Has("etc/deep"));
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kNothingToDo);
}

TEST_F(LongContents, OfTheJournalAreNotWritten) {
  std::filesystem::create_directories(directory_ / "var/lib/pintle/change");
  const Journal journal(machine_.host().root);
  Change change;
  change.steps.push_back(host::FilePut{"/" + std::string(limits::kRecord - (1 << 20), 'p'), std::nullopt});
  EXPECT_THAT(MessageOf(journal.Write(change)), HasSubstr("its journal would be "));
  EXPECT_FALSE(ValueOf(journal.Read()).has_value());
}

}  // namespace
}  // namespace pintle::change
