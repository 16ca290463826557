// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets only those visitors read the page whose token the API server accepts, and who have the right to read the page.
//
// The threads of the page's server pass each request to the loop, which looks up the last review of its token or
// asks the API server, and then completes the answer.  A stream of changes lasts as long as its token is accepted: the
// token is reviewed again while the stream is open.  While the API server cannot be asked, the page is served only to
// visitors whose token was permitted by an earlier review that still counts.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controller/recent_reviews.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/call.h"
#include "net/http_answer.h"
#include "net/revocable_stream.h"

namespace pintle::controller {

// The right that a visitor needs: a path of RBAC's nonResourceURLs, and a verb.  The path is not "/", since some
// clusters let everyone read "/".
inline constexpr const char* kPageRightPath = "/pintle/page";
inline constexpr const char* kPageRightVerb = "get";

class PageGuard : public std::enable_shared_from_this<PageGuard> {
 public:
  // Asks the API server about a token.
  using Review = std::function<kube::Call(std::string token, std::function<void(Result<kube::ReviewResult>)> done)>;

  // The loop and the clock must outlive the guard.
  static std::shared_ptr<PageGuard> Create(event::Loop& loop, const Clock& clock, Review review);

  // Answers from `page` if the visitor may read it.  Any thread may call this.
  net::HttpAnswer Answer(const net::IncomingRequest& request, net::HttpHandler page);

  // Ends the streams of tokens that are no longer accepted, and reviews every remaining token before its last
  // review expires.  The guard calls this every few seconds while a stream is open.
  void ReviewStreams();

 private:
  // A request that waits for the review of its token.
  struct Visit {
    std::shared_ptr<const net::KeptRequest> request;
    net::HttpHandler page;
    std::shared_ptr<net::LaterAnswer> later;
    std::string client;                  // The result of ClientKeyOf() (net/rate_limit.h).
    std::shared_ptr<const int> counted;  // A copy of visits_.
  };
  // A question to the API server about a token, which has not been answered yet.
  struct Question {
    std::string token;
    std::string client;  // The client whose request has led to the question; empty if the question is about a stream.
    std::vector<Visit> visits;  // The requests that wait for the answer.
    kube::Call call;
  };
  // The streams that are open with one token.
  struct TokenStreams {
    std::string token;
    std::vector<std::weak_ptr<net::RevocableStream>> streams;
  };

  PageGuard(event::Loop& loop, const Clock& clock, Review review);

  // Drops the visits whose clients have left.
  void DropAbandoned();
  // Settles a visit at once if a recent review of its token is known.  Otherwise, asks the API server first.
  void Admit(std::string token, Visit visit);
  // Returns whether another question may be asked because of a request of the client.
  bool MayAskFor(const std::string& client) const;
  void Ask(const std::string& key, std::string token, std::string client, std::vector<Visit> visits);
  void Reviewed(const std::string& key, Result<kube::ReviewResult> result);
  // Completes the answer to a visit.
  void Settle(kube::ReviewResult result, const std::string& key, const std::string& token, Visit visit);
  // Makes a stream that ends when the token is no longer accepted.
  std::shared_ptr<net::RevocableStream> Follow(const std::string& key, const std::string& token);
  void Report(const Error& error);

  event::Loop& loop_;
  const Clock& clock_;
  const Review review_;
  // Each visit has a copy, so that any thread can count the visits.
  const std::shared_ptr<const int> visits_ = std::make_shared<const int>();
  RecentReviews recent_reviews_;
  std::map<std::string, Question> questions_;    // The key is KeyOfToken() of the token.
  std::map<std::string, TokenStreams> streams_;  // The key is KeyOfToken() of the token.
  event::Timer look_;                            // Armed while streams_ is not empty.
  std::string trouble_;                          // The latest error of a review, which is logged once.
};

}  // namespace pintle::controller
