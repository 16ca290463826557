// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "agent/events.h"
#include "agent/host_facts.h"
#include "agent/installation.h"
#include "agent/look.h"
#include "agent/server_authorities.h"
#include "agent/state_words.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/time_span.h"
#include "change/rejected.h"
#include "plan/plan.h"

namespace pintle::agent {
namespace {

// Failed work is tried again after a delay, which doubles from kFirstRetry up to kLongestRetry.
constexpr auto kFirstRetry = std::chrono::seconds(1);
constexpr auto kLongestRetry = std::chrono::seconds(60);
// Unused memory is given back to the system when the agent has published nothing for this long.
constexpr auto kIdle = std::chrono::seconds(2);
// How late a timer may fire.  A full check and the release of memory can wait for another wake-up of the machine.
constexpr event::Slack kNoticeSlack = std::chrono::milliseconds(20);
constexpr event::Slack kFullCheckSlack = std::chrono::minutes(1);
constexpr event::Slack kIdleSlack = std::chrono::seconds(1);

std::chrono::seconds RetryDelay(int attempts) {
  const int doublings = std::clamp(attempts - 1, 0, 6);
  return std::min(std::chrono::seconds(kFirstRetry.count() << doublings), kLongestRetry);
}

// Returns whether a job changes the machine in this phase.
bool IsAtWorkOnMachine(const Phase& phase) {
  return std::holds_alternative<phase::Recovering>(phase) || std::holds_alternative<phase::Changing>(phase) ||
         std::holds_alternative<phase::Rebooting>(phase);
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::Create(Parts parts) {
  auto agent = std::unique_ptr<Agent>(new Agent(std::move(parts)));
  agent->worker_ = TRY(ClaimedWorker::Create(agent->loop_, agent->machine_));
  return agent;
}

Agent::Agent(Parts parts)
    : loop_(parts.loop),
      clock_(parts.clock),
      machine_(std::move(parts.machine)),
      settings_(std::move(parts.settings)),
      health_{.units = settings_.health_units.value_or(parts.kind == host::AgentSource::kKubernetes
                                                           ? std::vector<std::string>{"kubelet.service"}
                                                           : std::vector<std::string>{}),
              .check_directory = settings_.check_directory,
              .limit = settings_.health_limit},
      kind_(parts.kind),
      source_(std::move(parts.source)),
      entered_(std::move(parts.entered)),
      reboot_patience_(parts.reboot_patience),
      publisher_(loop_, clock_, machine_->root(), settings_, {parts.kind, std::move(parts.node)},
                 BusHandlers(std::move(parts.pause), std::move(parts.resume))),
      progress_(loop_, clock_, [this](const std::string& doing) { publisher_.PublishProgress(doing); }),
      notice_(
          loop_, [this] { NoticeSoon(); }, kNoticeSlack),
      retry_(loop_, [this] { Happen(happened::RetryDue{}); }),
      no_reboot_(loop_, [this] { FailReboot(); }),
      health_again_(loop_, [this] { AskWhetherWell(); }),
      full_check_(
          loop_, [this] { Check(); }, kFullCheckSlack),
      idle_(loop_, ReleaseIdleMemory, kIdleSlack),
      ignoring_ends_(loop_, [this] { Happen(happened::Noticed{}); }),
      stager_(loop_, machine_->root(),
              machine_->host().deployments == nullptr ? Stager::Images::kNone : Stager::Images::kInOstree,
              std::move(parts.open_machine),
              {.fetch = [this](const Goal& goal, auto done) { source_->FetchToStage(goal, std::move(done)); },
               .report = [this](const StagingReport& report) { ReportStaging(report); }}) {}

Bus::Handlers Agent::BusHandlers(std::function<Result<>()> pause, std::function<Result<>()> resume) {
  const auto check = [this]() -> Result<> {
    Check();
    return {};
  };
  const auto pardon = [this]() -> Result<> {
    Happen(happened::Pardoned{});
    stager_.TryNow();
    return {};
  };
  std::function<void(const host::AgentLogin&)> logged_in = [this](const host::AgentLogin&) { source_->ReportLogin(); };
  return {check, pardon, std::move(pause), std::move(resume), settings_.watch_logins ? logged_in : nullptr};
}

void Agent::Begin() {
  source_->Begin(
      {.wanted = [this](Goal goal) { Happen(happened::Wanted{std::move(goal)}); },
       .drained = [this] { Happen(happened::Drained{}); },
       .failed = [this](std::string why) { OnSourceFailed(std::move(why)); },
       .unusable = [this](const std::string& why) { OnUnusable(why); },
       .trust_server =
           [this](std::string bundle, std::function<void(Result<>)> done) {
             InstallServerAuthorities(std::move(bundle), std::move(done));
           },
       .held =
           [this](std::string text) {
             held_ = std::move(text);
             Publish();
           },
       .warned = [this](std::vector<std::string> texts) { Warn(Warnings::Origin::kSource, std::move(texts)); },
       .stage = [this](std::optional<Goal> goal) { stager_.Want(std::move(goal)); }});
  // A machine without a cluster stages nothing, but it may have an image that was fetched when it belonged to a
  // cluster.
  if (kind_ == host::AgentSource::kLocal) stager_.Want(std::nullopt);
  if (settings_.full_check) full_check_.After(*settings_.full_check);
  // Give back the memory that start-up used.
  ReleaseIdleMemory();
  Do(effect::Recover{});
  LearnFacts();
  publisher_.Begin();
  Publish();
}

void Agent::LearnFacts() {
  worker_->Run<HostFacts>(
      [](const host::ThisMachine& machine, const std::stop_token&) { return ReadHostFacts(machine); },
      [this](const HostFacts& facts) {
        publisher_.PublishFacts(facts);
        source_->ReportFinalizeFailure(facts.finalize_failure);
      });
}

void Agent::Check() {
  if (settings_.full_check) full_check_.After(*settings_.full_check);
  Happen(happened::Asked{});
}

void Agent::OnSourceFailed(std::string why) {
  // Outside the phase Draining, the failed request is usually the uncordon at the end of an update.
  if (!std::holds_alternative<phase::Draining>(state_.phase)) publisher_.SetFailedUpdate(why);
  // A recovery, a change and a reboot do not need the source, and go on.  When the machine settles after them, the
  // uncordon is requested again.
  if (IsAtWorkOnMachine(state_.phase)) return log::Warning(why, kTrouble);
  Happen(happened::Failed{std::move(why)});
}

void Agent::OnUnusable(const std::string& why) {
  if (!why.empty()) log::Error(why, kDegraded);
  Happen(happened::Unusable{.why = why, .is_look_held = !held_.empty()});
}

void Agent::Publish() {
  publisher_.Publish(state_, current_, held_);
  idle_.After(kIdle);
}

void Agent::Warn(Warnings::Origin origin, std::vector<std::string> texts) {
  if (publisher_.SetWarnings(origin, std::move(texts))) Publish();
}

// ---- events ---------------------------------------------------------------------------------------------------------

void Agent::Happen(Event event) {
  happened_.push_back(std::move(event));
  if (std::exchange(is_taking_, true)) return;
  while (!happened_.empty()) {
    const Event next = std::move(happened_.front());
    happened_.pop_front();
    Take(next);
  }
  is_taking_ = false;
}

void Agent::Take(const Event& event) {
  auto transition = Advance(state_, event);
  if (!transition) return;
  Enter(transition->next);
  for (const Effect& effect : transition->effects) {
    std::visit([this](const auto& alternative) { Do(alternative); }, effect);
  }
  Publish();
}

void Agent::Enter(const State& next) {
  const bool is_new_phase = next.phase.index() != state_.phase.index();
  // After the phase Draining, the answer to the request for a drain is not needed any more.
  if (is_new_phase && std::holds_alternative<phase::Draining>(state_.phase)) source_->StopWaiting();
  if (is_new_phase) {
    retry_.Cancel();
    no_reboot_.Cancel();
    health_again_.Cancel();
    progress_.Forget();
    log::Debug(fmt::format("{} -> {}", NameOf(state_.phase), NameOf(next.phase)));
    publisher_.SetActivity(DoingIn(next.phase), NextAfter(next.phase));
  }
  state_ = next;
  stager_.Follow(state_);
  if (entered_) entered_(state_.phase);
  if (std::holds_alternative<phase::Waiting>(state_.phase) && current_) {
    // The source has named no goal yet.  Until the source names one, the machine keeps the config that it has.
    loop_.Post([this, weak = std::weak_ptr(alive_)] {
      if (!weak.expired() && !state_.wanted && current_) Happen(happened::Wanted{*current_});
    });
  }
}

// ---- effects --------------------------------------------------------------------------------------------------------

void Agent::Do(const effect::Recover&) {
  worker_->RunWithClaim<RecoveryResult>(
      [progress = progress_.Sender()](const host::ThisMachine& machine) {
        return EndInterruptedChange(machine, progress);
      },
      [this](const Result<RecoveryResult>& result) { OnRecovered(result); });
}

void Agent::Do(const effect::GoBack& back) {
  worker_->RunWithClaim<RecoveryResult>(
      [progress = progress_.Sender(), why = back.why](const host::ThisMachine& machine) {
        return UndoUnhealthyChange(machine, progress, why);
      },
      [this](const Result<RecoveryResult>& result) { OnRecovered(result); });
}

void Agent::OnRecovered(const Result<RecoveryResult>& result) {
  if (!result) return Happen(happened::Failed{result.error().message()});
  Happen(happened::RejectionRead{result->rejected});
  current_ = result->current;
  happened::Recovered recovered = result->recovered;
  recovered.at = clock_.Monotonic();
  Happen(std::move(recovered));
}

void Agent::Do(const effect::Confirm&) {
  worker_->RunWithClaim<void>(ConfirmChange, [this](const Result<>& confirmed) {
    if (!confirmed) return Happen(happened::Failed{confirmed.error().message()});
    Happen(happened::Recovered{});
  });
}

void Agent::Do(const effect::Look& look) {
  prepared_.reset();
  // The state of the machine may have changed since an earlier look, so the result of that look no longer counts, and
  // neither do the inputs of a look that has not begun.
  next_look_.reset();
  const int number = ++looks_;
  source_->Fetch(current_, look.goal, [this, number, goal = look.goal](Result<SurveyRequest> request) {
    if (number == looks_) OnFetched(goal, std::move(request));
  });
}

void Agent::OnFetched(const Goal& goal, Result<SurveyRequest> request) {
  if (!std::holds_alternative<phase::Checking>(state_.phase)) return;
  if (!request) return Happen(happened::Failed{request.error().message()});
  next_look_ = LookInputs{goal, *std::move(request)};
  // A look that waits for the claim has not begun, and the new look takes its place.
  if (!is_looking_ || worker_->waits_for_claim()) BeginLook();
}

void Agent::BeginLook() {
  LookInputs inputs = *std::exchange(next_look_, std::nullopt);
  is_looking_ = true;
  notice_.Cancel();
  worker_->RunWithClaim<Survey>(
      [request = std::move(inputs.request), goal = inputs.goal](const host::ThisMachine& machine) {
        return LookAt(machine.host(), request, goal);
      },
      [this, goal = inputs.goal, number = looks_, began = clock_.Monotonic()](Result<Survey> survey) {
        is_looking_ = false;
        pace_.Took(began, clock_.Monotonic());
        if (number == looks_) return OnLooked(goal, std::move(survey));
        if (next_look_ && std::holds_alternative<phase::Checking>(state_.phase)) BeginLook();
      });
}

// A look is expensive even if little has changed, so if changes are frequent, not each of them may cause a look.
void Agent::NoticeSoon() {
  const bool is_checking = std::holds_alternative<phase::Checking>(state_.phase);
  if (is_checking || pace_.next() <= clock_.Monotonic()) return Happen(happened::Noticed{});
  if (!notice_.armed()) notice_.At(pace_.next());
}

void Agent::Do(const effect::LookAgainSoon&) { NoticeSoon(); }

void Agent::OnLooked(const Goal& goal, Result<Survey> survey) {
  if (!std::holds_alternative<phase::Checking>(state_.phase)) return;
  if (!survey) return Happen(happened::Failed{survey.error().message()});
  // While the journal has a change, only the outlook of the survey is filled in.
  if (survey->outlook.IsUnderWay()) return Happen(happened::Looked{goal, std::move(survey->outlook)});
  // If the machine's config is only assumed, this sets current_ to nullopt, so that the source provides the assumed
  // config for the next look as well.
  current_ = survey->current;
  if (survey->outlook.is_outdated) return Happen(happened::Looked{goal, std::move(survey->outlook)});
  prepared_ = std::move(survey->prepared);
  publisher_.SetFindings(*survey);
  Warn(Warnings::Origin::kIgnored, std::move(survey->warnings));
  survey->ignoring_ends ? ignoring_ends_.At(*survey->ignoring_ends) : ignoring_ends_.Cancel();
  WatchFor(std::move(survey->paths));
  Happen(happened::Looked{goal, std::move(survey->outlook)});
}

void Agent::Do(const effect::ReportWork&) {
  source_->ReportWork(*prepared_);
  publisher_.SetState(host::AgentState::kWorking, "");
}

void Agent::Do(const effect::AskForDrain& ask) {
  // A drain may take long, and another look follows it, so the prepared change is not kept.
  prepared_.reset();
  source_->AskForDrain(ask.goal);
}

void Agent::Do(const effect::StopFetching&) { fetch_.request_stop(); }

void Agent::Do(const effect::Change&) {
  fetch_ = std::stop_source();
  drift_.reset();
  paths_.clear();
  source_->ReportChanging(*prepared_);
  // The stager was asked to stop when this phase began.
  stager_.WhenIdle([this] { BeginChange(); });
}

void Agent::BeginChange() {
  worker_->RunWithClaim<MadeChange>(
      [prepared = prepared_, progress = progress_.Sender(), stop = fetch_.get_token()](const host::ThisMachine& machine)
          -> Result<MadeChange> { return MakeChange(machine, *prepared, progress, stop); },
      [this](const Result<MadeChange>& made) { OnChangeMade(made ? *made : MadeChange{made.error()}); });
}

void Agent::OnChangeMade(const MadeChange& made) {
  const Result<change::Ending>& ending = made.ending;
  const auto prepared = std::exchange(prepared_, nullptr);
  // A fetch that was stopped because another goal is wanted is no failure.
  const bool was_stopped = !ending && ending.error().kind() == ErrorKind::kCancelled;
  if (!was_stopped && !prepared->plan.difference.OsChanges().empty()) {
    ending ? publisher_.ClearFailedOsChanges() : publisher_.CountFailedOsChange();
  }
  if (made.is_in_journal) return Happen(happened::NotUndone{ending.error().message()});
  if (!ending) return Happen(happened::Failed{ending.error().message()});
  const bool needs_reboot = *ending == change::Ending::kRebootNeeded;
  source_->ReportChanged(*prepared, needs_reboot);
  if (!needs_reboot) {
    current_ = GoalOf(prepared->to);
    WatchFor(plan::PathsOf(prepared->to.ignition));
    // The findings of the previous look were about the previous config.  The next look writes the file of the findings
    // again.
    publisher_.ClearFindings();
  }
  Happen(happened::Changed{needs_reboot});
}

void Agent::Do(const effect::Reboot& reboot) {
  const std::string why = fmt::format("Node will reboot {} {}", reboot.purpose.undoes ? "to undo" : "into config",
                                      reboot.purpose.goal.config);
  log::Notice(fmt::format("initiating reboot: {}", why), kRebooting);
  no_reboot_.After(reboot_patience_);
  source_->ReportReboot(why, [this, why] {
    worker_->Run<Result<>>(
        [why](const host::ThisMachine& machine, const std::stop_token&) { return machine.power().Reboot(why); },
        [this](const Result<>& rebooting) {
          if (rebooting || !std::holds_alternative<phase::Rebooting>(state_.phase)) return;
          publisher_.CountFailedReboot();
          Happen(happened::Failed{
              fmt::format("reboot command failed, something is seriously wrong: {}", rebooting.error().message())});
        });
  });
}

// A shutdown stops the agent within seconds, unless something holds it up, such as a disk that cannot be unmounted.
void Agent::FailReboot() {
  if (!std::holds_alternative<phase::Rebooting>(state_.phase)) return;
  publisher_.CountFailedReboot();
  Happen(happened::Failed{
      fmt::format("the machine has not rebooted within {}; find out what holds it up with `systemctl list-jobs` and "
                  "`systemd-inhibit --list`, or reboot it",
                  InWords(reboot_patience_))});
}

void Agent::Do(const effect::WatchHealth& watch) {
  watch.after.count() == 0 ? AskWhetherWell() : health_again_.After(watch.after);
}

void Agent::AskWhetherWell() {
  worker_->Run<Result<std::vector<std::string>>>(
      [settings = health_](const host::ThisMachine& machine, const std::stop_token& stop) {
        return FindHealthProblems(machine.host().systemd, machine.root(), settings, stop);
      },
      [this](const Result<std::vector<std::string>>& problems) { JudgeHealth(problems); });
}

void Agent::JudgeHealth(const Result<std::vector<std::string>>& problems) {
  const auto* confirming = std::get_if<phase::Confirming>(&state_.phase);
  // FindHealthProblems() fails only if the agent is about to end.
  if (confirming == nullptr || !problems) return;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Monotonic() - confirming->since);
  const HealthVerdict verdict = Judge(*problems, confirming->rounds + 1, passed, health_.limit);
  if (std::holds_alternative<Well>(verdict)) return Happen(happened::Well{});
  if (const auto* is_unwell = std::get_if<Unwell>(&verdict)) return Happen(happened::Unwell{is_unwell->why});
  publisher_.SetDoing(fmt::format("{}: {}", DoingIn(state_.phase), problems->front()));
  Happen(happened::NotYetWell{std::get<AskAgain>(verdict).after});
}

void Agent::Do(const effect::ReportWaiting&) { publisher_.SetState(host::AgentState::kWorking, ""); }

void Agent::Do(const effect::ReportSettled& settled) {
  source_->ReportSettled(settled.goal);
  FindIrreconcilable(settled.goal);
  publisher_.SetUpdate(settled.goal.config);
  publisher_.SetState(host::AgentState::kDone, "");
}

void Agent::InstallServerAuthorities(std::string bundle, std::function<void(Result<>)> done) {
  using Changed = Result<std::vector<std::string>>;
  worker_->Run<Changed>(
      [kubeconfig = settings_.kubeconfig, bundle = std::move(bundle)](const host::ThisMachine& machine,
                                                                      const std::stop_token&) {
        return agent::InstallServerAuthorities(machine.host(), kubeconfig, bundle);
      },
      [done = std::move(done)](const Changed& changed) {
        if (!changed) return done(changed.error());
        for (const std::string& path : *changed) {
          log::Notice(fmt::format("{} has the API server's new authorities", path), kFileWritten);
        }
        done({});
      });
}

void Agent::ReportStaging(const StagingReport& report) {
  source_->ReportStaging(report);
  std::vector<std::string> texts;
  if (report.how == StagingReport::How::kUnstageable) {
    texts.push_back(fmt::format("cannot stage {}: {}", TargetText(report.goal), report.why));
  }
  Warn(Warnings::Origin::kStaging, std::move(texts));
}

// The comparison reads two whole configs, so it is not repeated for the same goal.
void Agent::FindIrreconcilable(const Goal& goal) {
  if (compared_with_installation_ == goal) return;
  compared_with_installation_ = goal;
  using Changes = Result<std::optional<std::vector<plan::IrreconcilableChange>>>;
  worker_->Run<Changes>(
      [](const host::ThisMachine& machine, const std::stop_token&) { return CompareWithInstallation(machine.root()); },
      [this](const Changes& changes) {
        if (!changes) return log::Warning(changes.error().message(), kTrouble);
        if (*changes) source_->ReportIrreconcilable(**changes);
        idle_.After(kIdle);
      });
}

void Agent::Do(const effect::ReportFault& fault) {
  const bool is_news = !publisher_.HasReason(fault.text);
  source_->ReportFault(fault.fault, fault.text);
  // An unusable config is logged when the source reports it.
  if (is_news && fault.fault != Fault::kUnusable) log::Error(fault.text, kDegraded);
  publisher_.SetState(
      fault.fault == Fault::kUnreconcilable ? host::AgentState::kUnreconcilable : host::AgentState::kDegraded,
      fault.text);
}

void Agent::Do(const effect::ForgetRejection&) {
  const auto forgotten = change::KeepRejected(machine_->root(), std::nullopt);
  if (!forgotten) log::Warning(forgotten.error().message(), kTrouble);
}

void Agent::Do(const effect::RetryLater& later) {
  const auto delay = RetryDelay(later.attempts);
  retry_.After(delay);
  publisher_.SetNext(fmt::format("retry at {}", ToRfc3339(clock_.Wall() + delay)));
}

// ---- watching -------------------------------------------------------------------------------------------------------

void Agent::WatchFor(std::vector<std::string> paths) {
  for (const char* path : {kForceFile, change::kCurrentConfig, change::kIgnored}) paths.emplace_back(path);
  if (drift_ && paths == paths_) return;
  paths_ = paths;
  drift_.reset();
  auto watch = DriftWatch::Create(loop_, machine_->root(), std::move(paths), [this] {
    Warn(Warnings::Origin::kDriftWatch, WarningsOf(*drift_));
    NoticeSoon();
  });
  if (!watch) return Warn(Warnings::Origin::kDriftWatch, {watch.error().message()});
  drift_ = *std::move(watch);
  if (drift_->is_armed()) Warn(Warnings::Origin::kDriftWatch, {});
  // Another look finds changes that were made between the previous look and the start of the watch.
  loop_.Post([this, weak = std::weak_ptr(alive_)] {
    if (!weak.expired()) Happen(happened::Noticed{});
  });
}

}  // namespace pintle::agent
