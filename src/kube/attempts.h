// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request that is tried again when that is safe and may help.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "kube/backoff.h"
#include "kube/transport.h"

namespace pintle::kube {

// Whether a request may be sent again of which nobody knows whether it was carried out.
enum class Repeatable {
  kYes,  // It reads, or writes the same once more.
  kNo,   // It is sent again only when the server says that it turned it away.
};

struct Patience {
  int attempts = 6;
  Backoff::Settings backoff = {};
  Random random = SystemRandom();
};

bool IsWorthAnotherAttempt(const Failure& failure, Repeatable repeatable);

// How long to wait before it: as long as the server says, and no less than we would by ourselves.
std::chrono::milliseconds DelayBefore(const Failure& failure, Backoff& backoff);

using Fetched = std::variant<std::string, Failure>;

// Hands on the whole body of the answer.
Call Fetch(std::shared_ptr<Transport> transport, ApiRequest request, Repeatable repeatable, const Patience& patience,
           std::function<void(Fetched)> done);

}  // namespace pintle::kube
