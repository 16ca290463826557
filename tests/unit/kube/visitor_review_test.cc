// SPDX-License-Identifier: Apache-2.0
#include "kube/visitor_review.h"

#include <optional>

#include "json/parse.h"
#include "unit/event/patience.h"
#include "unit/kube/scripted_server.h"

namespace pintle::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOwner =
    R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {"token": "s3cret"},
        "status": {"authenticated": true, "audiences": ["api"],
                   "user": {"username": "jo", "uid": "u-1", "groups": ["ops", "dev"], "extra": {"scope": ["a", "b"]}}}})";

std::string AccessReview(const std::string& status) {
  return R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {}, "status": )" + status +
         "}";
}

class VisitorReviewTest : public testing::Test {
 protected:
  Result<ReviewResult> Review() {
    const auto loop = ValueOf(event::Loop::Create());
    const auto transport = ValueOf(Transport::Create(*loop, server_.access()));
    std::optional<Result<ReviewResult>> result;
    const Call call =
        ReviewVisitor(transport, {.token = "s3cret", .path = "/page", .verb = "get"}, [&](Result<ReviewResult> answer) {
          result = std::move(answer);
          loop->Stop();
        });
    TRY(event::RunPatiently(*loop));
    return *std::move(result);
  }

  ScriptedServer server_;
};

TEST_F(VisitorReviewTest, AsksForTheOwnerOfTheTokenAndThenForTheOwnersRights) {
  server_.Add({.status = 201, .body = kOwner});
  server_.Add({.status = 201, .body = AccessReview(R"({"allowed": true})")});
  EXPECT_EQ(ValueOf(Review()), ReviewResult::kPermitted);
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].line, "POST /apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(ValueOf(json::Parse(requests[0].body)),
            ValueOf(json::Parse(R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
                                    "spec": {"token": "s3cret"}})")));
  EXPECT_EQ(requests[1].line, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(ValueOf(json::Parse(requests[1].body)),
            ValueOf(json::Parse(R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                                    "spec": {"user": "jo", "uid": "u-1", "groups": ["ops", "dev"],
                                             "extra": {"scope": ["a", "b"]},
                                             "nonResourceAttributes": {"path": "/page", "verb": "get"}}})")));
}

TEST_F(VisitorReviewTest, ForbidsWhatTheOwnerMayNotDo) {
  for (const char* const status : {R"({"allowed": false, "denied": true, "reason": "no"})", "{}"}) {
    server_.Add({.status = 201, .body = kOwner});
    server_.Add({.status = 201, .body = AccessReview(status)});
    EXPECT_EQ(ValueOf(Review()), ReviewResult::kForbidden) << status;
  }
}

TEST_F(VisitorReviewTest, AcceptsOnlyATokenWithAnOwner) {
  for (const char* const status : {R"({"error": "invalid bearer token"})", "{}", R"({"authenticated": false})",
                                   R"({"authenticated": false, "user": {"username": "jo"}})",
                                   R"({"authenticated": true})", R"({"authenticated": true, "user": {"uid": "1"}})"}) {
    server_.Add({.status = 201,
                 .body = std::string(R"({"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1",
                                                       "status": )") +
                         status + "}"});
    EXPECT_EQ(ValueOf(Review()), ReviewResult::kUnauthenticated) << status;
  }
}

TEST_F(VisitorReviewTest, FailsIfTheServerForbidsUsToCreateReviews) {
  const Answer refusal = {.status = 403, .body = R"({"kind": "Status", "apiVersion": "v1", "status": "Failure",
      "reason": "Forbidden", "message": "the token s3cret must not be reviewed", "code": 403})"};
  server_.Add(refusal);
  const Result<ReviewResult> first = Review();
  EXPECT_EQ(first.error().kind(), ErrorKind::kInvalid);
  EXPECT_THAT(first.error().message(), HasSubstr("reviewing the token of a visitor"));
  EXPECT_THAT(first.error().message(), Not(HasSubstr("s3cret")));
  server_.Add({.status = 201, .body = kOwner});
  server_.Add(refusal);
  EXPECT_THAT(MessageOf(Review()), HasSubstr("reviewing the rights of a visitor"));
}

TEST_F(VisitorReviewTest, FailsIfTheAnswerIsNotAValidReview) {
  for (const char* const body :
       {"", "s3cret", "[]", "{}", R"({"kind": "Status", "apiVersion": "v1"})",
        R"({"kind": "TokenReview", "apiVersion": "a/v1", "status": {"authenticated": "s3cret"}})"}) {
    server_.Add({.status = 201, .body = body});
    const Result<ReviewResult> result = Review();
    ASSERT_FALSE(result.has_value()) << body;
    EXPECT_THAT(result.error().message(), Not(HasSubstr("s3cret"))) << body;
  }
}

TEST_F(VisitorReviewTest, IsRepeatedOnceIfTheConnectionBreaks) {
  server_.Add({.raw = ""});
  server_.Add({.status = 201, .body = kOwner});
  server_.Add({.status = 201, .body = AccessReview(R"({"allowed": true})")});
  EXPECT_EQ(ValueOf(Review()), ReviewResult::kPermitted);
  server_.Add({.raw = ""});
  server_.Add({.raw = ""});
  EXPECT_EQ(MessageOf(Review()).empty(), false);
}

}  // namespace
}  // namespace pintle::kube
