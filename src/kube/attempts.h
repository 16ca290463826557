// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request that is repeated if that is safe and may help.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "kube/backoff.h"
#include "kube/transport.h"

namespace pintle::kube {

// Says if a request may be repeated when nobody knows whether the server has carried it out.
enum class Repeatable {
  kYes,  // It reads, or writing the same again changes nothing.
  kNo,   // It is repeated only if the server reports that it was rejected.
};

struct Patience {
  int attempts = 6;
  Backoff::Settings backoff = {};
  Random random = SystemRandom();
};

bool IsWorthAnotherAttempt(const Failure& failure, Repeatable repeatable);

// Returns how long to wait before the next attempt: the server's Retry-After, but no less than the back-off.
std::chrono::milliseconds DelayBefore(const Failure& failure, Backoff& backoff);

using Fetched = std::variant<std::string, Failure>;

// `done` gets the whole body of the answer, or the failure of the last attempt.
Call Fetch(std::shared_ptr<Transport> transport, ApiRequest request, Repeatable repeatable, const Patience& patience,
           std::function<void(Fetched)> done);

}  // namespace pintle::kube
