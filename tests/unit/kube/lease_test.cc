// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>

#include "base/clock.h"
#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/scripted_server.h"

namespace pintle::kube {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;

Answer Refusal(int code, const std::string& reason, const std::string& message) {
  return {.status = code,
          .body = fmt::format(R"({{"kind":"Status","code":{},"reason":"{}","message":"{}"}})", code, reason, message)};
}

class LeaseTest : public testing::Test {
 protected:
  LeaseTest() { ::setenv("no_proxy", "*", 1); }

  // Competes until the lease has been read `reads` times.
  void Compete(int reads) {
    ScriptedServer server({}, [this](const ReceivedRequest& request) { return AnswerTo(request); });
    Client client = ValueOf(Client::Create(*loop_, server.access()));
    const Lease lease(
        client, {.name = {"namespace", "name"}, .identity = "me", .times = {.retry = milliseconds(1)}},
        {.won = [] {}, .lost = [] {}, .trouble = [this](const Error& error) { troubles_.push_back(error.message()); }});
    event::Timer check_again(
        *loop_,
        [&] {
          if (reads_ >= reads) return loop_->Stop();
          check_again.After(milliseconds(1));
        },
        milliseconds(1));
    check_again.After(milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  Answer AnswerTo(const ReceivedRequest& request) {
    if (!request.line.starts_with("GET")) return refusal_;
    const int number = ++reads_;
    if (number == 1 || !is_taken_afterwards_) return Refusal(404, "NotFound", "no such lease");
    return {.body =
                R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"other","leaseDurationSeconds":9}})"};
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  Answer refusal_;
  bool is_taken_afterwards_ = false;
  std::atomic<int> reads_ = 0;
  std::vector<std::string> troubles_;
};

TEST_F(LeaseTest, ReportsWhyItCannotBeCreated) {
  refusal_ = Refusal(409, "Conflict", "not today");
  Compete(4);
  EXPECT_THAT(troubles_, testing::Not(IsEmpty()));
  for (const std::string& trouble : troubles_) EXPECT_THAT(trouble, HasSubstr("not today"));
}

TEST_F(LeaseTest, DoesNotReportALostRace) {
  refusal_ = Refusal(409, "AlreadyExists", "already there");
  is_taken_afterwards_ = true;
  Compete(4);
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(LeaseTest, ReportsWhoElseHoldsIt) {
  const std::string lease_of_other =
      R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"other","leaseDurationSeconds":900}})";
  ScriptedServer server({}, [&](const ReceivedRequest&) -> Answer { return {.body = lease_of_other}; });
  Client client = ValueOf(Client::Create(*loop_, server.access()));
  std::string holder;
  const Lease* known = nullptr;
  const Lease lease(client, {.name = {"namespace", "name"}, .identity = "me", .times = {.retry = milliseconds(1)}},
                    {.won = [] {},
                     .lost = [] {},
                     .holder_changed =
                         [&] {
                           holder = known->OtherHolder();
                           loop_->Stop();
                         }});
  known = &lease;
  EXPECT_EQ(lease.OtherHolder(), "");
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(holder, "other");
}

// Answers as a server on which the lease is ours, and that refuses the first writes of its release.
class ReleaseTest : public LeaseTest {
 protected:
  Result<> Release(int refused_writes) {
    const std::string held = R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"me"}})";
    ScriptedServer server({}, [&](const ReceivedRequest& request) -> Answer {
      if (request.line.starts_with("GET")) {
        return ++reads_ == 1 ? Refusal(404, "NotFound", "no such lease") : Answer{.body = held};
      }
      if (request.line.starts_with("PATCH") && ++writes_ <= refused_writes) {
        return Refusal(409, "Conflict", "the object has been modified");
      }
      return {.body = held};
    });
    Client client = ValueOf(Client::Create(*loop_, server.access()));
    Result<> released;
    Lease* held_lease = nullptr;
    Lease lease(client, {.name = {"namespace", "name"}, .identity = "me"},
                {.won =
                     [&] {
                       held_lease->Release([&](Result<> outcome) {
                         released = std::move(outcome);
                         loop_->Stop();
                       });
                     },
                 .lost = [] {}});
    held_lease = &lease;
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return released;
  }

  std::atomic<int> writes_ = 0;
};

TEST_F(ReleaseTest, IsRepeatedAfterARenewalThatTookEffectMeanwhile) {
  EXPECT_TRUE(Succeeded(Release(1)));
  EXPECT_EQ(writes_, 2);
}

TEST_F(ReleaseTest, EndsWithTheConflictIfEachWriteIsRefused) {
  EXPECT_THAT(MessageOf(Release(1000)), HasSubstr("the object has been modified"));
  EXPECT_EQ(writes_, 3);
}

TEST_F(LeaseTest, IsReportedAsLostBeforeOtherWorkIfTheProgramWasStopped) {
  const std::string made = R"({"metadata":{"resourceVersion":"7"}})";
  ScriptedServer server({}, [&](const ReceivedRequest& request) -> Answer {
    return request.line.starts_with("GET") ? Refusal(404, "NotFound", "no such lease") : Answer{.body = made};
  });
  Client client = ValueOf(Client::Create(*loop_, server.access()));
  const LeaseTimes times = {.renew_deadline = std::chrono::seconds(2), .retry = std::chrono::hours(1)};
  bool is_lost = false;
  int done_before = 0;
  std::vector<std::unique_ptr<event::Timer>> work;
  for (int i = 0; i < 20; ++i) {
    work.push_back(std::make_unique<event::Timer>(*loop_, [&] { done_before += is_lost ? 0 : 1; }));
  }
  const SystemClock clock;
  const Lease lease(client, {.name = {"namespace", "name"}, .identity = "me", .times = times},
                    {.won =
                         [&] {
                           const MonotonicTime end = clock.Monotonic() + times.renew_deadline;
                           for (const auto& timer : work) timer->At(end - std::chrono::seconds(1));
                           while (clock.Monotonic() < end + milliseconds(300)) continue;
                         },
                     .lost =
                         [&] {
                           is_lost = true;
                           loop_->Stop();
                         }});
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(done_before, 0);
}

}  // namespace
}  // namespace pintle::kube
