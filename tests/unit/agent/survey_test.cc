// SPDX-License-Identifier: Apache-2.0
#include "agent/survey.h"

#include "change/journal.h"
#include "ignition/config.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using change::Everything;
using change::NoConfig;
using testing::HasSubstr;

class Look : public testing::Test {
 protected:
  Outlook Now() const { return ValueOf(LookAt(machine_.host(), {})).outlook; }

  TemporaryDirectory directory_;
  mutable change::SmallMachine machine_{directory_.path()};
};

TEST_F(Look, EndsEarlyIfTheJournalHasAChangeThatWasCutShort) {
  machine_.policy = {};
  plan::TestConfig config = Everything();
  config.spec().config = ignition::Encode(config.ignition());
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config)));
  const change::Journal journal(machine_.host().root);
  change::Change change = *ValueOf(journal.Read());
  for (const change::Phase phase : {change::Phase::kApplying, change::Phase::kUndoing}) {
    change.phase = phase;
    ASSERT_TRUE(Succeeded(journal.Write(change)));
    // All files are as the new config wants them.
    EXPECT_FALSE(Now().is_there);
    EXPECT_TRUE(Now().is_cut_short);
  }
  ASSERT_TRUE(Succeeded(journal.Close()));
  EXPECT_TRUE(Now().is_there);
}

TEST_F(Look, LeavesAChangeAloneThatWaitsForAReboot) {
  machine_.policy = {};
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Everything())));
  EXPECT_FALSE(Now().is_there);
  EXPECT_FALSE(Now().is_cut_short);
  EXPECT_THAT(Now().waits, HasSubstr("pintle recover --give-up"));
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  EXPECT_TRUE(Now().is_cut_short);
}

TEST_F(Look, CountsAnIgnoredThingIfTheWantedConfigChangesIt) {
  const auto with = [](const char* source) {
    plan::TestConfig config;
    config.WithFile("/etc/motd", source);
    config.spec().config = ignition::Encode(config.ignition());
    return config;
  };
  machine_.policy = {};
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), with("data:,one"))));
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  ASSERT_TRUE(Succeeded(change::Recover(machine_.host(), {})));
  machine_.Write("etc/motd", "mine");
  const host::Host host = machine_.host();
  ASSERT_TRUE(Succeeded(change::KeepIgnored(host.root, {{"/etc/motd", host.clock.Wall() + std::chrono::hours(24)}})));
  EXPECT_TRUE(Now().is_there);
  plan::TestConfig other = with("data:,two");
  other.metadata().name = "rendered-worker-2";
  const plan::ParsedConfig parsed = other;
  const change::CurrentConfig to{.object = parsed.object, .ignition = parsed.ignition, .writers = {}};
  const auto read = [&]() -> Result<change::CurrentConfig> { return to; };
  const auto survey = ValueOf(LookAt(host, {.wanted = Target{GoalOf(to), read}}));
  EXPECT_EQ(survey.findings, 1u);
  EXPECT_THAT(survey.outlook.drift, HasSubstr("/etc/motd is ignored, but rendered-worker-2 wants it otherwise: "
                                              "`pintle restore /etc/motd` puts it back first"));
}

}  // namespace
}  // namespace pintle::agent
