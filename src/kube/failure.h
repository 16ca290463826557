// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why a request to the API server failed: its Status object, or what came instead of one.
//
// Inside kube/ a failure is more than an Error, because the next step depends on its details.  Callers only get the
// Error: kNotFound, kConflict (also if an object exists already), kUnavailable for everything that may pass, and
// kInvalid for the rest, be it a senseless request or one that we have no right to make.

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

// Takes an answer that is not 2xx.
Failure FailureFrom(const net::HttpHead& head, std::string_view body);

// Returns whether the server answers that it does not know the path, and not that an object is missing.
bool IsUnknownPath(const net::HttpHead& head, std::string_view body);

// Takes the object of a watch event of type ERROR.
Failure FailureFrom(json::Value status_object);

Failure While(Failure failure, std::string_view doing);

}  // namespace pintle::kube
