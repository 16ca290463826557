// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes why a request to the API server failed, from the Status object in the answer or from any other answer.
//
// Inside kube/ a failure is more than an Error, because the next step depends on its details.  The result of a call has
// only the Error: kNotFound, kConflict (also if an object exists already), kUnavailable for failures that may pass, and
// kInvalid for the rest, whether the request is malformed or we have no right to make it.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/parse.h"
#include "net/http_message.h"

namespace pintle::kube {

struct Failure {
  Error error;
  int status = 0;           // The HTTP status; 0 if there was no answer.
  std::string reason = {};  // The server's reason, such as "AlreadyExists".
  std::optional<std::chrono::milliseconds> retry_after = {};
  // In the answer to an eviction: the refusal by the pod's disruption budget.
  std::optional<std::string> disruption_budget = {};

  // Returns whether our resourceVersion is too old to continue from, so that a new list is needed.
  bool IsExpired() const { return status == 410 || reason == "Expired" || reason == "Gone"; }
};

// Returns the server's Retry-After, or zero if the server has not sent one.
inline std::chrono::milliseconds RetryAfterOf(const std::optional<Failure>& failure) {
  return failure ? failure->retry_after.value_or(std::chrono::milliseconds(0)) : std::chrono::milliseconds(0);
}

// Makes a failure of an answer whose status is not 2xx.
Failure FailureFrom(const net::HttpHead& head, std::string_view body);

// Returns whether the server does not know the path, in contrast to an answer that an object is missing.
bool IsUnknownPath(const net::HttpHead& head, std::string_view body);

// Makes a failure of the object of a watch event of type ERROR.
Failure FailureFrom(json::Value status_object);

// Leaves out the server's message.  The server, or a webhook, may quote the object that it refuses.
Failure WithoutMessage(Failure failure);

// Adds to the error what was being done.
Failure While(Failure failure, std::string_view doing);

}  // namespace pintle::kube
