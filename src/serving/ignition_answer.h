// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the Ignition server's answers, and what is logged and counted about them.
//
// The HTTP statuses are those of the Machine Config Operator's server, because Ignition's retries depend on them.  A
// request for an unknown pool gets 500.  During the bootstrap, a request gets 404 if a file of the pool is missing.  No
// error has a body.  We add 401 for requests without a valid token, and 403 for a token of another pool.  If the
// configs that are being sent use up all memory set aside for them, we answer 503, and Ignition tries again.  The path
// /healthz/configs is ours.

#include <optional>
#include <string>

#include "base/clock.h"
#include "ignition/spec_version.h"
#include "net/http_answer.h"
#include "serving/access.h"
#include "serving/served_pool.h"

namespace pintle::serving {

struct IgnitionAnswer {
  net::HttpAnswer http;
  // The other members are set for requests for a config only.
  std::optional<std::string> pool = {};  // The requested name, whether the pool exists or not.
  std::optional<ignition::SpecVersion> version = {};
  TokenProblem token = TokenProblem::kNone;  // Always kNone if access is open.
  std::optional<Error> failure = {};         // The reason why no config is served, which is logged and not sent.
};

// Answers clients that may request configs.
IgnitionAnswer AnswerTo(const net::IncomingRequest& request, const ServedPools& pools, const Access& access,
                        WallTime now);

// Answers clients that may only request whether the server is up, and whether it has the configs.
net::HttpAnswer AnswerHealth(const net::IncomingRequest& request, const ServedPools& pools);

}  // namespace pintle::serving
