// SPDX-License-Identifier: Apache-2.0
#include "controller/page_guard.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/log.h"
#include "controller/events.h"
#include "dashboard/answers.h"
#include "net/bearer_token.h"
#include "net/listen_address.h"
#include "net/rate_limit.h"

namespace pintle::controller {
namespace {

constexpr auto kBetweenLooks = std::chrono::seconds(5);
// While a stream is open, its token is reviewed again this long before the last review expires.  There is time for
// several attempts, so that a short outage of the API server ends no stream.
constexpr auto kReviewedBefore = std::chrono::seconds(30);
static_assert(kBetweenLooks * 3 < kReviewedBefore && kReviewedBefore < RecentReviews::kPermittedFor);
// The server has fewer connections than this.  So this many visits wait only if clients leave faster than the loop
// drops their requests.
constexpr long kMostVisits = 512;
// The number of questions is limited: somebody who sends many wrong tokens must not keep the API server busy, nor keep
// other visitors out while the API server answers slowly.
constexpr std::size_t kMostQuestions = 32;
constexpr std::ptrdiff_t kMostQuestionsPerClient = 15;
// A client with an IPv4 and an IPv6 address counts as two clients.
static_assert(kMostQuestionsPerClient * 2 < kMostQuestions);

net::HttpAnswer Unauthenticated() {
  return {.status = 401, .headers = {{"WWW-Authenticate", "Bearer realm=\"pintle\""}, {"Cache-Control", "no-store"}}};
}

net::HttpAnswer Forbidden() { return {.status = 403, .headers = {{"Cache-Control", "no-store"}}}; }

net::HttpAnswer CannotAsk() {
  return {.status = 503, .headers = {{"Retry-After", "5"}, {"Cache-Control", "no-store"}}};
}

// Returns the key under which a client is counted.
std::string ClientOf(const net::IncomingRequest& request) {
  const auto peer = net::ParseListenAddress(request.peer);
  return peer ? net::ClientKeyOf(peer->address) : std::string(request.peer);
}

// Returns the request with only those headers that the page reads, because many requests may wait for the reviews of
// their tokens.  The token is left out.
net::KeptRequest WithHeadersOfPage(net::IncomingRequest request) {
  std::erase_if(request.headers, [](const net::IncomingRequest::Field& field) {
    return !SameIgnoringCase(field.name, "Host") && !SameIgnoringCase(field.name, "Last-Event-ID");
  });
  return net::KeptRequest(request);
}

}  // namespace

std::shared_ptr<PageGuard> PageGuard::Create(event::Loop& loop, const Clock& clock, Review review) {
  return std::shared_ptr<PageGuard>(new PageGuard(loop, clock, std::move(review)));
}

PageGuard::PageGuard(event::Loop& loop, const Clock& clock, Review review)
    : loop_(loop), clock_(clock), review_(std::move(review)), look_(loop, [this] { ReviewStreams(); }) {}

net::HttpAnswer PageGuard::Answer(const net::IncomingRequest& request, net::HttpHandler page) {
  const auto token = net::BearerTokenOf(request);
  if (!token) return Unauthenticated();
  if (visits_.use_count() > kMostVisits) return CannotAsk();
  auto later = std::make_shared<net::LaterAnswer>();
  Visit visit = {.request = std::make_shared<const net::KeptRequest>(WithHeadersOfPage(request)),
                 .page = std::move(page),
                 .later = later,
                 .client = ClientOf(request),
                 .counted = visits_};
  loop_.Post([weak = weak_from_this(), token = std::string(*token), visit = std::move(visit)] {
    if (const auto alive = weak.lock()) alive->Admit(token, visit);
  });
  return {.later = std::move(later)};
}

// A review may take long, and the requests of clients that have left must not fill the memory meanwhile.  Until such a
// request is dropped, the server counts it towards the limit of unanswered requests of its client.
void PageGuard::DropAbandoned() {
  for (auto& [key, asked] : questions_) {
    std::erase_if(asked.visits, [](const Visit& visit) { return !visit.later->IsAwaited(); });
  }
}

void PageGuard::Admit(std::string token, Visit visit) {
  DropAbandoned();
  if (!visit.later->IsAwaited()) return;
  const std::string key = KeyOfToken(token);
  if (const auto result = recent_reviews_.Find(key, clock_.Monotonic())) {
    return Settle(*result, key, token, std::move(visit));
  }
  if (const auto asked = questions_.find(key); asked != questions_.end()) {
    return asked->second.visits.push_back(std::move(visit));
  }
  if (!MayAskFor(visit.client)) return visit.later->Complete(CannotAsk);
  std::string client = visit.client;
  Ask(key, std::move(token), std::move(client), {std::move(visit)});
}

bool PageGuard::MayAskFor(const std::string& client) const {
  const auto own = std::count_if(questions_.begin(), questions_.end(),
                                 [&](const auto& asked) { return asked.second.client == client; });
  return questions_.size() < kMostQuestions && own < kMostQuestionsPerClient;
}

void PageGuard::Ask(const std::string& key, std::string token, std::string client, std::vector<Visit> visits) {
  Question& question = questions_[key];
  question.client = std::move(client);
  question.visits = std::move(visits);
  question.token = std::move(token);
  question.call =
      review_(question.token, [this, key](Result<kube::ReviewResult> result) { Reviewed(key, std::move(result)); });
}

void PageGuard::Reviewed(const std::string& key, Result<kube::ReviewResult> result) {
  // The question is taken out first, since an answer may lead to the next question about the same token.
  auto question = questions_.extract(key);
  Question& asked = question.mapped();
  if (!result) {
    Report(result.error());
    for (const Visit& visit : asked.visits) visit.later->Complete(CannotAsk);
    return;
  }
  trouble_.clear();
  recent_reviews_.Remember(key, *result, clock_.Monotonic());
  if (*result != kube::ReviewResult::kPermitted) ReviewStreams();
  for (Visit& visit : asked.visits) Settle(*result, key, asked.token, std::move(visit));
}

void PageGuard::Settle(kube::ReviewResult result, const std::string& key, const std::string& token, Visit visit) {
  switch (result) {
    case kube::ReviewResult::kUnauthenticated:
      return visit.later->Complete(Unauthenticated);
    case kube::ReviewResult::kForbidden:
      return visit.later->Complete(Forbidden);
    case kube::ReviewResult::kPermitted:
      break;
  }
  const bool follows = dashboard::WantsStream(visit.request->View());
  auto stream = follows && visit.later->IsAwaited() ? Follow(key, token) : nullptr;
  visit.later->Complete([page = std::move(visit.page), request = std::move(visit.request), stream = std::move(stream)] {
    net::HttpAnswer answer = page(request->View());
    if (!answer.stream) return answer;
    // A stream that does not go through a RevocableStream would not end with the token.
    if (!stream) return CannotAsk();
    stream->Carry(std::move(answer.stream));
    answer.stream = stream;
    return answer;
  });
}

std::shared_ptr<net::RevocableStream> PageGuard::Follow(const std::string& key, const std::string& token) {
  TokenStreams& of_token = streams_[key];
  of_token.token = token;
  auto stream = std::make_shared<net::RevocableStream>();
  of_token.streams.push_back(stream);
  ReviewStreams();
  return stream;
}

void PageGuard::ReviewStreams() {
  const MonotonicTime now = clock_.Monotonic();
  for (auto at = streams_.begin(); at != streams_.end();) {
    TokenStreams& of_token = at->second;
    std::erase_if(of_token.streams, [](const auto& stream) { return stream.expired(); });
    const bool is_permitted = recent_reviews_.Find(at->first, now) == kube::ReviewResult::kPermitted;
    if (of_token.streams.empty() || !is_permitted) {
      for (const auto& stream : of_token.streams) {
        if (const auto alive = stream.lock()) alive->Revoke();
      }
      at = streams_.erase(at);
      continue;
    }
    const bool is_due = recent_reviews_.PermittedFor(at->first, now) <= kReviewedBefore;
    if (is_due && !questions_.contains(at->first)) Ask(at->first, of_token.token, "", {});
    ++at;
  }
  if (streams_.empty()) return look_.Cancel();
  look_.After(kBetweenLooks);
}

void PageGuard::Report(const Error& error) {
  if (std::exchange(trouble_, error.message()) == error.message()) return;
  const bool is_refused = error.kind() == ErrorKind::kInvalid;
  log::Warning(
      "The page answers 503, because the controller cannot ask the API server who may read it: " + error.message() +
          (is_refused ? "; apply deploy/page, which gives the controller the ClusterRole system:auth-delegator" : ""),
      kTrouble);
}

}  // namespace pintle::controller
