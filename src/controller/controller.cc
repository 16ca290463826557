// SPDX-License-Identifier: Apache-2.0
#include "controller/controller.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "base/memory.h"
#include "clusterops/cluster_operator.h"
#include "controller/controller_parts.h"
#include "controller/default_pools.h"
#include "controller/events.h"
#include "controller/files_wait.h"
#include "controller/metric_values.h"
#include "controller/pause_condition.h"
#include "controller/pool_members.h"
#include "controller/reasons.h"

namespace pintle::controller {
namespace {

constexpr const char* kLeaseName = "machine-config-controller";
// The lease of the Machine Config Operator itself, which makes the ControllerConfig and reports in the ClusterOperator.
constexpr const char* kOperatorLeaseName = "machine-config";
// The components of our events.  They have the names of the Machine Config Operator's parts, since people and tools
// filter events by these names.
constexpr const char* kNodeComponent = "machineconfigcontroller-nodecontroller";
constexpr const char* kRenderComponent = "machineconfigcontroller-rendercontroller";
constexpr const char* kKubeletComponent = "machineconfigcontroller-kubeletconfigcontroller";
constexpr const char* kOperatorComponent = "machineconfigoperator";

// Changes within this time are handled by one look.
constexpr auto kSoon = std::chrono::milliseconds(100);
constexpr event::Slack kSoonSlack = kSoon / 4;
// If something is awaited that no watch reports, the next look comes after this time.
constexpr auto kLater = std::chrono::seconds(10);
// So long after a change, the memory is released that lists and configs needed only briefly.
constexpr auto kBetweenReleases = std::chrono::seconds(3);

constexpr auto kReportedAnnotations = std::to_array<std::string_view>(
    {api::kCurrentConfigAnnotation, api::kDesiredConfigAnnotation, api::kStateAnnotation, api::kReasonAnnotation,
     api::kCurrentImageAnnotation, api::kDesiredImageAnnotation});

}  // namespace

Controller::Controller(event::Loop& loop, kube::Client client, const Clock& clock, ControllerSettings settings)
    : loop_(loop),
      client_(std::move(client)),
      clock_(clock),
      settings_(std::move(settings)),
      began_(clock.Wall()),
      node_events_(client_, clock, settings_.namespace_name, kNodeComponent,
                   [this](const Error& error) { Complain("posting Events", error); }),
      render_events_(client_, clock, settings_.namespace_name, kRenderComponent,
                     [this](const Error& error) { Complain("posting Events", error); }),
      kubelet_events_(client_, clock, settings_.namespace_name, kKubeletComponent,
                      [this](const Error& error) { Complain("posting Events", error); }),
      operator_events_(client_, clock, settings_.namespace_name, kOperatorComponent,
                       [this](const Error& error) { Complain("posting Events", error); }),
      soon_(
          loop, [this] { Look(); }, kSoonSlack),
      later_(loop, [this] { Look(); }),
      release_memory_(loop, [] { ReleaseIdleMemory(); }),
      cluster_(
          client_, settings_.namespace_name,
          {.changed = [this] { LookSoon(); },
           .node_changed = [this](const api::Node& before, const api::Node& now) { ReportMasterChange(before, now); },
           .trouble = [this](std::string_view kind,
                             const Error& error) { Complain(fmt::format("watching {}", kind), error); }}),
      generator_(
          settings_.templates.empty()
              ? nullptr
              : std::make_unique<Generator>(
                    loop, client_, clock, cluster_, kubelet_events_, settings_.templates, settings_.versions,
                    Generator::Listener{
                        .changed = [this] { LookSoon(); },
                        .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
                        .trouble = [this](const std::string& action, const Error& error) { Complain(action, error); },
                    })),
      reports_(settings_.is_operator ? std::make_unique<OperatorReports>(
                                           client_, clock, cluster_, operator_events_, settings_.versions,
                                           OperatorReports::Listener{
                                               .changed = [this] { LookSoon(); },
                                               .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
                                               .trouble = [this](const std::string& action,
                                                                 const Error& error) { Complain(action, error); },
                                           })
                                     : nullptr),
      renderer_(
          loop, client_, clock, cluster_, render_events_, settings_.versions, settings_.webhook.has_value(),
          {.finished = [this] { LookSoon(); },
           .retargeted = [this](const std::string& pool) { synced_[std::string(kRenderPart)][pool] = clock_.Wall(); },
           .retry_later = [this] { LookLater(); },
           .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
           .trouble = [this](const Error& error) { Complain("rendering", error); }}),
      writer_(client_, clock, cluster_, node_events_,
              {.done = [this] { LookSoon(); },
               .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
               .trouble = [this](const Error& error) { Complain("writing", error); }}),
      library_(client_, clock,
               {.changed = [this] { LookSoon(); },
                .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
                .trouble = [this](const std::string& action, const Error& error) { Complain(action, error); }}),
      policies_(loop, client_, clock, cluster_, node_events_, settings_.gate_peers,
                {.changed = [this] { LookSoon(); },
                 .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
                 .trouble = [this](const std::string& action, const Error& error) { Complain(action, error); }}),
      notifier_(settings_.webhook
                    ? std::make_unique<Notifier>(
                          loop, clock, *settings_.webhook,
                          NoticeQueue::Listener{
                              .counted = [this] { on_change_(); },
                              .trouble = [this](const Error& error) { Complain("sending notices", error); },
                          })
                    : nullptr),
      next_pause_change_(loop, [this] { LookSoon(); }),
      fresh_reads_(loop, client_, cluster_,
                   {.pools_read = [this] { Lead(); },
                    .changed = [this] { LookSoon(); },
                    .trouble = [this](const std::string& action, const Error& error) { Complain(action, error); }}),
      forecaster_(loop, client_, clock),
      forecasts_([this](const std::string& node, std::span<const api::Node* const> nodes,
                        DrainForecasts::Answer answer) { return forecaster_.Ask(node, nodes, std::move(answer)); },
                 clock,
                 {.changed = [this] { LookSoon(); },
                  .hopeless = [this](const std::string& node, const std::string& pool,
                                     const std::string& why) { ReportHopelessDrain(node, pool, why); },
                  .trouble = [this](const std::string& node,
                                    const Error& error) { Complain("forecasting the drain of " + node, error); }}),
      drain_watch_({.changed = [this](const api::Node& node,
                                      const drain::Settings& times) { drains_->NodeChanged(node, times); },
                    .gone = [this](const std::string& node) { drains_->NodeGone(node); },
                    .trouble =
                        [](const std::string& pool, const Error& error) {
                          log::Warning(error.message() + "; the default is used", kTrouble, {{"PINTLE_POOL", pool}});
                        }}),
      upkeep_(client_, clock, cluster_, settings_.kept_configs,
              {.done = [this] { LookSoon(); },
               .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
               .trouble = [this](const std::string& action, const Error& error) { Complain(action, error); }}),
      lease_(client_,
             {.name = {settings_.namespace_name, kLeaseName},
              .identity = settings_.identity,
              .times = settings_.lease,
              .offer = kTakeoverOffer},
             {.won = [this] { PrepareToLead(); },
              .lost = [this] { StopLeading(); },
              .trouble = [this](const Error& error) { Complain("the lease", error); },
              .holder_changed = [this] { on_change_(); }}) {}

Controller::~Controller() = default;

// ---- leading ----

void Controller::PrepareToLead() {
  log::Notice(fmt::format("{} leads now", settings_.identity), kLeadership);
  fresh_reads_.Begin();
}

void Controller::Lead() {
  is_leading_ = true;
  drains_ =
      std::make_unique<DrainController>(DrainController::Parts{.loop = loop_,
                                                               .clock = clock_,
                                                               .announcer = node_events_,
                                                               .forecaster = forecaster_,
                                                               .all_nodes = [this] { return cluster_.Look().nodes; }},
                                        client_);
  // A release that is still under way would give back the lease for which this replica competes now.
  released_lease_.reset();
  if (settings_.is_operator) {
    operator_lease_ = std::make_unique<kube::Lease>(
        client_,
        kube::Lease::Settings{.name = {settings_.namespace_name, kOperatorLeaseName},
                              .identity = settings_.identity,
                              .times = settings_.lease,
                              .offer = kTakeoverOffer},
        kube::Lease::Listener{.won = [this] { ActAsOperator(); },
                              .lost = [this] { StopActingAsOperator(); },
                              .trouble = [this](const Error& error) { Complain("the operator's lease", error); }});
  }
  on_change_();
  LookSoon();
}

void Controller::ActAsOperator() {
  log::Notice(fmt::format("{} acts as the operator now", settings_.identity), kLeadership);
  reconciler_ = std::make_unique<OperatorReconciler>(
      client_, clock_,
      OperatorReconcilerSettings{.namespace_name = settings_.namespace_name,
                                 .release = settings_.release,
                                 .features = settings_.features,
                                 .token_keys_file = settings_.token_keys_file},
      OperatorReconciler::Listener{
          .changed = [this] { LookSoon(); },
          .retry_at = [this](MonotonicTime when) { ScheduleLook(when); },
          .trouble = [this](const std::string& action, const Error& error) { Complain(action, error); },
      });
  LookSoon();
}

void Controller::StopActingAsOperator() {
  if (!reconciler_) return;
  log::Warning(fmt::format("{} no longer acts as the operator", settings_.identity), kLeadership);
  reconciler_.reset();
  reports_->Stop();
}

void Controller::LookAsOperator(const View& view) {
  const std::optional<bool> is_installing = reports_->IsInstalling(view);
  if (!is_installing.has_value()) return;  // It is not known yet whether a release is being installed.
  reconciler_->Look(view, *is_installing);
  auto failures = reconciler_->Failures();
  if (const std::string why = generator_ ? generator_->FailureText() : ""; !why.empty()) {
    AddReason(why, failures[std::string(clusterops::kMachineConfigControllerTask)]);
  }
  reports_->SetFailuresOfOthers(std::move(failures),
                                view.controller_config == nullptr ? reconciler_->ExpectedRelease() : "");
}

void Controller::StopLeading() {
  log::Warning(fmt::format("{} no longer leads", settings_.identity), kLeadership);
  is_leading_ = false;
  StopActingAsOperator();
  ReleaseOperatorLease();
  fresh_reads_.Stop();
  upkeep_.Stop();
  if (generator_) generator_->Stop();
  renderer_.Stop();
  writer_.Stop();
  library_.Clear();
  pauses_.Clear();
  policies_.Stop();
  if (notifier_) notifier_->Stop();
  forecasts_.Clear();
  drains_.reset();
  drain_watch_.Clear();
  drain_needs_.Clear();
  strays_.clear();
  synced_.clear();
  on_change_();
}

// The next leader also acts as the operator.  If the operator's lease were not released, the next leader would have to
// wait until the lease expires.
void Controller::ReleaseOperatorLease() {
  if (!operator_lease_) return;
  released_lease_ = std::move(operator_lease_);
  released_lease_->Release([this](const Result<>& released) {
    if (!released) Complain("releasing the operator's lease", released.error());
  });
}

void Controller::Release(std::function<void()> done) {
  // StopLeading() would release the operator's lease without waiting for the end of the release.
  auto operator_lease = std::move(operator_lease_);
  if (is_leading_) StopLeading();
  fresh_reads_.Stop();
  const auto release = [this, done = std::move(done)] {
    lease_.Release([this, done](const Result<>& released) {
      if (!released) Complain("releasing the lease", released.error());
      done();
    });
  };
  if (!operator_lease) return release();
  // The next leader also acts as the operator, so the operator's lease is released first.
  operator_lease_ = std::move(operator_lease);
  operator_lease_->Release([this, release](const Result<>& released) {
    if (!released) Complain("releasing the operator's lease", released.error());
    release();
  });
}

// ---- looking ----

void Controller::LookSoon() {
  if (!soon_.armed()) soon_.After(kSoon);
}

void Controller::LookLater() { ScheduleLook(clock_.Monotonic() + kLater); }

void Controller::ScheduleLook(MonotonicTime when) {
  if (later_.armed() && later_due_ <= when) return;
  later_due_ = when;
  later_.At(when);
}

api::Time Controller::Now() const { return {std::chrono::floor<std::chrono::seconds>(clock_.Wall())}; }

void Controller::Look() {
  fresh_reads_.Look();
  if (!cluster_.CanRender()) return ReportUnreadInputs();
  if (!release_memory_.armed()) release_memory_.After(kBetweenReleases);
  if (cluster_.is_ready()) on_change_();
  if (!is_leading_) return;
  View view = cluster_.Look();
  upkeep_.MakePools(view);
  if (generator_) generator_->Look(view);
  if (reconciler_) LookAsOperator(view);
  // Nothing is rendered while configs are being generated: a pool would be rendered for each of these configs, and its
  // nodes would be updated each time.
  if (!generator_ || !generator_->is_busy()) {
    const bool has_templates = generator_ && generator_->has_templates();
    renderer_.Look(view, has_templates ? TemplatesMaker::kThisController : TemplatesMaker::kUnknown);
  } else if (const std::string why = generator_->WhyNotReady(); !why.empty()) {
    renderer_.Refuse(view, why);
  }
  upkeep_.KeepRenderedConfigs(view);
  if (!cluster_.is_ready() || !fresh_reads_.is_complete()) return ReportUnread(view);
  upkeep_.CollectGarbage(view, renderer_.rendering());
  if (reconciler_) reports_->Look(view);
  Roll(std::move(view));
}

void Controller::ReportUnreadInputs() {
  if (!is_leading_ || !cluster_.pools().is_ready()) return;
  WriteWhyUnread(cluster_.Look(), cluster_.WhyUnread());
}

void Controller::ReportUnread(const View& view) {
  const std::string why = cluster_.is_ready() ? fresh_reads_.error() : cluster_.WhyUnread();
  if (why.empty()) return;
  if (reconciler_) reports_->LookInPart(view, why);
  WriteWhyUnread(view, why);
}

void Controller::WriteWhyUnread(const View& view, const std::string& why) {
  if (why.empty()) return;
  const pool::PoolNames skipped = BusyPools();
  Changes changes = RolloutPass({.view = view,
                                 .members = {},
                                 .verdicts = renderer_.verdicts(),
                                 .skipped = skipped,
                                 .undrainable = {},
                                 .features = settings_.features,
                                 .now = Now(),
                                 .why_unread = why});
  writer_.RemovePostponed(changes);
  if (!changes.is_empty()) writer_.Write(std::move(changes));
}

void Controller::Roll(View view) {
  const PoolMembers members = MakePoolMembers(view);
  drain_watch_.Look(view, members);
  ReportStrays(view, members);
  const UnwrittenNodes unwritten = writer_.Look();

  std::set<std::string> wanted_configs = pauses_.ConfigsToCompare(view, members);
  policies_.Look(view);
  wanted_configs.merge(policies_.ConfigsToCompare(view, members));
  wanted_configs.merge(drain_needs_.ConfigsToCompare());
  library_.Want(wanted_configs);
  const WallTime now = clock_.Wall();
  pauses_.Look(
      view, members, library_.configs(), [this](const std::string& name) { return library_.IsFetchDone(name); }, now);
  ScheduleNextPauseChange(view, now);

  pool::PoolNames skipped = BusyPools();
  for (const api::MachineConfigPool* pool : view.pools) {
    if (pauses_.IsUnknown(pool->metadata.name)) skipped.insert(pool->metadata.name);
  }
  const std::deque<api::MachineConfigPool> passing = UnpausePassingPools(view);
  const PoolPolicies& policies = policies_.ForPass(view, members, library_.configs());
  const auto decide = [&](const pool::NodeNames* awaited) {
    return RolloutPass({.view = view,
                        .members = members,
                        .verdicts = renderer_.verdicts(),
                        .skipped = skipped,
                        .undrainable = forecasts_.undrainable(),
                        .features = settings_.features,
                        .now = Now(),
                        .addition =
                            [&](const api::MachineConfigPool& pool, api::MachineConfigPoolStatus& status) {
                              const PauseReport* const report = pauses_.ReportOf(pool.metadata.name);
                              if (report != nullptr) SetPausedPending(*report, now, status.conditions);
                            },
                        .awaited = awaited,
                        .unwritten = unwritten,
                        .policies = &policies});
  };
  Changes changes = decide(nullptr);
  const pool::NodeNames awaited = AwaitDrains(changes, view, std::move(wanted_configs));
  if (!awaited.empty()) {
    changes = decide(&awaited);
    LookLater();  // The nodes wait for a limited time only.
  }
  if (notifier_) {
    notifier_->Look(NoticesOf({.view = view,
                               .members = members,
                               .policies = policies,
                               .pause_of = [this](const std::string& pool) { return pauses_.ReportOf(pool); },
                               .now = now}));
  }
  policies_.Write(view, changes.policies);
  writer_.RemovePostponed(changes);
  for (const NodeChange& change : changes.nodes) {
    if (!change.target_text.empty()) synced_[std::string(kNodePart)][change.pool] = now;
  }
  if (!changes.is_empty()) writer_.Write(std::move(changes));
}

void Controller::ScheduleNextPauseChange(const View& view, WallTime now) {
  auto next = pauses_.NextChange(now);
  // Nodes of a strictly paused pool hold files back because of an annotation (files_wait.h).  The annotation expires,
  // so it has to be renewed in time.
  if (std::any_of(view.pools.begin(), view.pools.end(), [](const auto* pool) { return IsStrictlyPaused(*pool); })) {
    next = std::min(next.value_or(WallTime::max()), now + kFilesWaitRenewedAfter);
  }
  if (next) next_pause_change_.At(*next);
}

std::deque<api::MachineConfigPool> Controller::UnpausePassingPools(View& view) const {
  std::deque<api::MachineConfigPool> passing;  // Unlike a vector, a deque does not move its elements when it grows.
  for (const api::MachineConfigPool*& pool : view.pools) {
    const PauseReport* const report = pauses_.ReportOf(pool->metadata.name);
    if (report == nullptr || !report->passes) continue;
    pool = &passing.emplace_back(*pool);
    passing.back().spec.paused = false;
  }
  return passing;
}

// The renderer and the writer trigger another look when they are done.
pool::PoolNames Controller::BusyPools() const {
  pool::PoolNames pools = writer_.BusyPools();
  // No master may be updated while an arbiter is unavailable, and arbiters wait for masters.  So if one of the two
  // pools is busy, the other one is skipped as well.
  const std::string linked[] = {std::string(api::kMasterPool), std::string(api::kArbiterPool)};
  if (pools.contains(linked[0]) || pools.contains(linked[1])) pools.insert(std::begin(linked), std::end(linked));
  pools.merge(renderer_.rendering());
  return pools;
}

pool::NodeNames Controller::AwaitDrains(const Changes& changes, const View& view,
                                        std::set<std::string> wanted_configs) {
  drain_needs_.Look(changes, view);
  wanted_configs.merge(drain_needs_.ConfigsToCompare());
  library_.Want(wanted_configs);
  const bool goes_on = drain_needs_.Decide(view, library_.configs(),
                                           [&](const std::string& name) { return library_.IsFetchDone(name); });
  if (goes_on) LookSoon();
  return forecasts_.Await(changes, drain_needs_.NodesToDrain(changes, view), view.nodes);
}

void Controller::ReportStrays(const View& view, const PoolMembers& members) {
  if (!MissingPools(view).empty()) return;  // These pools are being created.
  std::set<std::string> strays;
  for (const api::Node* node : members.in_no_pool) {
    const std::string& name = node->metadata.name;
    strays.insert(name);
    if (strays_.contains(name)) continue;
    const std::string message = fmt::format(
        "Node {} is in no MachineConfigPool and gets no configuration: no pool's nodeSelector matches its labels. Give "
        "it the label of a pool, such as {}worker=, or change a selector",
        name, api::kRoleLabelPrefix);
    log::Warning(message, kTrouble, {{"PINTLE_NODE", name}});
    node_events_.Emit(*node, kube::EventKind::kWarning, "InNoPool", message);
  }
  strays_ = std::move(strays);
}

void Controller::ReportHopelessDrain(const std::string& node, const std::string& pool_name, const std::string& why) {
  const api::MachineConfigPool* const pool = cluster_.pools().Find(pool_name);
  const std::string message =
      fmt::format("Node {} is updated after the others, as it cannot be drained now: {}", node, why);
  log::Warning(message, kNodeRollout, {{"PINTLE_POOL", pool_name}, {"PINTLE_NODE", node}});
  if (pool != nullptr) node_events_.Emit(*pool, kube::EventKind::kWarning, "DrainForecast", message);
}

Metrics Controller::CurrentMetrics() const {
  Metrics metrics;
  metrics.now = clock_.Wall();
  // A leader that cannot read the whole cluster updates no node, so the metrics do not report it as leading.
  metrics.leads = is_leading_ && is_ready();
  const std::string holder = lease_.OtherHolder();
  metrics.other_program_leads = !holder.empty() && !holder.starts_with(kIdentityPrefix);
  if (notifier_) metrics.notices = notifier_->counts();
  if (!metrics.leads) return metrics;
  const View view = cluster_.Look();
  const PoolMembers members = MakePoolMembers(view);
  metrics.pools = MetricValuesOf(view, members, renderer_.image_overridden(),
                                 [this](const std::string& pool) { return pauses_.ReportOf(pool); });
  metrics.pool_alerts = MastersInCustomPools(members);
  metrics.allows_old_boot_images = AllowsOldBootImages(view);
  metrics.drain_errors = drains_->errors();
  if (reconciler_ && reports_->is_served()) {
    metrics.operator_tasks = OperatorTasksOf(reports_->failed_tasks());
    metrics.certificate_expiries = reconciler_->CertificateExpiries();
  }
  metrics.sub_controllers = SubControllerStates(view);
  return metrics;
}

std::vector<SubControllerState> Controller::SubControllerStates(const View& view) const {
  std::vector<SubControllerState> states;
  for (const auto& [part, pools] : synced_) {
    const bool renders = part == kRenderPart;
    for (const auto& [pool, at] : pools) {
      if (view.PoolNamed(pool) == nullptr) continue;
      states.push_back({.sub_controller = part,
                        .state = renders ? "Sync Machine Config Pool with new MC" : "Sync Machine Config Pool",
                        .object = pool,
                        .at = at});
    }
  }
  if (generator_) {
    for (SubControllerState& state : generator_->States(view)) states.push_back(std::move(state));
  } else {
    states.push_back({.sub_controller = std::string(kTemplatePart),
                      .state = kWithoutTemplates,
                      .object = std::string(api::kControllerConfigName),
                      .at = began_});
  }
  for (const auto& [node, answer] : drains_->answered()) {
    states.push_back({.sub_controller = std::string(kDrainPart),
                      .state = answer.verb == drain::Verb::kDrain ? "drain" : "uncordon",
                      .object = node,
                      .at = answer.at});
  }
  return states;
}

// People follow an update of the control plane by these events.
void Controller::ReportMasterChange(const api::Node& before, const api::Node& now) {
  if (!is_leading_ || api::Find(now.metadata.labels, api::kMasterRoleLabel) == nullptr) return;
  const api::MachineConfigPool* const pool = cluster_.pools().Find(std::string(api::kMasterPool));
  if (pool == nullptr) return;
  for (const std::string_view key : kReportedAnnotations) {
    const std::string* const was = api::Find(before.metadata.annotations, key);
    const std::string* const is = api::Find(now.metadata.annotations, key);
    if ((was == nullptr) == (is == nullptr) && (is == nullptr || *was == *is)) continue;
    node_events_.Emit(*pool, kube::EventKind::kNormal, "AnnotationChange",
                      is == nullptr ? fmt::format("Node {} no longer has {}", now.metadata.name, key)
                                    : fmt::format("Node {} now has {}={}", now.metadata.name, key, *is));
  }
}

void Controller::Complain(const std::string& action, const Error& error) {
  if (!complaints_.ShouldLog(action, error.message(), clock_.Monotonic())) return;
  log::Warning(fmt::format("{}: {}", action, error.message()), kTrouble);
}

}  // namespace pintle::controller
