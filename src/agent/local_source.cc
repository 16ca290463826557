// SPDX-License-Identifier: Apache-2.0
#include "agent/local_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/inotify.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "agent/events.h"
#include "base/log.h"
#include "change/local_configs.h"
#include "host/pause.h"
#include "machineconfig/machine_configuration_input.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;

// Files come together, and each in several steps.
constexpr auto kQuiet = std::chrono::milliseconds(300);
constexpr auto kMostPatience = std::chrono::seconds(3);
constexpr auto kWatchAgain = std::chrono::minutes(1);

constexpr std::uint32_t kAnyChange = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE |
                                     IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK;

const Goal kNothing{std::string(change::kNoConfig)};

// Where the links in a directory lead to; what happens there is not seen in it.
std::vector<std::string> FilesBehindLinks(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code none;
    if (!entry->is_symlink(none)) continue;
    const fs::path file = fs::canonical(entry->path(), none);
    if (!none) files.push_back(file);
  }
  return files;
}

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
      render_(
          loop, [this] { Render(); }, std::chrono::milliseconds(20)) {}

void LocalSource::Begin(Listener listener) {
  listener_ = std::move(listener);
  Watch({});
  Render();
}

// ---- what is watched ------------------------------------------------------------------------------------------------

// Any name stands for the directory, which may be a link, may be made later, and may be replaced.
void LocalSource::Watch(std::vector<std::string> files) {
  files_ = files;
  files.push_back(settings_.directory + "/configs");
  files.emplace_back(host::kPauseFile);
  if (!settings_.policy_file.empty()) files.push_back(settings_.policy_file);
  auto watch = DriftWatch::Create(loop_, root_, std::move(files), [this] {
    Tell();  // The pause may have ended.
    RenderSoon();
  });
  if (!watch) return log::Warning(watch.error().message(), kTrouble);
  watch_ = *std::move(watch);
}

void LocalSource::WatchDirectory() {
  const auto opened = root_.OpenFile(settings_.directory, O_PATH | O_DIRECTORY);
  // That there is none is seen where it would be.
  if (!opened) return directory_.reset();
  auto watch =
      event::InotifyWatch::Create(loop_, *opened, kAnyChange, [this](const event::FileHappening&) { RenderSoon(); });
  if (watch) {
    directory_ = *std::move(watch);
  } else {
    log::Warning(fmt::format("watching {}: {}", settings_.directory, watch.error().message()), kTrouble);
    render_.After(kWatchAgain);
  }
}

// When nothing has happened for a while, or something happens all the time.
void LocalSource::RenderSoon() {
  const MonotonicTime now = clock_.Monotonic();
  if (!first_change_) first_change_ = now;
  render_.At(std::min(now + kQuiet, *first_change_ + kMostPatience));
}

// ---- what the files say ---------------------------------------------------------------------------------------------

void LocalSource::Render() {
  first_change_.reset();
  WatchDirectory();
  worker_->Run<Result<Rendered>>(
      [&root = root_, settings = settings_](std::stop_token) { return RenderAll(root, settings); },
      [this](Result<Rendered> rendered) { Take(std::move(rendered)); });
}

Result<LocalSource::Rendered> LocalSource::RenderAll(const Root& root, const LocalSettings& settings) {
  Rendered rendered;
  rendered.current = TRY(CurrentGoal(root));
  std::error_code error;
  rendered.has_directory = fs::is_directory(settings.directory, error);
  std::vector<change::WrittenConfig> configs;
  if (rendered.has_directory) {
    configs = TRY(change::ReadWrittenConfigs({&settings.directory, 1}));
    rendered.files = FilesBehindLinks(settings.directory);
  }
  rendered.config = std::make_shared<const change::CurrentConfig>(TRY(change::RenderLocally(std::move(configs))));
  if (!settings.policy_file.empty()) rendered.policy = TRY(machineconfig::ReadPolicy(settings.policy_file));
  return rendered;
}

void LocalSource::Take(Result<Rendered> rendered) {
  // They were read while they were being written.
  if (first_change_) return;
  const std::string why =
      rendered ? "" : fmt::format("the configs in {}: {}", settings_.directory, rendered.error().message());
  if (rendered) {
    rendered_ = *std::move(rendered);
    if (rendered_->files != files_) Watch(rendered_->files);
  }
  if (why != unusable_) {
    unusable_ = why;
    listener_.unusable(why);
  }
  Tell();
}

