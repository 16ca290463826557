// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent: receives the goal for the machine, calls Advance() to decide, and performs the effects that it returns.
//
// Long jobs run on the worker, one at a time; each uses the machine and copies of its other inputs.  Everything else
// runs on the loop's thread and takes little time.

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/bus.h"
#include "agent/claimed_worker.h"
#include "agent/drift_watch.h"
#include "agent/health.h"
#include "agent/make_change.h"
#include "agent/pace.h"
#include "agent/progress_relay.h"
#include "agent/publisher.h"
#include "agent/recovery.h"
#include "agent/settings.h"
#include "agent/source.h"
#include "agent/stager.h"
#include "agent/state.h"
#include "agent/survey.h"
#include "agent/warnings.h"
#include "base/clock.h"
#include "base/result.h"
#include "event/loop.h"
#include "event/watches.h"
#include "host/this_machine.h"

namespace pintle::agent {

class Agent {
 public:
  struct Parts {
    event::Loop& loop;
    const Clock& clock;
    std::shared_ptr<const host::ThisMachine> machine;
    Settings settings;
    host::AgentSource kind;  // The kind of `source`.
    std::string node;
    std::unique_ptr<Source> source;
    // These carry out `pintle pause` and `pintle resume`.  In a cluster, where a pool is paused in its
    // MachineConfigPool, they return an error.
    std::function<Result<>()> pause = {};
    std::function<Result<>()> resume = {};
    std::function<void(const Phase& phase)> entered = {};  // Called with the phase after each transition.
    // Opens the machine once more, for the stager.
    Stager::OpenMachine open_machine = host::ThisMachine::Open;
    // If the machine still runs this long after a reboot was requested, the reboot has failed.
    std::chrono::milliseconds reboot_patience = std::chrono::minutes(15);
  };

  static Result<std::unique_ptr<Agent>> Create(Parts parts);
  ~Agent() { fetch_.request_stop(); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Ends a change that was interrupted, and from then on follows the source.
  void Begin();

  // Requests a look, because something may have changed.
  void Check();

 private:
  struct Alive {};
  // The complete inputs of a look.
  struct LookInputs {
    Goal goal;
    SurveyRequest request;
  };

  explicit Agent(Parts parts);
  // Returns the functions that the bus calls for orders and logins.
  Bus::Handlers BusHandlers(std::function<Result<>()> pause, std::function<Result<>()> resume);

  // Processes an event, or queues it while another event is being processed.
  void Happen(Event event);
  void Take(const Event& event);
  void Enter(const State& next);

  void Do(const effect::Recover&);
  void Do(const effect::Look& look);
  void Do(const effect::LookAgainSoon&);
  void Do(const effect::ReportWork&);
  void Do(const effect::AskForDrain& ask);
  void Do(const effect::Change&);
  void Do(const effect::StopFetching&);
  void Do(const effect::Reboot&);
  void Do(const effect::WatchHealth& watch);
  void Do(const effect::Confirm&);
  void Do(const effect::GoBack& back);
  void Do(const effect::ReportWaiting&);
  void Do(const effect::ReportSettled& settled);
  void Do(const effect::ReportFault& fault);
  void Do(const effect::ForgetRejection&);
  void Do(const effect::RetryLater& later);

  void OnRecovered(const Result<RecoveryResult>& result);
  void OnFetched(const Goal& goal, Result<SurveyRequest> request);
  void BeginLook();
  // Makes Noticed happen as soon as `pace_` allows another look.
  void NoticeSoon();
  void LearnFacts();
  void InstallServerAuthorities(std::string bundle, std::function<void(Result<>)> done);
  void FindIrreconcilable(const Goal& goal);
  void OnLooked(const Goal& goal, Result<Survey> survey);
  void BeginChange();
  void OnChangeMade(const MadeChange& made);
  void ReportStaging(const StagingReport& report);
  void FailReboot();
  void AskWhetherWell();
  void JudgeHealth(const Result<std::vector<std::string>>& problems);
  void WatchFor(std::vector<std::string> paths);
  void OnSourceFailed(std::string why);
  void OnUnusable(const std::string& why);
  void Warn(Warnings::Origin origin, std::vector<std::string> texts);
  void Publish();

  event::Loop& loop_;
  const Clock& clock_;
  std::shared_ptr<const host::ThisMachine> machine_;
  Settings settings_;
  HealthSettings health_;
  const host::AgentSource kind_;
  std::unique_ptr<Source> source_;
  const std::function<void(const Phase& phase)> entered_;
  const std::chrono::milliseconds reboot_patience_;

  State state_;  // Replaced by what Advance() returns, and by nothing else.
  std::deque<Event> happened_;
  bool is_taking_ = false;  // An event is being processed.

  std::optional<Goal> current_;  // The config that is on the disk.
  std::shared_ptr<Prepared> prepared_;
  std::stop_source fetch_;  // Stops the fetch of the change that is under way.
  int looks_ = 0;           // The number of looks that were requested.  Only the result of the last look is used.
  // The worker makes one look at a time.  If several more become ready meanwhile, only the last of them is made.
  bool is_looking_ = false;
  std::optional<LookInputs> next_look_;
  Pace pace_;                       // Paces looks that are made because something was noticed.
  std::vector<std::string> paths_;  // The paths that `drift_` watches.
  std::unique_ptr<DriftWatch> drift_;

  Publisher publisher_;
  std::optional<Goal> compared_with_installation_;  // The goal for which FindIrreconcilable() was called last.
  std::string held_;  // A sentence about the change that waits until the machine may be changed; empty if none waits.
  ProgressRelay progress_;
  event::Timer notice_;        // Delays a look until `pace_` allows it.
  event::Timer retry_;         // Ends the pause after a failure.
  event::Timer no_reboot_;     // Ends the phase Rebooting if the machine does not reboot.
  event::Timer health_again_;  // Begins the next round of the health checks.
  event::Timer full_check_;
  event::Timer idle_;               // Gives unused memory back to the system.
  event::WallTimer ignoring_ends_;  // Requests a look when something is not ignored any more.
  Stager stager_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();  // After this has expired, posted calls do nothing.
  std::unique_ptr<ClaimedWorker> worker_;                     // Destroyed first: its destructor waits for its job.
};

}  // namespace pintle::agent
