// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the queries and the HTTP checks of gates, again and again while a rollout, or a change of a machine without a
// cluster, needs their results.
//
// A result counts for a short time only: a server that does not answer any more must not leave a gate open.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "event/loop.h"
#include "event/watches.h"
#include "net/http_client.h"
#include "pool/gate.h"
#include "pool/rollout_policy.h"

namespace pintle::gates {

class GateChecks {
 public:
  using Results = std::map<std::string, pool::GateResult>;  // The keys are the names of the gates.

  struct Wanted {
    const pool::Policy* policy = nullptr;
    // Results that were asked for at this time or earlier do not count, so the gates are asked again at once.
    std::optional<WallTime> newer_than = std::nullopt;
  };

  // `changed` is called when the result of a gate has changed, has become too old to count, or is the first one after
  // `newer_than`.  The loop and the clock must outlive this object.
  GateChecks(event::Loop& loop, const Clock& clock, net::Peers peers, std::function<void()> changed);
  ~GateChecks();
  GateChecks(const GateChecks&) = delete;
  GateChecks& operator=(const GateChecks&) = delete;

  // Checks the gates of these policies from now on, and no other gates.  The keys are the names of the policies.
  void Want(const std::map<std::string, Wanted>& policies);
  // Returns those results of a policy's gates that still count.
  const Results& ResultsOf(const std::string& policy) const;

  // Ends all checks and forgets all results.
  void Stop();

 private:
  struct Check {
    pool::Gate gate;
    net::HttpCall call;
    MonotonicTime due = {};
    MonotonicTime begun = {};     // The time of the latest request.
    MonotonicTime asked = {};     // The time of the latest request that has been answered.
    MonotonicTime answered = {};  // The time of that answer.
    bool is_under_way = false;
    std::optional<WallTime> newer_than = std::nullopt;
  };

  // Returns the time of the latest answered request on the wall clock.
  WallTime AskedAt(const Check& check) const;
  // Returns whether the latest answered request was sent at or before `newer_than`.
  bool IsTooOld(const Check& check) const;

  void CheckDue();
  void Begin(const std::string& policy, Check& check);
  net::HttpCall Ask(const std::string& policy, const pool::Gate& gate, net::HttpRequest request);
  void OnEnded(std::string policy, std::string gate, pool::GateResult result);

  event::Loop& loop_;
  const Clock& clock_;
  const net::Peers peers_;
  std::function<void()> changed_;
  std::optional<net::HttpClient> client_;                       // Exists once there is a gate.
  std::map<std::string, std::map<std::string, Check>> checks_;  // The keys are the names of policies and gates.
  std::map<std::string, Results> results_;                      // The keys are the names of policies.
  event::Timer timer_;                                          // For CheckDue().
};

// Returns the URL of a gate's request.
Result<net::Url> UrlOf(const pool::Gate& gate);
// Judges an answer.  For a gate with an HTTP check, only the status counts.
pool::GateResult Judge(const pool::Gate& gate, int status, const std::string& body);

}  // namespace pintle::gates
