// SPDX-License-Identifier: Apache-2.0
#include "agent/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "agent/initial_annotations.h"
#include "ignition/config.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using change::NoConfig;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

class ObservationTest : public testing::Test {
 protected:
  void SetUp() override {
    machine_.policy = {};
    ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Config("rendered-worker-1", "data:,one"))));
    machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
    ASSERT_TRUE(Succeeded(change::Recover(machine_.host(), {})));
  }

  static plan::TestConfig Config(const char* name, const char* motd) {
    plan::TestConfig config;
    config.metadata().name = name;
    config.WithFile("/etc/motd", motd);
    config.spec().config = ignition::Encode(config.ignition());
    return config;
  }

  static ProvidedConfig ProvidedConfigOf(const machineconfig::ParsedConfig& parsed) {
    const change::CurrentConfig config{.object = parsed.object, .ignition = parsed.ignition, .writers = {}};
    return {GoalOf(config), [config]() -> Result<change::CurrentConfig> { return config; }};
  }

  Observation Seen(const SurveyRequest& request = {}) { return ValueOf(Observe(machine_.host(), request)); }

  // Returns all files of the machine with the times of their last changes.
  std::map<std::string, std::filesystem::file_time_type> TimesOfChanges() const {
    std::map<std::string, std::filesystem::file_time_type> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      if (!entry.is_symlink()) files.emplace(entry.path().string(), entry.last_write_time());
    }
    return files;
  }

  TemporaryDirectory directory_;
  change::SmallMachine machine_{directory_.path()};
};

TEST_F(ObservationTest, ChangesNothing) {
  machine_.Write("etc/motd", "mine");
  const auto before = TimesOfChanges();
  const Observation seen = Seen({.wanted = ProvidedConfigOf(Config("rendered-worker-2", "data:,two"))});
  EXPECT_THAT(seen.losses, SizeIs(1));
  EXPECT_EQ(TimesOfChanges(), before);
}

TEST_F(ObservationTest, HasTheFindingsAndTheirDetails) {
  machine_.Write("etc/motd", "mine");
  machine_.Write("run/machine-config-daemon-force", "");
  const Observation seen = Seen();
  EXPECT_EQ(GoalOf(seen.current).config, "rendered-worker-1");
  EXPECT_TRUE(seen.is_on_disk);
  EXPECT_TRUE(seen.is_forced);
  EXPECT_FALSE(seen.to);
  EXPECT_THAT(seen.findings, ElementsAre(Field(&change::Finding::about, "/etc/motd")));
  ASSERT_THAT(seen.report.things, SizeIs(1));
  EXPECT_THAT(seen.report.things[0].remedies,
              ElementsAre("pintle restore /etc/motd", "pintle adopt /etc/motd", "pintle ignore --until 1d /etc/motd"));
}

TEST_F(ObservationTest, LossesAreTheFindingsWhoseStateTheWantedConfigDoesNotHave) {
  machine_.Write("etc/motd", "two");
  EXPECT_THAT(Seen({.wanted = ProvidedConfigOf(Config("rendered-worker-2", "data:,two"))}).losses, IsEmpty());
  EXPECT_THAT(Seen({.wanted = ProvidedConfigOf(Config("rendered-worker-2", "data:,three"))}).losses,
              ElementsAre(Field(&change::Finding::about, "/etc/motd")));
}

TEST_F(ObservationTest, TheWantedConfigIsNotReadIfTheMachineHasIt) {
  const ProvidedConfig unread{Goal{"rendered-worker-1"}, []() -> Result<change::CurrentConfig> {
                                return Error(ErrorKind::kInvalid, "it was read");
                              }};
  const Observation seen = Seen({.wanted = unread});
  EXPECT_TRUE(seen.names_goal);
  EXPECT_FALSE(seen.to);
}

TEST_F(ObservationTest, HasTheIgnoredThingsAlsoAfterTheirTime) {
  const WallTime past = machine_.host().clock.Wall() - std::chrono::hours(1);
  ASSERT_TRUE(Succeeded(change::KeepIgnored(machine_.host().root, {{"/etc/motd", past}})));
  EXPECT_THAT(Seen().ignored, SizeIs(1));
}

TEST_F(ObservationTest, AConfigOnTheDiskIsNotReplacedByTheAssumedOne) {
  const Observation seen = Seen({.assumed = ProvidedConfigOf(Config("rendered-worker-2", "data:,two"))});
  EXPECT_EQ(GoalOf(seen.current).config, "rendered-worker-1");
  EXPECT_TRUE(seen.is_on_disk);
  EXPECT_FALSE(seen.is_assumed);
}

TEST_F(ObservationTest, AMachineWithoutAConfigHasTheAssumedOne) {
  ASSERT_TRUE(Succeeded(machine_.host().root.Remove(change::kCurrentConfig)));
  const Observation seen = Seen({.assumed = ProvidedConfigOf(Config("rendered-worker-2", "data:,two"))});
  EXPECT_EQ(GoalOf(seen.current).config, "rendered-worker-2");
  EXPECT_FALSE(seen.is_on_disk);
  EXPECT_TRUE(seen.is_assumed);
  EXPECT_EQ(GoalOf(Seen().current).config, "mco-empty-mc");
}

TEST_F(ObservationTest, TheEmptyConfigOfAFirstBootIsReplacedByTheAssumedOne) {
  plan::TestConfig bare;
  bare.spec().config = ignition::Encode(bare.ignition());
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(Config("rendered-worker-1", "data:,one"), bare)));
  machine_.Write("proc/sys/kernel/random/boot_id", "a third\n");
  ASSERT_TRUE(Succeeded(change::Recover(machine_.host(), {})));
  const SurveyRequest request{.assumed = ProvidedConfigOf(Config("rendered-worker-2", "data:,two"))};
  EXPECT_TRUE(Seen(request).is_on_disk);
  machine_.Write(std::string(kInitialAnnotations).substr(1), "{}");
  EXPECT_TRUE(Seen(request).is_assumed);
  EXPECT_TRUE(Seen(request).is_new);
  EXPECT_FALSE(ValueOf(CurrentGoal(machine_.host().root)));
}

}  // namespace
}  // namespace pintle::agent
