// SPDX-License-Identifier: Apache-2.0
#include "agent/observation.h"

#include <algorithm>
#include <utility>

#include "agent/initial_annotations.h"
#include "change/as_booted.h"
#include "change/image_mode.h"
#include "plan/plan.h"

namespace pintle::agent {
namespace {

// Returns whether a config has no files, no units and no users.  The first config of a new machine may be like this;
// then only the cluster has the whole config.
bool IsBare(const change::CurrentConfig& config) {
  const ignition::Config& ignition = config.ignition;
  return plan::PathsOf(ignition).empty() && ignition.systemd.units.empty() && ignition.passwd.users.empty();
}

class ObservationReader {
 public:
  ObservationReader(const host::Host& host, const SurveyRequest& request) : host_(host), request_(request) {}

  Result<Observation> Read() && {
    seen_.names_goal = request_.wanted.has_value();
    seen_.policy = request_.policy;
    seen_.overrides = request_.overrides;
    seen_.written_by_source = request_.written_by_source;
    seen_.pending = TRY(change::PendingOn(host_));
    if (seen_.pending != change::Pending::kNone) return std::move(seen_);
    seen_.abilities = host_;
    seen_.is_forced = TRY(host_.root.Status(kForceFile)).has_value();
    TRY(ReadCurrent());
    TRY(ReadFindings());
    TRY(ReadWanted());
    return std::move(seen_);
  }

 private:
  Result<> ReadCurrent() {
    seen_.is_new = TRY(IsNewToCluster(host_.root));
    seen_.current = TRY(change::ReadCurrentConfig(host_.root));
    const bool is_enough = !request_.assumed || !(seen_.is_new && IsBare(seen_.current));
    seen_.is_on_disk = !change::IsNoConfig(seen_.current.object) && is_enough;
    seen_.is_assumed = !seen_.is_on_disk && request_.assumed.has_value();
    if (seen_.is_assumed) seen_.current = TRY(request_.assumed->read());
    return {};
  }

  Result<> ReadFindings() {
    change::FreshFindings fresh = TRY(change::ObserveThisMachine(host_, seen_.current));
    seen_.findings = std::move(fresh.findings);
    seen_.seen_files = std::move(fresh.seen);
    // All entries are read, including those that have ended.  The survey knows the time, and drops the ended ones.
    seen_.ignored = TRY(change::ReadIgnored(host_.root, WallTime::min()));
    seen_.report = TRY(change::VerifyReportOf(host_.root, seen_.current, seen_.findings));
    return {};
  }

  // Reads the facts about the change from the current config to the wanted one.
  Result<> ReadWanted() {
    if (request_.wanted && request_.wanted->goal != GoalOf(seen_.current)) seen_.to = TRY(request_.wanted->read());
    if (seen_.IsNewWithAnotherOs()) {
      seen_.as_booted = TRY(change::AsBooted(host_, seen_.current.object));
      return {};
    }
    // A machine that has its config and no findings does not change, so the facts about a change need not be read.
    if (!seen_.to && seen_.is_on_disk && seen_.findings.empty()) return {};
    seen_.out_of_reach = change::UnreadableKeys(host_.root, seen_.current, seen_.to ? *seen_.to : seen_.current);
    if (seen_.to && !seen_.is_forced) {
      seen_.losses = TRY(change::FindingsThatWouldBeLost(host_, seen_.findings, *seen_.to, {}));
    }
    return {};
  }

  const host::Host& host_;
  const SurveyRequest& request_;
  Observation seen_;
};

}  // namespace

bool Observation::IsNewWithAnotherOs() const {
  const auto is_about_os = [](const change::Finding& finding) { return finding.about == change::kOs; };
  return is_new && !is_on_disk && !is_forced && !findings.empty() &&
         std::all_of(findings.begin(), findings.end(), is_about_os);
}

Result<Observation> Observe(const host::Host& host, const SurveyRequest& request) {
  return ObservationReader(host, request).Read();
}

Goal GoalOf(const change::CurrentConfig& config) {
  return {config.object.metadata.name, change::EmbeddedImage(config.object)};
}

Result<std::optional<Goal>> CurrentGoal(const Root& root) {
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(root));
  if (change::IsNoConfig(config.object) || (IsBare(config) && TRY(IsNewToCluster(root)))) return std::nullopt;
  return GoalOf(config);
}

}  // namespace pintle::agent
