// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the agent learns what the machine is to be, and tells how far it is: a cluster, or files on the machine itself.
//
// All of it is on the loop's thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/state.h"
#include "agent/survey.h"
#include "base/result.h"
#include "plan/irreconcilable_report.h"

namespace pintle::agent {

class Source {
 public:
  // None of these is called from within a call of the source.
  struct Listener {
    std::function<void(Goal goal)> wanted;
    std::function<void()> drained;
    std::function<void(std::string why)> failed;  // What was asked for will not come.
    // What is wanted cannot be made out, and what was wanted before goes on being wanted; empty: that is over.
    std::function<void(std::string why)> unusable;
    // The authorities of the API server are other ones, which the kubelet is to trust.
    std::function<void(std::string bundle, std::function<void(Result<>)> done)> trust_server = {};
    // What waits until a pause ends; empty: nothing does.
    std::function<void(std::string what)> held;
    // All that a person should know of, and that stops nothing.
    std::function<void(std::vector<std::string> warnings)> warned;
  };

  virtual ~Source() = default;

  virtual void Begin(Listener listener) = 0;

  // All that a look takes which the machine itself does not have.  `current` is what is on its disk.
  virtual void Fetch(const std::optional<Goal>& current, const Goal& wanted,
                     std::function<void(Result<SurveyRequest> request)> done) = 0;

  // Has the machine's pods moved elsewhere, which `drained` or `failed` answers.
  virtual void AskForDrain(const Goal& goal) = 0;
  // No answer to that is wanted any more.
  virtual void StopWaiting() = 0;

  // What is told here is told to the end: in this order, and again while nobody hears it.
  virtual void ReportWork(const Prepared& change) = 0;
  virtual void ReportChanging(const Prepared& change) = 0;
  virtual void ReportChanged(const Prepared& change, bool needs_reboot) = 0;
  // `told` is called when it is known to others, or they cannot be told in time.
  virtual void ReportReboot(const std::string& why, std::function<void()> told) = 0;
  virtual void ReportSettled(const Goal& goal) = 0;
  virtual void ReportFault(Fault fault, const std::string& text) = 0;
  // What the machine's config says of its installation that the machine does not have.
  virtual void ReportIrreconcilable(const std::vector<plan::IrreconcilableChange>&) {}
  // Why the deployment that was staged before this boot could not be made; empty: it could, or there was none.
  virtual void ReportFinalizeFailure(const std::string&) {}
  // Someone has logged in by hand, after which a machine may be other than it seems.
  virtual void ReportLogin() {}
};

}  // namespace pintle::agent
