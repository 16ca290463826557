// SPDX-License-Identifier: Apache-2.0
#include "agent/local_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/inotify.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/config_directory.h"
#include "agent/events.h"
#include "base/log.h"
#include "change/local_configs.h"
#include "change/others_access.h"
#include "host/pause.h"
#include "machineconfig/machine_configuration_input.h"
#include "plan/actions.h"

namespace pintle::agent {
namespace {

// Several files often change together, and each of them in several steps.  So rendering waits until nothing has changed
// for this long, but no longer than kMostPatience.
constexpr auto kQuiet = std::chrono::milliseconds(300);
constexpr auto kMostPatience = std::chrono::seconds(3);
// A rendering may begin this much later than planned.
constexpr event::Slack kRenderSlack = std::chrono::milliseconds(20);
// Unusable configs are read again even without a reported change, after a delay that doubles from kFirstAgain up to
// kLongestAgain.
constexpr std::chrono::seconds kFirstAgain{1};
constexpr std::chrono::seconds kLongestAgain{60};
// The clock may be set while a change waits for a window or a gate, so it is read again after this time.
constexpr std::chrono::seconds kClockAgain{60};

constexpr std::uint32_t kAnyChange = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE |
                                     IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK;

// The prefix of the names of configs that were rendered from files on the machine.
constexpr std::string_view kRenderedLocally = "rendered-local-";

// The goal of a machine without a config.
const Goal kEmptyGoal{std::string(change::kNoConfig)};

std::string ActionsText(const plan::Plan& plan) {
  std::vector<std::string> actions;
  for (const plan::Action& action : plan.actions) {
    const std::string_view service = plan::ServiceOf(action.what);
    actions.push_back(fmt::format("{}{}{}", action.what.type, service.empty() ? "" : " ", service));
  }
  return actions.empty() ? "none" : fmt::format("{}", fmt::join(actions, ", "));
}

}  // namespace

Result<std::unique_ptr<LocalSource>> LocalSource::Create(event::Loop& loop, const Root& root, const Clock& clock,
                                                         LocalSettings settings) {
  std::unique_ptr<LocalSource> source(new LocalSource(loop, root, clock, std::move(settings)));
  source->worker_ = TRY(event::Worker::Create(loop));
  return source;
}

LocalSource::LocalSource(event::Loop& loop, const Root& root, const Clock& clock, LocalSettings settings)
    : loop_(loop),
      root_(root),
      clock_(clock),
      settings_(std::move(settings)),
      rollout_(LocalRollout()),
      present_(kEmptyGoal),
      render_(
          loop, [this] { Render(); }, kRenderSlack),
      announce_again_(loop, [this] { AnnounceGoal(); }),
      gates_(loop, clock, [this] { AnnounceGoal(); }) {}

void LocalSource::Begin(Listener listener) {
  listener_ = std::move(listener);
  Watch({});
  Render();
}

// ---- watching -------------------------------------------------------------------------------------------------------

// Watches `files`, the pause file, the policy file and the rollout file.  Also watches the way to the directory, since
// a part of it may be a link, may be made later or may be replaced.  DriftWatch watches the way to each path, so the
// path of any entry of the directory will do, even if the entry does not exist.
void LocalSource::Watch(std::vector<std::string> files) {
  link_targets_ = files;
  files.push_back(settings_.directory + "/configs");
  files.emplace_back(host::kPauseFile);
  if (!settings_.policy_file.empty()) files.push_back(settings_.policy_file);
  if (!settings_.rollout_file.empty()) files.push_back(settings_.rollout_file);
  auto watch = DriftWatch::Create(loop_, root_, std::move(files), [this] {
    AnnounceGoal();  // The pause may have ended.
    Warn();
    RenderSoon();
  });
  if (!watch) return log::Warning(watch.error().message(), kTrouble);
  watch_ = *std::move(watch);
}

void LocalSource::WatchDirectory() {
  unwatched_.reset();
  const auto opened = root_.OpenFile(settings_.directory, O_PATH | O_DIRECTORY);
  // watch_ reports when the directory is made.
  if (!opened) return directory_watch_.reset();
  auto watch = event::InotifyWatch::Create(loop_, *opened, kAnyChange, [this](const event::FileEvent& happening) {
    const auto* changed = std::get_if<event::FileChanged>(&happening);
    const bool is_not_config = changed != nullptr && !changed->name.empty() && !change::IsConfigName(changed->name);
    if (!is_not_config) RenderSoon();
  });
  if (watch) {
    directory_watch_ = *std::move(watch);
  } else {
    unwatched_ = std::move(watch).error();
  }
}

void LocalSource::RenderSoon() {
  last_change_ = clock_.Monotonic();
  if (!first_change_) first_change_ = last_change_;
  if (!first_unrendered_change_) first_unrendered_change_ = last_change_;
  // If a rendering is under way, Take() plans the next one.
  if (!is_rendering_) PlanRendering();
}

// Renders when the files have not changed for kQuiet.  If they keep changing, renders kMostPatience after the first
// change.  After an expensive rendering, the next one waits for pace_ as well.
void LocalSource::PlanRendering() {
  render_.At(std::max(std::min(*last_change_ + kQuiet, *first_change_ + kMostPatience), pace_.next()));
}

// ---- rendering ------------------------------------------------------------------------------------------------------

void LocalSource::Render() {
  if (is_rendering_) return RenderSoon();
  first_change_.reset();
  is_rendering_ = true;
  WatchDirectory();
  const MonotonicTime began = clock_.Monotonic();
  worker_->Run<Snapshot>([&root = root_, settings = settings_](std::stop_token) { return ReadAll(root, settings); },
                         [this, began](Snapshot snapshot) {
                           is_rendering_ = false;
                           pace_.Took(began, clock_.Monotonic());
                           Take(std::move(snapshot));
                         });
}

LocalSource::Snapshot LocalSource::ReadAll(const Root& root, const LocalSettings& settings) {
  return {LinkTargets(settings), RenderAll(root, settings),
          settings.rollout_file.empty() ? LocalRollout() : ReadLocalRollout(settings.rollout_file)};
}

std::vector<std::string> LocalSource::LinkTargets(const LocalSettings& settings) {
  std::vector<std::string> targets = PlacesBehindLinks(settings.directory);
  for (const std::string& file : {settings.policy_file, settings.rollout_file}) {
    const std::vector<std::string> behind = PlacesBehindLink(file);
    targets.insert(targets.end(), behind.begin(), behind.end());
  }
  return targets;
}

Result<LocalSource::RenderedConfig> LocalSource::RenderAll(const Root& root, const LocalSettings& settings) {
  RenderedConfig rendered;
  rendered.current = TRY(CurrentGoal(root));
  // DirectoryExists() fails with kNotFound if even the parent directory is missing, because a file system may be
  // unmounted.  A machine without a config has no config to lose, so on such a machine this is not an error.
  const auto exists = DirectoryExists(settings.directory);
  const bool is_new = !exists && exists.error().kind() == ErrorKind::kNotFound && !rendered.current;
  ConfigDirectory read = is_new ? ConfigDirectory() : TRY(ReadConfigDirectory(settings.directory));
  rendered.has_directory = read.is_there;
  rendered.warnings = std::move(read.warnings);
  rendered.config = std::make_shared<const change::CurrentConfig>(TRY(change::RenderLocally(std::move(read.configs))));
  if (!settings.policy_file.empty()) {
    rendered.policy =
        TRY(machineconfig::ReadPolicy(settings.policy_file, machineconfig::Accepts::kFilesOnly), "PolicyFile=");
    TRY(plan::ExpectKnownActions(rendered.policy), "PolicyFile=" + settings.policy_file);
    TRY(change::CheckOnlyRootWrites(settings.policy_file));
  }
  return rendered;
}

void LocalSource::Take(Snapshot snapshot) {
  const MonotonicTime now = clock_.Monotonic();
  if (first_change_) PlanRendering();
  // If the files have changed since the rendering began, they may have been read while they were being written.  Then
  // this result is dropped, and the next rendering reads them again.  If they keep changing for kMostPatience, the
  // result is used all the same.
  if (first_change_ && now - *first_unrendered_change_ < kMostPatience) return;
  first_unrendered_change_ = first_change_;
  if (snapshot.link_targets != link_targets_) {
    Watch(std::move(snapshot.link_targets));
    RenderSoon();  // Changes before the watch began were not reported.
  }
  rollout_ = std::move(snapshot.rollout);
  Result<RenderedConfig>& rendered = snapshot.rendered;
  const std::string why = WhyUnusable(rendered);
  if (rendered) {
    rendered_ = *std::move(rendered);
    present_ = rendered_->current.value_or(kEmptyGoal);
  }
  // After a failure the files are read again after a delay, because no event reports that a missing file system was
  // mounted.
  again_in_ = why.empty() ? std::chrono::seconds(0) : std::min(std::max(2 * again_in_, kFirstAgain), kLongestAgain);
  if (!why.empty() && !render_.armed()) render_.After(again_in_);
  if (unwatched_ && !render_.armed()) render_.After(kWatchRetry);
  why_unusable_ = why;
  ReportUnusable();
  Warn();
  AnnounceGoal();
}

std::string LocalSource::WhyUnusable(const Result<RenderedConfig>& rendered) const {
  std::vector<std::string> reasons;
  if (!rendered) {
    reasons.push_back(fmt::format("the configs in {}: {}", settings_.directory, rendered.error().message()));
  }
  if (!rollout_) reasons.push_back(rollout_.error().message());
  return fmt::format("{}", fmt::join(reasons, "; "));
}

// A change that a gate has halted is reported like files that cannot be used: the machine keeps its config, and a
// person has to act.
void LocalSource::ReportUnusable() {
  const std::string& why = why_unusable_.empty() ? why_halted_ : why_unusable_;
  if (why == reported_why_unusable_) return;
  reported_why_unusable_ = why;
  listener_.unusable(why);
}

void LocalSource::Warn() {
  std::vector<std::string> warnings;
  if (rendered_ && why_unusable_.empty()) warnings = rendered_->warnings;
  const auto add = [&](const std::optional<Error>& error) {
    if (error) warnings.push_back(error->message());
  };
  add(unwatched_);
  if (watch_) add(watch_->problem());
  if (IsPaused())
    warnings.push_back(
        fmt::format("paused: nothing is changed while {} exists; `pintle resume` removes it", host::kPauseFile));
  if (warnings == warned_) return;
  warned_ = warnings;
  listener_.warned(std::move(warnings));
}

// If the pause file cannot be examined, the machine counts as paused.
bool LocalSource::IsPaused() const {
  const auto is_paused = host::IsPaused(root_);
  return !is_paused || *is_paused;
}

LocalSource::Obstacle LocalSource::ObstacleTo(const Goal& goal) {
  Obstacle obstacle;
  if (IsPaused()) {
    obstacle.why = "`pintle resume` ends the pause";
  } else if (!rollout_) {
    obstacle.why = rollout_.error().message();
  } else {
    const WallTime now = clock_.Wall();
    obstacle.why = rollout_->WhyClosed(now);
    if (!obstacle.why.empty()) obstacle.again = rollout_->windows.Next(now).begin;
  }
  if (obstacle.why.empty()) return ObstacleOfGates(goal);
  // The timeouts of gates run only while nothing but the gates holds the change back.
  gates_.Forget();
  return obstacle;
}

LocalSource::Obstacle LocalSource::ObstacleOfGates(const Goal& goal) {
  if (rollout_->gates.empty()) {
    gates_.Forget();
    return {};
  }
  GateVerdict verdict = gates_.Judge(goal, rollout_->gates);
  if (verdict.why.empty() && !verdict.unmet.empty() && std::exchange(unmet_gates_, verdict.unmet) != verdict.unmet) {
    log::Warning(fmt::format("the change to {} begins although {}", goal.config, verdict.unmet), kTrouble);
  }
  return {.why = std::move(verdict.why), .is_halt = verdict.is_halted, .again = verdict.again};
}

// Returns whether a goal has to be announced.  After the first announcement, a goal is announced if it differs from the
// last one.  The first goal is announced if the directory exists, or if the machine's config was rendered from files on
// the machine.  Otherwise the empty goal of a missing directory would remove a config that came from a cluster.
bool LocalSource::IsNews(const Goal& goal) const {
  if (announced_) return *announced_ != goal;
  const auto& current = rendered_->current;
  return rendered_->has_directory || (current && current->config.starts_with(kRenderedLocally));
}

void LocalSource::AnnounceGoal() {
  if (!rendered_ || !why_unusable_.empty()) return AnswerFetch();
  const Goal goal = GoalOf(*rendered_->config);
  const bool is_news = IsNews(goal);
  // The machine may have the goal already, for instance because a person has applied it with `pintle apply`.
  if (is_news && goal != present_) {
    const Obstacle obstacle = ObstacleTo(goal);
    if (!obstacle.why.empty()) return Hold(goal, obstacle);
    is_change_due_ = true;
  }
  if (is_news) {
    announced_ = goal;
    listener_.wanted(goal);
  }
  AnswerFetch();
}

void LocalSource::Hold(const Goal& goal, const Obstacle& obstacle) {
  ReportHeldChange(fmt::format("the change to {} waits: {}", goal.config, obstacle.why));
  why_halted_ = obstacle.is_halt ? fmt::format(
                                       "the change to {} is halted: {}; the change begins when the gate is met, or "
                                       "when you remove the gate from {}",
                                       goal.config, obstacle.why, settings_.rollout_file)
                                 : "";
  ReportUnusable();
  // No timer is needed during a pause, because the watch reports the end of the pause.
  if (IsPaused()) return;
  const WallTime::duration left = obstacle.again ? *obstacle.again - clock_.Wall() : kClockAgain;
  announce_again_.After(std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0),
                                   std::chrono::milliseconds(kClockAgain)));
}

