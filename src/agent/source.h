// SPDX-License-Identifier: Apache-2.0
#pragma once

// A source decides which config the machine is to have, and reports how far the machine is.  It is a cluster, or files
// on the machine itself.
//
// Everything here runs on the loop's thread.

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
  // The source calls none of these from within a call of its own functions.
  struct Listener {
    std::function<void(Goal goal)> wanted;
    std::function<void()> drained;
    std::function<void(std::string why)> failed;  // The source cannot carry out a request.
    // The goal cannot be determined, and the last one stays in force; an empty reason ends that.
    std::function<void(std::string why)> unusable;
    // The authorities of the API server have changed, and the kubelet is to trust the new ones.
    std::function<void(std::string bundle, std::function<void(Result<>)> done)> trust_server = {};
    // The change that waits until a pause ends, in words; empty if none does.
    std::function<void(std::string what)> held;
    // Passes all warnings that a person should know of, and that stop nothing.
    std::function<void(std::vector<std::string> warnings)> warned;
  };

  virtual ~Source() = default;

  virtual void Begin(Listener listener) = 0;

  // Collects the inputs of a look that the machine itself does not have.  `current` is the config on its disk.
  virtual void Fetch(const std::optional<Goal>& current, const Goal& wanted,
                     std::function<void(Result<SurveyRequest> request)> done) = 0;

  // Asks for the machine's pods to be moved elsewhere; `drained` or `failed` is called with the answer.
  virtual void AskForDrain(const Goal& goal) = 0;
  // Drops a request for a drain or a fetch whose answer is not needed any more.
  virtual void StopWaiting() = 0;

  // Reports are published in this order, and tried again until they are.
  virtual void ReportWork(const Prepared& change) = 0;
  virtual void ReportChanging(const Prepared& change) = 0;
  virtual void ReportChanged(const Prepared& change, bool needs_reboot) = 0;
  // `told` is called when the report is published, or cannot be in time.
  virtual void ReportReboot(const std::string& why, std::function<void()> told) = 0;
  virtual void ReportSettled(const Goal& goal) = 0;
  virtual void ReportFault(Fault fault, const std::string& text) = 0;
  // Reports the parts of the config that only another installation would give the machine.
  virtual void ReportIrreconcilable(const std::vector<plan::IrreconcilableChange>&) {}
  // Reports why the deployment that was staged before this boot could not be finalized.  The text is empty if it was
  // finalized, or if there was none.
  virtual void ReportFinalizeFailure(const std::string&) {}
  // Reports a login by hand, after which a machine may differ from what its config wants.
  virtual void ReportLogin() {}
};

}  // namespace pintle::agent
