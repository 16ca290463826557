// SPDX-License-Identifier: Apache-2.0
// Tests drains whose writes the API server accepts and does not keep, as with a webhook that takes changes back.

#include "drain/node_drain.h"

#include <gmock/gmock.h>

#include <string>
#include <variant>

#include "event/loop.h"
#include "kube/decode.h"
#include "support/expect.h"
#include "unit/drain/annotation_keys.h"
#include "unit/event/patience.h"
#include "unit/kube/bad_answers.h"

namespace pintle::drain {
namespace {

using kube::ReceivedRequest;
using testing::HasSubstr;

// A node without pods.
json::Value NodeWithRequest(const json::Value& annotations, bool is_cordoned) {
  return {{"metadata", {{"name", "a"}, {"uid", "uid-a"}, {"resourceVersion", "7"}, {"annotations", annotations}}},
          {"spec", {{"unschedulable", is_cordoned}}}};
}

class UnkeptDrain : public testing::Test {
 protected:
  UnkeptDrain() { ::setenv("no_proxy", "*", 1); }

  // Carries out the request of the node until a write has failed, and returns the error.  The server answers each patch
  // with the node as it was, in a new version.
  template <typename Failed>
  std::string WhyItFails(const json::Value& node) {
    kube::ScriptedServer server({}, [&](const ReceivedRequest& request) -> kube::Answer {
      if (request.line.find("watch=1") != std::string::npos) return {.ending = kube::Ending::kNever};
      if (request.line.find("/pods") != std::string::npos) return {.body = kube::ListAnswer("")};
      json::Value answer = node;
      if (request.line.starts_with("PATCH")) answer["metadata"]["resourceVersion"] = "8";
      return {.body = json::ToText(answer)};
    });
    std::string why;
    NodeDrain drain(*loop_, ValueOf(kube::Client::Create(*loop_, server.access())), clock_, turns_, "a",
                    {.report =
                         [&](const News& news) {
                           const auto* const failed = std::get_if<Failed>(&news);
                           if (failed == nullptr) return;
                           why = failed->why;
                           loop_->Stop();
                         },
                     .evicted = [](const auto&) {},
                     .when_reported = [](const std::function<void()>& then) { then(); }});
    drain.See(ValueOf(kube::Decode<api::Node>(node)), {});
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return why;
  }

  SystemClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  Turns turns_{*loop_, 1};
  const std::string asked_ = std::string(api::kDesiredDrainAnnotation);
};

constexpr const char* kUnkept = "patching Node a: the API server accepted the write but changed nothing";

TEST_F(UnkeptDrain, ReportsThatTheNodeIsNotCordoned) {
  EXPECT_THAT(WhyItFails<news::CordonFailed>(NodeWithRequest({{asked_, "drain-rendered-worker-2"}}, false)),
              HasSubstr(kUnkept));
}

TEST_F(UnkeptDrain, ReportsThatTheDrainIsNotAnswered) {
  const json::Value annotations = {{asked_, "drain-rendered-worker-2"},
                                   {kStarted, "2026-11-21T20:00:00Z drain-rendered-worker-2"}};
  EXPECT_THAT(WhyItFails<news::AnswerFailed>(NodeWithRequest(annotations, true)), HasSubstr(kUnkept));
}

TEST_F(UnkeptDrain, ReportsThatTheNodeIsNotUncordoned) {
  EXPECT_THAT(WhyItFails<news::UncordonFailed>(NodeWithRequest({{asked_, "uncordon-rendered-worker-2"}}, true)),
              HasSubstr(kUnkept));
}

TEST_F(UnkeptDrain, ReportsThatTheUncordonIsNotAnswered) {
  EXPECT_THAT(WhyItFails<news::AnswerFailed>(NodeWithRequest({{asked_, "uncordon-rendered-worker-2"}}, false)),
              HasSubstr(kUnkept));
}

}  // namespace
}  // namespace pintle::drain
