// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks the API server whether a visitor, who has sent us a token, may make a request.
//
// A TokenReview finds the owner of the token, and then a SubjectAccessReview decides whether the owner has the right.
// We need the right to create both reviews, which the ClusterRole system:auth-delegator has.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "kube/call.h"
#include "kube/transport.h"

namespace pintle::kube {

enum class ReviewResult {
  kPermitted,
  kForbidden,        // The token is good, but its owner lacks the right.
  kUnauthenticated,  // The API server does not accept the token.
};

struct VisitorQuestion {
  std::string token;
  std::string path;  // The right is one of RBAC's nonResourceURLs: this path and this verb.
  std::string verb;
};

// Errors never contain the token.  The kind kInvalid means that the API server refuses our request, for instance
// because we have no right to create reviews.
Call ReviewVisitor(std::shared_ptr<Transport> transport, VisitorQuestion question,
                   std::function<void(Result<ReviewResult>)> done);

}  // namespace pintle::kube
