// SPDX-License-Identifier: Apache-2.0
#include "agent/survey.h"

#include "change/journal.h"
#include "ignition/config.h"
#include "unit/change/small_machine.h"
#include "unit/temporary_directory.h"

namespace pintle::agent {
namespace {

using change::Everything;
using change::NoConfig;
using change::Phase;
using testing::HasSubstr;

class Look : public testing::Test {
 protected:
  Outlook Now() const { return ValueOf(LookAt(machine_.host(), {})).outlook; }

  TemporaryDirectory directory_;
  mutable change::SmallMachine machine_{directory_.path()};
};

TEST_F(Look, SeesNothingThereWhileTheJournalHasAChangeThatWasCutShort) {
  machine_.policy = {};
  plan::TestConfig config = Everything();
  config.spec().config = ignition::Encode(config.ignition());
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config)));
  const change::Journal journal(machine_.host().root);
  change::Change change = *ValueOf(journal.Read());
  for (const Phase phase : {Phase::kApplying, Phase::kUndoing}) {
    change.phase = phase;
    ASSERT_TRUE(Succeeded(journal.Write(change)));
    // All files are as the new config says.
    EXPECT_FALSE(Now().is_there);
    EXPECT_TRUE(Now().is_cut_short);
  }
  ASSERT_TRUE(Succeeded(journal.Close()));
  EXPECT_TRUE(Now().is_there);
}

TEST_F(Look, LeavesAChangeThatWaitsForARebootToWhoeverMadeIt) {
  machine_.policy = {};
  ASSERT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), Everything())));
  EXPECT_FALSE(Now().is_there);
  EXPECT_FALSE(Now().is_cut_short);
  EXPECT_THAT(Now().waits, HasSubstr("pintle recover --give-up"));
  machine_.Write("proc/sys/kernel/random/boot_id", "another\n");
  EXPECT_TRUE(Now().is_cut_short);
}

}  // namespace
}  // namespace pintle::agent