bool LocalSource::IsPaused() const {
  const auto is_paused = host::IsPaused(root_);
  return !is_paused || *is_paused;
}

// Whoever has never said anything does not want what there is to be taken away either.
bool LocalSource::IsNews(const Goal& goal) const {
  if (told_) return *told_ != goal;
  return rendered_->has_directory || rendered_->current;
}

void LocalSource::Tell() {
  if (!rendered_ || !unusable_.empty()) return Answer();
  const Goal goal = GoalOf(*rendered_->config);
  const bool is_news = IsNews(goal);
  const bool changes = goal != told_.value_or(rendered_->current.value_or(kNothing));
  if (is_news && changes && IsPaused()) return Hold(fmt::format("the change to {}", goal.config));
  if (is_news) {
    told_ = goal;
    listener_.wanted(goal);
  }
  Answer();
}

void LocalSource::Hold(const std::string& what) {
  if (what == held_) return;
  held_ = what;
  log::Info(what.empty() ? "nothing waits for the end of a pause any more"
                         : fmt::format("paused: {} waits until {} is removed", what, host::kPauseFile));
  listener_.held(what);
}

// ---- what is asked of it --------------------------------------------------------------------------------------------

void LocalSource::Fetch(const std::optional<Goal>& current, const Goal& wanted,
                        std::function<void(Result<SurveyRequest> request)> done) {
  asked_.reset();
  if (current.value_or(kNothing) == wanted) {
    SurveyRequest request;
    if (rendered_) request.policy = rendered_->policy;
    return loop_.Post([done = std::move(done), request = std::move(request)] { done(request); });
  }
  asked_ = Asked{wanted, std::move(done)};
  loop_.Post([this] { Answer(); });
}

// What has been told before the pause began, and has failed, waits as well.
void LocalSource::Answer() {
  if (asked_ && IsPaused()) return Hold(fmt::format("the change to {}", asked_->wanted.config));
  Hold("");
  if (!asked_) return;
  const Asked asked = *std::exchange(asked_, std::nullopt);
  if (rendered_ && GoalOf(*rendered_->config) == asked.wanted) return asked.done(RequestFor(asked.wanted));
  asked.done(Error(ErrorKind::kUnavailable, fmt::format("{} is not what the configs say", asked.wanted.config)));
}

SurveyRequest LocalSource::RequestFor(const Goal& wanted) const {
  SurveyRequest request;
  request.wanted = Target{wanted, [config = rendered_->config]() -> Result<change::CurrentConfig> { return *config; }};
  request.policy = rendered_->policy;
  return request;
}

// There is nobody to take its pods.
void LocalSource::AskForDrain(const Goal&) {
  loop_.Post([this] { listener_.drained(); });
}

// ---- reports --------------------------------------------------------------------------------------------------------

void LocalSource::ReportWork(const Prepared& change) {
  log::Info(fmt::format("starting the change from {} to {}", GoalOf(change.from).config, GoalOf(change.to).config));
}

void LocalSource::ReportChanging(const Prepared& change) {
  log::Info(
      fmt::format("changing this machine to {}; actions: {}", GoalOf(change.to).config, ActionsText(change.plan)));
}

void LocalSource::ReportChanged(const Prepared& change, bool needs_reboot) {
  log::Info(fmt::format("{} is in place{}", GoalOf(change.to).config, needs_reboot ? ", and needs a reboot" : ""));
}

void LocalSource::ReportReboot(const std::string& why, std::function<void()> told) {
  log::Info(why);
  loop_.Post(std::move(told));
}

void LocalSource::ReportSettled(const Goal& goal) {
  if (settled_ == goal) return;
  settled_ = goal;
  log::Info(goal == kNothing ? "this machine is as it was without a config"
                             : fmt::format("this machine is as {} says", goal.config));
}

// The agent logs it, and there is nobody else to tell.
void LocalSource::ReportFault(Fault, const std::string&) { settled_.reset(); }

}  // namespace pintle::agent
