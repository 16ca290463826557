// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why the API server did not do what it was asked to: its Status object, or what came in the place of one.
//
// Inside of kube/ a failure is more than an Error, since what to do next depends on its details.  Callers get the Error
// alone: kNotFound, kConflict (also for what exists already), kUnavailable for all that may be better later, and
// kInvalid for the rest, be it a request that makes no sense or one that we have no right to make.

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
  int status = 0;           // Of HTTP; 0: there was no answer.
  std::string reason = {};  // The server's word for it: "AlreadyExists".
  std::optional<std::chrono::milliseconds> retry_after = {};
  // In an answer to an eviction: what the pod's disruption budget says against it.
  std::optional<std::string> disruption_budget = {};

  // What we have of the past is too old to go on from: list again.
  bool IsExpired() const { return status == 410 || reason == "Expired" || reason == "Gone"; }
};

// An answer that is not 2xx.
Failure FailureFrom(const net::HttpHead& head, std::string_view body);

// The object of a watch event of type ERROR.
Failure FailureFrom(json::Value status_object);

Failure While(Failure failure, std::string_view doing);

}  // namespace pintle::kube
