// SPDX-License-Identifier: Apache-2.0
#include "plan/disruption_policy.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ignition/paths.h"

namespace pintle::plan {
namespace {

using api::FilePolicy;
using api::NodeDisruptionAction;
using api::UnitPolicy;

NodeDisruptionAction WithoutService(std::string type) { return {std::move(type), {}, {}}; }
NodeDisruptionAction None() { return WithoutService("None"); }
NodeDisruptionAction Reload(std::string service) { return {"Reload", api::ServiceReference{std::move(service)}, {}}; }
NodeDisruptionAction Restart(std::string service) { return {"Restart", {}, api::ServiceReference{std::move(service)}}; }

// The Machine Config Operator has the same defaults.
NodeDisruptionPolicy MakeDefaults() {
  NodeDisruptionPolicy policy;
  policy.files = {
      {"/var/lib/kubelet/config.json", {None()}},
      {"/etc/machine-config-daemon/no-reboot/containers-gpg.pub", {Reload("crio.service")}},
      {"/etc/containers/policy.json", {Reload("crio.service")}},
      {"/etc/containers/registries.conf", {WithoutService("Special")}},
      {"/etc/containers/registries.d", {Reload("crio.service")}},
      {"/etc/crio/policies", {Reload("crio.service")}},
      {"/etc/nmstate/openshift", {None()}},
      {"/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt",
       {Restart("coreos-update-ca-trust.service"), Restart("crio.service")}},
      {"/etc/kubernetes/credential-providers", {Restart("kubelet.service")}},
      {"/etc/systemd/system/kubelet.service.d/40-kubelet-crio-image-credential-provider.conf",
       {WithoutService("DaemonReload"), Restart("kubelet.service")}},
      {"/etc/iri-registry", {Restart("iri-registry.service")}},
      {"/usr/local/bin/load-registry-image.sh", {Restart("iri-registry.service")}},
      {"/etc/pki/ca-trust/source/anchors/iri-root-ca.crt", {Restart("coreos-update-ca-trust.service")}},
  };
  policy.units = {{"iri-registry.service", {WithoutService("DaemonReload"), Restart("iri-registry.service")}}};
  policy.sshkey.actions = {None()};
  return policy;
}

const std::string& SubjectOf(const FilePolicy& file) { return file.path; }
const std::string& SubjectOf(const UnitPolicy& unit) { return unit.name; }

// Replaces each default by the user's policy for the same path or unit, and appends the other policies.
//
// Several policies for one path or unit are refused in a file (ReadPolicy()) and by OpenShift's API server.  If another
// API server accepts them, the rule is that of the Machine Config Operator: the last policy counts if it replaces a
// default, and otherwise the first one, because the searches below find it first.
template <typename Policy>
void Override(std::vector<Policy>& policies, const std::vector<Policy>& user_policies) {
  const auto defaults = static_cast<std::ptrdiff_t>(policies.size());
  for (const Policy& policy : user_policies) {
    const auto end = policies.begin() + defaults;
    const auto same =
        std::find_if(policies.begin(), end, [&](const Policy& known) { return SubjectOf(known) == SubjectOf(policy); });
    if (same == end) {
      policies.push_back(policy);
    } else {
      *same = policy;
    }
  }
}

bool HasWildcards(std::string_view path) { return path.find_first_of("*?[") != std::string_view::npos; }

// Returns whether `path` is `above` or below it.  No path counts as below "/", as in the Machine Config Operator.
bool Covers(const std::string& above, std::string_view path) {
  return path == above || path.starts_with(ignition::CleanPath(above) + "/");
}

// Returns whether a pattern matches the file or a directory above it.
bool Matches(const std::string& pattern, std::string_view path) {
  for (std::size_t end = path.size(); end != 0 && end != std::string_view::npos; end = path.rfind('/', end - 1)) {
    if (::fnmatch(pattern.c_str(), std::string(path.substr(0, end)).c_str(), FNM_PATHNAME) == 0) return true;
  }
  return false;
}

// Returns the policy with the longest path among those that apply, or null.
template <typename Applies>
const FilePolicy* WithLongestPath(const std::vector<FilePolicy>& policies, Applies&& applies) {
  const FilePolicy* longest = nullptr;
  for (const FilePolicy& policy : policies) {
    if (!applies(policy.path)) continue;
    if (longest == nullptr || policy.path.size() > longest->path.size()) longest = &policy;
  }
  return longest;
}

}  // namespace

const NodeDisruptionPolicy& DefaultPolicy() {
  static const NodeDisruptionPolicy kDefaults = MakeDefaults();
  return kDefaults;
}

NodeDisruptionPolicy WithDefaults(const NodeDisruptionPolicy& user) {
  NodeDisruptionPolicy merged = DefaultPolicy();
  Override(merged.files, user.files);
  Override(merged.units, user.units);
  if (!user.sshkey.actions.empty()) merged.sshkey = user.sshkey;
  return merged;
}

const FilePolicy* FindFilePolicy(const NodeDisruptionPolicy& policy, std::string_view path) {
  const FilePolicy* literal =
      WithLongestPath(policy.files, [&](const std::string& above) { return Covers(above, path); });
  if (literal != nullptr) return literal;
  return WithLongestPath(policy.files,
                         [&](const std::string& pattern) { return HasWildcards(pattern) && Matches(pattern, path); });
}

const UnitPolicy* FindUnitPolicy(const NodeDisruptionPolicy& policy, std::string_view name) {
  const auto find = [&](auto&& applies) -> const UnitPolicy* {
    const auto found = std::find_if(policy.units.begin(), policy.units.end(), applies);
    return found == policy.units.end() ? nullptr : &*found;
  };
  const UnitPolicy* literal = find([&](const UnitPolicy& unit) { return unit.name == name; });
  if (literal != nullptr) return literal;
  return find([&](const UnitPolicy& unit) { return HasWildcards(unit.name) && Matches(unit.name, name); });
}

}  // namespace pintle::plan
