// SPDX-License-Identifier: Apache-2.0
#include "kube/visitor_review.h"

#include <chrono>
#include <utility>

#include "api/subject_access_review.h"
#include "api/token_review.h"
#include "json/fields.h"
#include "json/parse.h"
#include "kube/attempts.h"
#include "kube/decode.h"

namespace pintle::kube {
namespace {

constexpr ResourceKind kTokenReview = {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview"};
constexpr ResourceKind kAccessReview = {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview"};
// A browser waits for the answer.
constexpr net::HttpTimeouts kTimeouts = {
    .connect = std::chrono::seconds(5), .stall = std::chrono::seconds(5), .whole = std::chrono::seconds(8)};
constexpr int kAttempts = 2;

ApiRequest Post(const ResourceKind& kind, std::string body, std::string doing) {
  return {.method = "POST",
          .path = "/apis/" + ApiVersion(kind) + "/" + std::string(kind.plural),
          .content_type = "application/json",
          .body = std::move(body),
          .doing = std::move(doing),
          .timeouts = kTimeouts,
          .has_secrets = true};
}

template <typename Review>
Result<Review> ReadReview(const ResourceKind& kind, Fetched fetched) {
  if (auto* const failure = std::get_if<Failure>(&fetched)) return std::move(failure->error);
  json::Value document = TRY(json::Parse(std::get<std::string>(fetched)), "reading the answer");
  if (document.TextAt({"kind"}) != kind.kind) {
    return Error(ErrorKind::kUnavailable, "the answer is not a " + std::string(kind.kind));
  }
  json::Report report;
  Review review = json::Decode<Review>(std::move(document), report);
  TRY(DecodingOutcome(kind, report));
  return review;
}

api::SubjectAccessReview QuestionAbout(api::UserInfo user, const VisitorQuestion& question) {
  return {.spec = {.non_resource_attributes = {.path = question.path, .verb = question.verb},
                   .user = std::move(user.username),
                   .uid = std::move(user.uid),
                   .groups = std::move(user.groups),
                   .extra = std::move(user.extra)},
          .status = {}};
}

class VisitorReviewer final : public Work, public std::enable_shared_from_this<VisitorReviewer> {
 public:
  VisitorReviewer(std::shared_ptr<Transport> transport, VisitorQuestion question,
                  std::function<void(Result<ReviewResult>)> done)
      : transport_(std::move(transport)), question_(std::move(question)), done_(std::move(done)) {}

  void Begin() {
    const api::TokenReview review = {.spec = {.token = std::exchange(question_.token, {})}, .status = {}};
    Send(Post(kTokenReview, json::ToText(json::Encode(review)), "reviewing the token of a visitor"),
         &VisitorReviewer::TokenReviewed);
  }

 private:
  using Then = void (VisitorReviewer::*)(Fetched);

  // Reviews change nothing, so they may be repeated.
  void Send(ApiRequest request, Then then) {
    call_ = Fetch(transport_, std::move(request), Repeatable::kYes, {.attempts = kAttempts},
                  [weak = weak_from_this(), then](Fetched fetched) {
                    if (const auto alive = weak.lock()) (*alive.*then)(std::move(fetched));
                  });
  }

  void TokenReviewed(Fetched fetched) {
    auto review = ReadReview<api::TokenReview>(kTokenReview, std::move(fetched));
    if (!review) return End(std::move(review).error());
    if (!review->status.authenticated || review->status.user.username.empty()) {
      return End(ReviewResult::kUnauthenticated);
    }
    const api::SubjectAccessReview question = QuestionAbout(std::move(review->status.user), question_);
    Send(Post(kAccessReview, json::ToText(json::Encode(question)), "reviewing the rights of a visitor"),
         &VisitorReviewer::AccessReviewed);
  }

  void AccessReviewed(Fetched fetched) {
    const auto review = ReadReview<api::SubjectAccessReview>(kAccessReview, std::move(fetched));
    if (!review) return End(review.error());
    End(review->status.allowed ? ReviewResult::kPermitted : ReviewResult::kForbidden);
  }

  void End(Result<ReviewResult> result) {
    const auto done = std::exchange(done_, {});
    done(std::move(result));
  }

  std::shared_ptr<Transport> transport_;
  VisitorQuestion question_;
  std::function<void(Result<ReviewResult>)> done_;
  Call call_;
};

}  // namespace

Call ReviewVisitor(std::shared_ptr<Transport> transport, VisitorQuestion question,
                   std::function<void(Result<ReviewResult>)> done) {
  const auto reviewer = std::make_shared<VisitorReviewer>(std::move(transport), std::move(question), std::move(done));
  reviewer->Begin();
  return Call(reviewer);
}

}  // namespace pintle::kube