// Reports that no change is held back any more.
void LocalSource::EndHold() {
  ReportHeldChange("");
  why_halted_.clear();
  ReportUnusable();
  if (pending_fetch_ || is_change_due_) return;
  // If the machine does not have the announced goal yet, the change is under way, or has failed and is tried again.
  // Then the timeouts of the gates do not begin again.  Otherwise no change is wanted any more, and the timeouts begin
  // again with the next change.
  const bool has_begun_change = announced_ && *announced_ != present_;
  has_begun_change ? gates_.StopAsking() : gates_.Forget();
}

// Must be called when the agent begins or gives up the change that it was given.  The gates are asked further only if
// another change waits for them.
void LocalSource::StopAskingGates() {
  is_change_due_ = false;
  if (held_change_.empty()) gates_.StopAsking();
}

void LocalSource::ReportHeldChange(const std::string& text) {
  if (text == held_change_) return;
  held_change_ = text;
  log::Info(text.empty() ? "no change is held back any more" : text);
  listener_.held(text);
}

// ---- fetching -------------------------------------------------------------------------------------------------------

void LocalSource::Fetch(const std::optional<Goal>& current, const Goal& wanted,
                        std::function<void(Result<SurveyRequest> request)> done) {
  pending_fetch_.reset();
  present_ = current.value_or(kEmptyGoal);
  if (present_ == wanted) {
    SurveyRequest request;
    if (rendered_) request.policy = rendered_->policy;
    return loop_.Post([done = std::move(done), request = std::move(request)] { done(request); });
  }
  pending_fetch_ = PendingFetch{wanted, std::move(done)};
  // If the files now have another goal than `wanted`, the agent gets that goal first.
  loop_.Post([this] { AnnounceGoal(); });
}

