// SPDX-License-Identifier: Apache-2.0
#include "agent/look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/clock.h"
#include "change/journal.h"
#include "change/kept_policy.h"
#include "ignition/config.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using change::Everything;
using change::NoConfig;
using testing::HasSubstr;

// A clock that is a minute ahead: files are recorded only if they have not changed for a while.
class LaterClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return MonotonicTime::clock::now(); }
  WallTime Wall() const override { return WallTime::clock::now() + std::chrono::minutes(1); }
};

class Look : public testing::Test {
 protected:
  // Looks at the machine without a request for another config.
  Outlook OutlookNow() const {
    const auto current = ValueOf(CurrentGoal(machine_.host().root));
    return ValueOf(LookAt(machine_.host(), {}, current.value_or(Goal{"mco-empty-mc"}))).outlook;
  }

  // Gives the machine a config with one file.
  void HaveMotd(const char* source) {
    machine_.policy = {};
    ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), WithMotd(source))));
    machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
    ASSERT_TRUE(Succeeded(change::Recover(machine_.host(), {})));
  }

  // Returns the config with its Ignition config also as the text that is stored on the disk.
  static plan::TestConfig Storable(plan::TestConfig config) {
    config.spec().config = ignition::Encode(config.ignition());
    return config;
  }

  static plan::TestConfig WithMotd(const char* source) {
    plan::TestConfig config;
    config.WithFile("/etc/motd", source);
    return Storable(std::move(config));
  }

  // A source's request for another config, and for a policy by which no change of a file needs a reboot.
  static SurveyRequest RequestFor(const plan::ParsedConfig& config) {
    change::CurrentConfig to{.object = config.object, .ignition = config.ignition, .writers = {}};
    to.object.metadata.name = "rendered-worker-2";
    SurveyRequest request{.wanted = ProvidedConfig{GoalOf(to), [to]() -> Result<change::CurrentConfig> { return to; }}};
    request.policy.files = {{.path = "/etc", .actions = {{.type = "None", .reload = {}, .restart = {}}}}};
    return request;
  }

  bool HasPolicy() const { return machine_.Has("var/lib/pintle/policy.json"); }

  TemporaryDirectory directory_;
  mutable change::SmallMachine machine_{directory_.path()};
};

TEST_F(Look, DoesNotFindTheConfigInEffectWhileTheJournalHasAChangeThatWasCutShort) {
  machine_.policy = {};
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Storable(Everything()))));
  const change::Journal journal(machine_.host().root);
  change::Change change = *ValueOf(journal.Read());
  for (const change::Phase phase : {change::Phase::kApplying, change::Phase::kUndoing}) {
    change.phase = phase;
    ASSERT_TRUE(Succeeded(journal.Write(change)));
    // All files are as in the new config.
    EXPECT_FALSE(OutlookNow().has_goal);
    EXPECT_TRUE(OutlookNow().is_cut_short);
  }
  ASSERT_TRUE(Succeeded(journal.Close()));
  EXPECT_TRUE(OutlookNow().has_goal);
}

TEST_F(Look, LeavesAChangeThatWaitsForARebootAlone) {
  machine_.policy = {};
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Storable(Everything()))));
  EXPECT_FALSE(OutlookNow().has_goal);
  EXPECT_FALSE(OutlookNow().is_cut_short);
  EXPECT_THAT(OutlookNow().waits, HasSubstr("pintle recover --give-up"));
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  EXPECT_TRUE(OutlookNow().is_cut_short);
}

TEST_F(Look, CountsAnIgnoredFindingIfTheWantedConfigChangesTheThing) {
  HaveMotd("data:,one");
  machine_.Write("etc/motd", "mine");
  const host::Host host = machine_.host();
  ASSERT_TRUE(Succeeded(change::KeepIgnored(host.root, {{"/etc/motd", host.clock.Wall() + std::chrono::hours(24)}})));
  EXPECT_TRUE(OutlookNow().has_goal);
  const SurveyRequest request = RequestFor(WithMotd("data:,two"));
  const auto survey = ValueOf(LookAt(host, request, request.wanted->goal));
  EXPECT_EQ(survey.findings, 1u);
  EXPECT_THAT(survey.outlook.drift, HasSubstr("/etc/motd is ignored, but rendered-worker-2 changes it: "
                                              "`pintle restore /etc/motd` puts it back first"));
  EXPECT_FALSE(HasPolicy());
}

TEST_F(Look, StoresThePolicyThatAChangeIsPlannedBy) {
  HaveMotd("data:,one");
  EXPECT_TRUE(OutlookNow().has_goal);
  EXPECT_FALSE(HasPolicy());
  const SurveyRequest request = RequestFor(WithMotd("data:,two"));
  EXPECT_TRUE(ValueOf(LookAt(machine_.host(), request, request.wanted->goal)).prepared);
  EXPECT_EQ(ValueOf(change::ReadKeptPolicy(machine_.host().root)).files.front().path, "/etc");
}

TEST_F(Look, StoresThePolicyAlsoIfTheChangeCannotBePlanned) {
  HaveMotd("data:,one");
  const SurveyRequest request = RequestFor(WithMotd("data:,two").WithUnit("a/b.service", "[Service]\n"));
  EXPECT_THAT(MessageOf(LookAt(machine_.host(), request, request.wanted->goal)), HasSubstr("a/b.service"));
  EXPECT_TRUE(HasPolicy());
}

TEST_F(Look, RemembersTheFilesThatItHasRead) {
  HaveMotd("data:,one");
  const host::Host host = machine_.host();
  const LaterClock later;
  EXPECT_FALSE(machine_.Has("run/pintle/seen-files"));
  const Survey survey = ValueOf(LookAt({host.root, host.systemd, later, {}}, {}, Goal{"rendered-worker-1"}));
  EXPECT_TRUE(survey.outlook.has_goal);
  EXPECT_TRUE(machine_.Has("run/pintle/seen-files"));
}

}  // namespace
}  // namespace pintle::agent
