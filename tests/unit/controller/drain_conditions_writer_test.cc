// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_conditions_writer.h"

#include <gmock/gmock.h>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"
#include "unit/kube/arrivals.h"
#include "unit/kube/bad_answers.h"

namespace pintle::controller {
namespace {

using kube::Answer;
using kube::BadAnswer;
using kube::ReceivedRequest;

const std::string kWrite = "PATCH /apis/machineconfiguration.openshift.io/v1/machineconfignodes/a/status";

class DrainConditionsWriterTest : public testing::TestWithParam<BadAnswer> {
 protected:
  DrainConditionsWriterTest() {
    ::setenv("no_proxy", "*", 1);
    for (const char* name : {"a", "b"}) {
      server_.Put("machineconfignodes", {{"metadata", {{"name", name}}}, {"spec", {{"node", {{"name", name}}}}}});
    }
  }

  void RunUntil(const std::function<bool()>& is_so) {
    event::Timer look(
        *loop_,
        [&] {
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(1));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  bool HasCondition(const std::string& node, const std::string& type, const std::string& status) {
    const json::Value object = server_.Find("machineconfignodes", node);
    const json::Value& conditions = object["status"]["conditions"];
    return std::any_of(conditions.begin(), conditions.end(), [&](const json::Value& condition) {
      return condition["type"] == type && condition["status"] == status;
    });
  }

  SmallApiServer server_;
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  DrainConditionsWriter writer_{ValueOf(kube::Client::Create(*loop_, server_.access())), clock_, kube::kDoubling};
};

TEST_P(DrainConditionsWriterTest, RetriesSeldomAndDelaysNeitherCallersNorOtherNodes) {
  kube::Arrivals arrivals;
  server_.Refuse([&](const ReceivedRequest& request) -> std::optional<Answer> {
    if (!request.line.starts_with(kWrite)) return std::nullopt;
    arrivals.Note();
    return GetParam().answer;
  });
  const std::size_t enough = GetParam().asks_for_a_second ? 2 : kube::kEnough;
  // Each write changes the message; otherwise it would not be sent.
  const auto write_condition = [&] {
    for (std::size_t i = 0; i <= enough; ++i) writer_.Write("a", drain_moment::CordonFailed(std::to_string(i), true));
  };
  write_condition();
  bool is_called = false;
  writer_.WhenWritten("a", [&] { is_called = true; });
  writer_.Write("b", drain_moment::Cordoned());
  RunUntil([&] { return arrivals.count() >= enough && HasCondition("b", "Cordoned", "True"); });
  EXPECT_TRUE(is_called);
  GetParam().asks_for_a_second ? arrivals.MustDouble(std::chrono::milliseconds(1000)) : arrivals.MustDouble();
  server_.Refuse({});
  writer_.Write("a", drain_moment::Cordoned());
  RunUntil([&] { return HasCondition("a", "Cordoned", "True"); });
  EXPECT_LE(kube::RequestsInAMinute(DrainConditionsWriter::kRetryBackoff), kube::kMostInAMinute);
}

INSTANTIATE_TEST_SUITE_P(Each, DrainConditionsWriterTest, testing::ValuesIn(kube::BadAnswers()),
                         [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace pintle::controller
