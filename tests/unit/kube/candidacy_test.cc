// SPDX-License-Identifier: Apache-2.0
#include "kube/candidacy.h"

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::kube {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr LeaseTimes kTimes = {.duration = seconds(15), .renew_deadline = seconds(10), .retry = seconds(2)};

// A stored lease, a clock, and candidates whose wall clocks may be wrong by any amount.
class CandidacyTest : public testing::Test {
 protected:
  // Reads and writes as a candidate does, with no other candidate in between.
  bool Compete(Candidacy& candidate, std::chrono::seconds clock_ahead_by = {}) {
    const auto wanted = candidate.Decide(stored_, now_, WallTime(now_.time_since_epoch() + clock_ahead_by));
    if (!wanted) return false;
    stored_ = *wanted;
    candidate.Wrote(now_);
    return true;
  }

  MonotonicTime now_ = MonotonicTime(hours(1));
  std::optional<api::LeaseSpec> stored_;
  Candidacy a_ = Candidacy("a", kTimes);
  Candidacy b_ = Candidacy("b", kTimes);
};

TEST_F(CandidacyTest, CreatesAMissingLease) {
  EXPECT_TRUE(Compete(a_));
  EXPECT_EQ(stored_->holder_identity, "a");
  EXPECT_EQ(stored_->lease_duration_seconds, 15);
  EXPECT_EQ(stored_->lease_transitions, 0);
  EXPECT_TRUE(a_.IsLeader(now_));
}

TEST_F(CandidacyTest, LeavesALeaseThatIsRenewed) {
  Compete(a_);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(Compete(b_));
    now_ += seconds(2);
    EXPECT_TRUE(Compete(a_));
  }
  EXPECT_EQ(stored_->lease_transitions, 0);
  EXPECT_EQ(stored_->acquire_time->at, WallTime(hours(1)));
  EXPECT_FALSE(b_.IsLeader(now_));
}

TEST_F(CandidacyTest, TakesALeaseThatIsOfferedToItAtOnce) {
  Candidacy offered("c", kTimes, "offer");
  stored_.emplace();
  stored_->holder_identity = "offer";
  stored_->lease_duration_seconds = 15;
  EXPECT_FALSE(Compete(b_)) << "others do not know the offer";
  EXPECT_TRUE(Compete(offered));
  EXPECT_EQ(stored_->holder_identity, "c");
  EXPECT_TRUE(offered.IsLeader(now_));
}

TEST_F(CandidacyTest, LeavesALeaseWithAnUnknownHolderThatIsRenewed) {
  stored_.emplace();
  stored_->holder_identity = "offer";
  stored_->lease_duration_seconds = 15;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(Compete(b_));
    now_ += seconds(2);
    stored_->renew_time = api::MicroTime{WallTime(now_.time_since_epoch())};
  }
}

TEST_F(CandidacyTest, TakesOverALeaseThatWasUnchangedForItsDuration) {
  Compete(a_);
  now_ += seconds(100);
  EXPECT_FALSE(Compete(b_)) << "b has only just seen the lease";
  now_ += seconds(14);
  EXPECT_FALSE(Compete(b_));
  now_ += seconds(1);
  EXPECT_TRUE(Compete(b_));
  EXPECT_EQ(stored_->holder_identity, "b");
  EXPECT_EQ(stored_->lease_transitions, 1);
}

TEST_F(CandidacyTest, UsesTheDurationInTheHoldersLease) {
  Candidacy slow("slow", {.duration = seconds(60), .renew_deadline = seconds(40), .retry = seconds(5)});
  Compete(slow);
  Compete(b_);
  now_ += seconds(59);
  EXPECT_FALSE(Compete(b_));
  now_ += seconds(1);
  EXPECT_TRUE(Compete(b_));
}

TEST_F(CandidacyTest, DoesNotDependOnWrongWallClocks) {
  for (const auto fast : {seconds(hours(1000)), seconds(-hours(1000))}) {
    stored_.reset();
    Compete(a_, fast);
    EXPECT_FALSE(Compete(b_));
    now_ += seconds(15);
    EXPECT_TRUE(Compete(b_));
  }
}

TEST_F(CandidacyTest, StopsLeadingBeforeAnyoneMayTakeOver) {
  Compete(a_);
  Compete(b_);
  EXPECT_EQ(a_.LeaderUntil(), now_ + seconds(10));
  now_ += seconds(10);
  EXPECT_FALSE(a_.IsLeader(now_));
  EXPECT_FALSE(Compete(b_));
}

TEST_F(CandidacyTest, ReportsThatAnotherHasTheLease) {
  Compete(a_);
  stored_->holder_identity = "b";
  EXPECT_FALSE(Compete(a_));
  EXPECT_FALSE(a_.IsLeader(now_));
  EXPECT_FALSE(a_.LeaderUntil());
}

TEST_F(CandidacyTest, KnowsWhoElseHoldsTheLease) {
  Compete(a_);
  Compete(b_);
  EXPECT_EQ(a_.OtherHolder(now_), "");
  EXPECT_EQ(b_.OtherHolder(now_), "a");
  now_ += seconds(15);
  EXPECT_EQ(b_.OtherHolder(now_), "") << "a no longer acts";
  EXPECT_TRUE(Compete(b_));
  EXPECT_EQ(b_.OtherHolder(now_), "");
  EXPECT_FALSE(Compete(a_));
  EXPECT_EQ(a_.OtherHolder(now_), "b");
  stored_.reset();
  EXPECT_TRUE(Compete(a_));
  EXPECT_EQ(a_.OtherHolder(now_), "") << "the lease was deleted";
}

TEST_F(CandidacyTest, TakesAReleasedLeaseAtOnce) {
  Compete(a_);
  stored_ = a_.Release(WallTime());
  EXPECT_TRUE(Compete(b_));
  EXPECT_EQ(stored_->lease_transitions, 1);
}

TEST_F(CandidacyTest, ContinuesItsOwnLease) {
  Compete(a_);
  Candidacy again("a", kTimes);
  EXPECT_TRUE(Compete(again));
  EXPECT_EQ(stored_->lease_transitions, 0);
}

TEST(LeaseText, HasTimesInTheApiServersFormat) {
  api::LeaseSpec spec;
  spec.holder_identity = "a";
  spec.renew_time = api::MicroTime{ValueOf(FromRfc3339("2026-11-21T05:41:43.000007Z"))};
  const std::string text = json::ToText(json::Encode(spec));
  EXPECT_EQ(text, R"({"acquireTime":null,"holderIdentity":"a","leaseDurationSeconds":0,"leaseTransitions":0,)"
                  R"("renewTime":"2026-11-21T05:41:43.000007Z"})");
  json::Report report;
  EXPECT_TRUE(json::Equal(json::Decode<api::LeaseSpec>(ValueOf(json::Parse(text)), report), spec));
}

}  // namespace
}  // namespace pintle::kube
