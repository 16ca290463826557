// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Ignition server answers, and what there is to tell of it.  Nothing here does anything.
//
// Statuses are those of the Machine Config Operator's server, on which Ignition's retries rest: 500 also for a pool
// that there is none of, and no body with any of them.  Ours are 401 and 403, for who has no token or that of another
// pool, and 503, with which Ignition tries again, when configs that are being sent take up all room.

#include <optional>
#include <string>

#include "base/clock.h"
#include "controller/access.h"
#include "controller/served_pool.h"
#include "ignition/spec_version.h"
#include "net/http_answer.h"

namespace pintle::controller {

struct IgnitionAnswer {
  net::HttpAnswer http;
  // The rest is of requests for a config alone.
  std::optional<std::string> pool = {};  // As it was asked for, be there one or not.
  std::optional<ignition::SpecVersion> version = {};
  TokenProblem token = TokenProblem::kNone;
  std::optional<Error> failure = {};  // Why there is none, for those who run the cluster.
};

IgnitionAnswer AnswerTo(const net::IncomingRequest& request, const ServedPools& pools, const Access& access,
                        WallTime now);

// For who may know that the server is there, and nothing else.
net::HttpAnswer AnswerHealth(const net::IncomingRequest& request);

}  // namespace pintle::controller