// Answers the pending Fetch(), if there is one, unless the machine must not be changed now.  So a change that was
// announced before a pause or within a window, and then failed, is not tried again until the machine may be changed.
void LocalSource::AnswerFetch() {
  if (pending_fetch_) {
    const Obstacle obstacle = ObstacleTo(pending_fetch_->wanted);
    if (!obstacle.why.empty()) return Hold(pending_fetch_->wanted, obstacle);
    is_change_due_ = true;
  }
  EndHold();
  if (!pending_fetch_) return;
  const PendingFetch fetch = *std::exchange(pending_fetch_, std::nullopt);
  if (rendered_ && GoalOf(*rendered_->config) == fetch.wanted) return fetch.done(RequestFor(fetch.wanted));
  fetch.done(Error(ErrorKind::kUnavailable, fmt::format("the files no longer render to {}", fetch.wanted.config)));
}

SurveyRequest LocalSource::RequestFor(const Goal& wanted) const {
  SurveyRequest request;
  request.wanted =
      ProvidedConfig{wanted, [config = rendered_->config]() -> Result<change::CurrentConfig> { return *config; }};
  request.policy = rendered_->policy;
  return request;
}

// No drain is needed, since no controller could move this machine's pods elsewhere.
void LocalSource::AskForDrain(const Goal&) {
  loop_.Post([this] { listener_.drained(); });
}

