// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends a request, and repeats it after a failure if a repetition is safe and may succeed.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "kube/backoff.h"
#include "kube/transport.h"

namespace pintle::kube {

// Decides whether a request may be repeated when it is unknown whether the server has carried it out.
enum class Repeatable {
  kYes,  // The request reads, or writing the same again changes nothing.
  kNo,   // The request is repeated only if the server has rejected it.
};

// Limits how often a request is sent, and sets the wait between two attempts.
struct Patience {
  int attempts = 6;
  Backoff::Settings backoff = {};
  Random random = SystemRandom();
};

// Returns whether a repetition of the request is safe and may succeed.
bool IsWorthAnotherAttempt(const Failure& failure, Repeatable repeatable);

// Returns how long to wait before the next attempt: the longer of the back-off and the server's Retry-After.
std::chrono::milliseconds DelayBefore(const Failure& failure, Backoff& backoff);

using Fetched = std::variant<std::string, Failure>;

// `done` gets the whole body of the answer, or the failure of the last attempt.
Call Fetch(std::shared_ptr<Transport> transport, ApiRequest request, Repeatable repeatable, const Patience& patience,
           std::function<void(Fetched)> done);

}  // namespace pintle::kube
