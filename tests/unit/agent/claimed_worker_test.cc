// SPDX-License-Identifier: Apache-2.0
#include "agent/claimed_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "change/claim.h"
#include "event/loop.h"
#include "event/watches.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"

namespace pintle::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UnusedPower final : public host::Power {
 public:
  Result<> Reboot(const std::string&) override { return Error(ErrorKind::kUnavailable, "nothing reboots"); }
  Result<host::Inhibitor> InhibitShutdown(const std::string&) override { return host::Inhibitor(); }
};

class ClaimedWorkerTest : public testing::Test {
 protected:
  // Gives the worker a job, which finds out whether the claim is held.  At its end, the loop stops.
  void Give(const std::string& name) {
    worker_->RunWithClaim<bool>([](const host::ThisMachine& machine) { return change::Claim::IsHeld(machine.root()); },
                                [this, name](const Result<bool>& is_held) {
                                  EXPECT_TRUE(is_held && *is_held);
                                  ended_.push_back(name);
                                  loop_->Stop();
                                });
  }

  // Runs the loop until a job waits for the claim.
  void RunUntilAJobWaits() {
    constexpr auto kRound = std::chrono::milliseconds(1);
    event::Timer round(
        *loop_, [&] { worker_->waits_for_claim() ? loop_->Stop() : round.After(kRound); }, kRound);
    round.After(kRound);
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  TemporaryDirectory directory_;
  const Root root_ = ValueOf(Root::Open(directory_.path().string()));
  const std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  const std::unique_ptr<ClaimedWorker> worker_ = ValueOf(ClaimedWorker::Create(
      *loop_, std::make_shared<host::ThisMachine>(ValueOf(Root::Open(directory_.path().string())),
                                                  std::make_unique<change::RecordingSystemd>(root_),
                                                  std::make_unique<UnusedPower>(), nullptr, host::Labels())));
  std::vector<std::string> ended_;
};

TEST_F(ClaimedWorkerTest, HoldsTheClaimOnlyDuringTheJob) {
  Give("first");
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(ended_, ElementsAre("first"));
  EXPECT_FALSE(ValueOf(change::Claim::IsHeld(root_)));
}

TEST_F(ClaimedWorkerTest, WaitsUntilSomeoneElseReleasesTheClaim) {
  std::optional<change::Claim> claim = ValueOf(change::Claim::Take(root_));
  Give("first");
  RunUntilAJobWaits();
  EXPECT_THAT(ended_, IsEmpty());
  claim.reset();
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(ended_, ElementsAre("first"));
  EXPECT_FALSE(worker_->waits_for_claim());
}

TEST_F(ClaimedWorkerTest, DropsAWaitingJobWhenItGetsAnotherJob) {
  std::optional<change::Claim> claim = ValueOf(change::Claim::Take(root_));
  Give("first");
  RunUntilAJobWaits();
  Give("second");
  RunUntilAJobWaits();
  claim.reset();
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(ended_, ElementsAre("second"));
  EXPECT_FALSE(worker_->waits_for_claim());
}

TEST_F(ClaimedWorkerTest, RunsAJobWithoutTheClaimWhileSomeoneElseHoldsIt) {
  const change::Claim claim = ValueOf(change::Claim::Take(root_));
  bool has_run = false;
  worker_->Run<bool>([](const host::ThisMachine&, const std::stop_token&) { return true; },
                     [&](bool done) {
                       has_run = done;
                       loop_->Stop();
                     });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace pintle::agent
