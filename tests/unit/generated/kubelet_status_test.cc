// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_status.h"

#include <gtest/gtest.h>

#include "json/fields.h"
#include "json/parse.h"
#include "unit/generated/kubelet_fixture.h"
#include "unit/generated/status_times.h"

namespace pintle::generated {
namespace {

api::KubeletConfig After(api::KubeletConfig object, const KubeletOutcome& outcome) {
  if (auto status = StatusAfter(object, outcome, kNow)) object.status = *std::move(status);
  return object;
}

KubeletOutcome Refusal(const char* message) { return Refused(Error(ErrorKind::kInvalid, message)); }

std::string History(const api::KubeletConfig& object) {
  std::string history;
  for (const auto& c : object.status.conditions) history += c.type + "=" + c.status + ":" + c.message + "\n";
  return history;
}

TEST(StatusAfter, HasTheOutcomeAndAConditionForOlderTools) {
  const api::KubeletConfig object = After(Kubelet("{}"), Accepted());
  EXPECT_EQ(json::ToText(json::Encode(object.status)),
            R"({"conditions":[{"lastTransitionTime":"2027-01-15T08:00:00Z","message":"Success","status":"True",)"
            R"("type":"Accepted"},{"lastTransitionTime":"2027-01-15T08:00:00Z","message":"Success","status":"True",)"
            R"("type":"Success"}],"observedGeneration":1})");
  EXPECT_EQ(History(After(Kubelet("{}"), Refusal("bad"))), "Accepted=False:Error: bad\nFailure=True:Error: bad\n");
}

TEST(StatusAfter, KeepsThreeOutcomes) {
  api::KubeletConfig object = Kubelet("{}");
  for (const char* message : {"a", "b", "c", "d"}) object = After(object, Refusal(message));
  EXPECT_EQ(History(object),
            "Accepted=False:Error: b\nAccepted=False:Error: c\nAccepted=False:Error: d\nFailure=True:Error: d\n");
  object = After(object, Accepted());
  EXPECT_EQ(History(object),
            "Accepted=False:Error: c\nAccepted=False:Error: d\nAccepted=True:Success\nSuccess=True:Success\n");
}

TEST(StatusAfter, IsNulloptIfOnlyTheTimeWouldChange) {
  api::KubeletConfig object = After(Kubelet("{}"), Accepted());
  EXPECT_EQ(StatusAfter(object, Accepted(), kNow + std::chrono::hours(1)), std::nullopt);
  object.metadata.generation = 2;
  const auto status = StatusAfter(object, Accepted(), kNow + std::chrono::hours(1));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->observed_generation, 2);
  EXPECT_EQ(status->conditions.size(), 2u);
  EXPECT_EQ(status->conditions[0].last_transition_time->at, kNow + std::chrono::hours(1));
}

TEST(KubeletOutcome, NamesTheWorkThatHasFailed) {
  const Error error(ErrorKind::kInvalid, "x");
  EXPECT_EQ(OutcomeWithoutName(error).message, "could not get kubelet config key: x");
  EXPECT_EQ(OutcomeWithoutBase(error).message, "could not get original kubelet config: x");
  EXPECT_FALSE(OutcomeWithoutName(error).is_accepted);
}

}  // namespace
}  // namespace pintle::generated