// ---- reports --------------------------------------------------------------------------------------------------------

void LocalSource::ReportWork(const Prepared& change) {
  log::Info(fmt::format("starting the change from {} to {}", GoalOf(change.from).config, GoalOf(change.to).config));
}

void LocalSource::ReportChanging(const Prepared& change) {
  StopAskingGates();
  log::Info(
      fmt::format("changing this machine to {}; actions: {}", GoalOf(change.to).config, ActionsText(change.plan)));
}

void LocalSource::ReportChanged(const Prepared& change, bool needs_reboot) {
  log::Info(fmt::format("{} is in place{}", GoalOf(change.to).config, needs_reboot ? ", and needs a reboot" : ""));
}

void LocalSource::ReportReboot(const std::string& why, std::function<void()> reported) {
  log::Info(why);
  loop_.Post(std::move(reported));
}

void LocalSource::ReportSettled(const Goal& goal) {
  present_ = goal;
  is_change_due_ = false;
  // While a change waits, the machine can settle with its present goal.
  if (held_change_.empty()) gates_.Forget();
  if (settled_ == goal) return;
  settled_ = goal;
  log::Info(goal == kEmptyGoal ? "this machine is as it was without a config"
                               : fmt::format("this machine is as {} wants it", goal.config));
}

// The agent logs the fault, and there is nowhere else to report it.  After a fault, ReportSettled() logs the goal even
// if it logged the same goal last.
void LocalSource::ReportFault(Fault fault, const std::string&) {
  settled_.reset();
  // A rejected goal is not tried again by itself.
  if (fault == Fault::kRejected) StopAskingGates();
}

}  // namespace pintle::agent
