// SPDX-License-Identifier: Apache-2.0
#include "agent/state_words.h"

#include <gtest/gtest.h>

#include <string_view>

namespace pintle::agent {
namespace {

using host::AgentPhase;

struct WordsRow {
  Phase phase;
  AgentPhase shown_as;
  std::string_view doing;
  std::string_view next;
};

TEST(StateWords, EachPhaseHasItsOwnWords) {
  const WordsRow rows[] = {
      {phase::Recovering{}, AgentPhase::kStarting, "ending a change that a crash or a reboot has interrupted", ""},
      {phase::Recovering{.is_going_back = true}, AgentPhase::kUndoing,
       "ending a change that a crash or a reboot has interrupted", ""},
      {phase::Waiting{}, AgentPhase::kStarting, "waiting for a config", ""},
      {phase::Checking{}, AgentPhase::kChecking, "comparing this machine with its config", ""},
      {phase::Draining{}, AgentPhase::kDraining, "waiting for its pods to go", "the change, once the pods are gone"},
      {phase::Changing{}, AgentPhase::kChanging, "changing this machine", ""},
      {phase::Rebooting{}, AgentPhase::kRebooting, "rebooting", "a check of the whole machine"},
      {phase::Confirming{}, AgentPhase::kConfirming, "checking its health after the reboot",
       "the change is completed or undone"},
      {phase::Settled{}, AgentPhase::kSettled, "", ""},
      {phase::Degraded{}, AgentPhase::kDegraded, "", ""},
  };
  for (const WordsRow& row : rows) {
    EXPECT_EQ(PublishedPhase({row.phase}, false), row.shown_as) << NameOf(row.phase);
    EXPECT_EQ(DoingIn(row.phase), row.doing) << NameOf(row.phase);
    EXPECT_EQ(NextAfter(row.phase), row.next) << NameOf(row.phase);
  }
}

TEST(StateWords, AnAgentWithNothingToChangeIsPublishedAsPausedOrDegraded) {
  for (const Phase& phase : {Phase(phase::Settled{}), Phase(phase::Waiting{}), Phase(phase::Checking{})}) {
    EXPECT_EQ(PublishedPhase({phase}, true), AgentPhase::kPaused) << NameOf(phase);
  }
  EXPECT_EQ(PublishedPhase({phase::Changing{}}, true), AgentPhase::kChanging);
  EXPECT_EQ(PublishedPhase({.phase = phase::Settled{}, .why_unusable = "a file is broken"}, false),
            AgentPhase::kDegraded);
  EXPECT_EQ(PublishedPhase({.phase = phase::Checking{}, .why_unusable = "a file is broken"}, false),
            AgentPhase::kChecking);
}

}  // namespace
}  // namespace pintle::agent
