// SPDX-License-Identifier: Apache-2.0
#include "agent/node_writer.h"

#include <gmock/gmock.h>

#include <atomic>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/arrivals.h"
#include "unit/kube/bad_answers.h"

namespace pintle::agent {
namespace {

using kube::Answer;
using kube::BadAnswer;
using kube::ReceivedRequest;
using testing::Each;
using testing::HasSubstr;

class NodeWriterTest : public testing::TestWithParam<BadAnswer> {
 protected:
  NodeWriterTest() { ::setenv("no_proxy", "*", 1); }

  Answer AnswerTo(const ReceivedRequest& request) {
    if (is_bad_) {
      arrivals_.Note();
      return GetParam().answer;
    }
    const std::lock_guard lock(mutex_);
    written_.push_back(request.body);
    return {.body = R"({"metadata":{"name":"a"},"spec":{}})"};
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::atomic<bool> is_bad_ = true;
  kube::Arrivals arrivals_;
  std::mutex mutex_;
  std::vector<std::string> written_;
};

TEST_P(NodeWriterTest, RetriesLessAndLessOftenAndReportsTheError) {
  kube::ScriptedServer server({}, [this](const ReceivedRequest& request) { return AnswerTo(request); });
  std::vector<std::string> troubles;
  const std::size_t enough = GetParam().asks_for_a_second ? 2 : kube::kEnough;
  NodeWriter writer(*loop_, ValueOf(kube::Client::Create(*loop_, server.access())), "a",
                    {.wrote = [](const api::Node&) {},
                     .trouble =
                         [&](const Error& error) {
                           troubles.push_back(error.message());
                           if (troubles.size() == enough) is_bad_ = false;
                         }},
                    kube::kDoubling);
  writer.Write({{"state", "Working"}});
  writer.Write({{"reason", "why"}});
  bool is_written = false;
  writer.Write({{"state", "Done"}}, [&] {
    is_written = true;
    loop_->Stop();
  });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(is_written);
  EXPECT_EQ(arrivals_.count(), enough);
  GetParam().asks_for_a_second ? arrivals_.MustDouble(std::chrono::milliseconds(1000)) : arrivals_.MustDouble();
  EXPECT_THAT(troubles, Each(HasSubstr(GetParam().words)));
  EXPECT_THAT(written_, testing::ElementsAre(R"({"metadata":{"annotations":{"reason":"why","state":"Done"}}})"));
}

INSTANTIATE_TEST_SUITE_P(Each, NodeWriterTest, testing::ValuesIn(kube::BadAnswers()),
                         [](const auto& bad) { return bad.param.name; });

TEST(NodeWriter, KeepsTheLimitOfRequestsPerMinute) { EXPECT_LE(kube::RequestsInAMinute({}), kube::kMostInAMinute); }

}  // namespace
}  // namespace pintle::agent
