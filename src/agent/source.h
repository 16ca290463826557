// SPDX-License-Identifier: Apache-2.0
#pragma once

// A source names the config that the machine is to have, and reports the machine's progress.  The source is a cluster,
// or files on the machine itself.
//
// Everything here runs on the loop's thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/staging.h"
#include "agent/state.h"
#include "agent/survey.h"
#include "base/result.h"
#include "plan/irreconcilable_report.h"

namespace pintle::agent {

class Source {
 public:
  // The source calls these only after its own functions have returned.
  struct Listener {
    std::function<void(Goal goal)> wanted;        // Names the goal of the machine.
    std::function<void()> drained;                // The drain that AskForDrain() has asked for is done.
    std::function<void(std::string why)> failed;  // The source cannot carry out a request.
    // The goal cannot be determined, so the last goal stays in force.  An empty reason means that the goal can be
    // determined again.
    std::function<void(std::string why)> unusable;
    // The authorities of the API server have changed, and the kubelet has to trust the new ones.
    std::function<void(std::string bundle, std::function<void(Result<>)> done)> trust_server = {};
    // Passes a sentence about the change that waits until the machine may be changed; empty if no change waits.
    std::function<void(std::string text)> held;
    // Passes all warnings for a person; they do not stop any work.
    std::function<void(std::vector<std::string> warnings)> warned;
    // Names the goal that the machine has to stage for later, or nullopt if there is nothing to stage.  The source
    // calls `wanted` first, so that the image of a staged goal is not removed when this goal becomes the wanted one.
    std::function<void(std::optional<Goal> goal)> stage = {};
  };

  virtual ~Source() = default;

  virtual void Begin(Listener listener) = 0;

  // Collects the inputs of a look that the machine itself does not have.  `current` is the config on its disk.
  virtual void Fetch(const std::optional<Goal>& current, const Goal& wanted,
                     std::function<void(Result<SurveyRequest> request)> done) = 0;

  // Collects the inputs for the survey of a change to a goal that `stage` has named.  This fetch is independent of the
  // calls of Fetch().
  virtual void FetchToStage(const Goal&, std::function<void(Result<SurveyRequest> request)>) {}

  // Asks for the machine's pods to be moved elsewhere.  Then either `drained` or `failed` is called.
  virtual void AskForDrain(const Goal& goal) = 0;
  // Drops a request for a drain or a fetch whose answer is not needed any more.
  virtual void StopWaiting() = 0;

  // Reports are published in the order of the calls.  A report that cannot be published at the moment is tried again.
  virtual void ReportWork(const Prepared& change) = 0;
  virtual void ReportChanging(const Prepared& change) = 0;
  virtual void ReportChanged(const Prepared& change, bool needs_reboot) = 0;
  // `reported` is called when the report is published, or when that takes too long.
  virtual void ReportReboot(const std::string& why, std::function<void()> reported) = 0;
  virtual void ReportSettled(const Goal& goal) = 0;
  virtual void ReportFault(Fault fault, const std::string& text) = 0;
  // Reports the parts of the config that the machine would get only if it were installed again.
  virtual void ReportIrreconcilable(const std::vector<plan::IrreconcilableChange>&) {}
  // Reports why the deployment that was staged before this boot could not be finalized.  The text is empty if no such
  // failure is known.
  virtual void ReportFinalizeFailure(const std::string&) {}
  // Reports whether the goal that `stage` has named is staged.
  virtual void ReportStaging(const StagingReport&) {}
  // Reports that a person has logged in.  After that, the machine may differ from its config.
  virtual void ReportLogin() {}
};

}  // namespace pintle::agent
