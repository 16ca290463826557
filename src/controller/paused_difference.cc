// SPDX-License-Identifier: Apache-2.0
#include "controller/paused_difference.h"

#include <algorithm>
#include <utility>

#include "machineconfig/contents.h"
#include "net/certificates.h"
#include "net/last_certificate.h"
#include "plan/plan.h"

namespace pintle::controller {
namespace {

using machineconfig::ParsedConfig;
using Certificates = std::vector<net::Certificate>;

// The places where nodes keep certificates of authorities.
constexpr std::string_view kAuthorityFiles[] = {kKubeletAuthorities, "/etc/kubernetes/ca.crt", kCloudAuthorities};
constexpr std::string_view kAuthorityDirectories[] = {"/etc/pki/ca-trust/source/anchors/", "/etc/docker/certs.d/",
                                                      "/etc/containers/certs.d/"};

bool IsPlaceOfAuthorities(std::string_view path) {
  const auto is_below = [&](std::string_view directory) { return path.starts_with(directory); };
  return std::find(std::begin(kAuthorityFiles), std::end(kAuthorityFiles), path) != std::end(kAuthorityFiles) ||
         std::any_of(std::begin(kAuthorityDirectories), std::end(kAuthorityDirectories), is_below);
}

// Returns the certificates in a file.  Returns nullopt if its contents cannot be read from the config or are too long,
// if they include a private key, or if they have no certificate or an invalid one.
std::optional<Certificates> CertificatesIn(const ignition::File& file) {
  const auto bytes = machineconfig::ContentsOf(file.contents, machineconfig::kParsedContentsLimit);
  if (!bytes || bytes->find("PRIVATE KEY") != std::string::npos) return std::nullopt;
  auto certificates = net::ReadCertificates(*bytes);
  if (!certificates || certificates->empty()) return std::nullopt;
  return *std::move(certificates);
}

WaitingBundle BundleOf(const std::string& path, Certificates certificates) {
  const auto whose = path == kKubeletAuthorities ? net::BundleOf::kKubelet : net::BundleOf::kAnyone;
  const auto last = net::LastToExpire(std::move(certificates), whose);
  if (!last) return {.path = path, .valid_until = {}, .subject = {}};
  return {.path = path, .valid_until = last->not_after, .subject = last->subject};
}

// Returns the bundle if the change replaces or adds certificates of authorities, and nothing but the contents changes.
std::optional<WaitingBundle> BundleIn(const plan::FileChange& change) {
  if (!IsPlaceOfAuthorities(change.path) || change.to == nullptr || !CertificatesIn(*change.to)) return std::nullopt;
  if (change.from == nullptr) return BundleOf(change.path, {});
  const auto before = CertificatesIn(*change.from);
  ignition::File same_but_contents = *change.from;
  same_but_contents.contents = change.to->contents;
  if (!before || !json::Equal(same_but_contents, *change.to)) return std::nullopt;
  return BundleOf(change.path, *before);
}

// ---- what differs ----

// Collects what differs between the target and each config that waiting nodes have.
class Collector {
 public:
  explicit Collector(PausedDifference& found) : found_(found) { found_.has_only_bundles = true; }

  void Add(const plan::Plan& plan) {
    const plan::Difference& difference = plan.difference;
    for (const plan::FileChange& change : difference.changed_files) AddFile(change);
    for (const plan::UnitChange& change : difference.changed_units) units_.insert(change.name);
    if (!difference.changed_units.empty()) found_.has_only_bundles = false;
    AddOther(difference.passwd, "Changing users");
    AddOther(difference.fips, "Changing FIPS mode");
    if (const std::string changes = difference.OsChanges(); !changes.empty()) AddOther(true, changes);
    if (!plan.IsReconcilable()) found_.obstacle = plan.verdict.text;
    if (plan.drain.error) found_.obstacle = *plan.drain.error;
    AddConsequences(plan);
  }

  void Finish() && {
    found_.files.assign(files_.begin(), files_.end());
    found_.units.assign(units_.begin(), units_.end());
    found_.other.assign(other_.begin(), other_.end());
    found_.reasons.assign(reasons_.begin(), reasons_.end());
    for (auto& [path, bundle] : bundles_) found_.bundles.push_back(std::move(bundle));
    if (found_.bundles.empty() || !found_.unknown.empty()) found_.has_only_bundles = false;
  }

 private:
  void AddFile(const plan::FileChange& change) {
    files_.insert(change.path);
    std::optional<WaitingBundle> bundle = BundleIn(change);
    if (!bundle) {
      found_.has_only_bundles = false;
      return;
    }
    // If nodes have different certificates in the same file, the certificates that expire first count.
    const auto known = bundles_.find(change.path);
    if (known == bundles_.end()) {
      bundles_.emplace(change.path, *std::move(bundle));
    } else if (bundle->valid_until && (!known->second.valid_until || bundle->valid_until < known->second.valid_until)) {
      known->second = *std::move(bundle);
    }
  }

  void AddOther(bool differs, std::string what) {
    if (!differs) return;
    other_.insert(std::move(what));
    found_.has_only_bundles = false;
  }

  void AddConsequences(const plan::Plan& plan) {
    if (plan.Reboots()) {
      found_.reboots = true;
      reasons_.insert(plan.actions.front().reasons.begin(), plan.actions.front().reasons.end());
    }
    if (!plan.drain.is_needed) return;
    found_.drains = true;
    if (!plan.Reboots()) reasons_.insert(plan.drain.reason);
  }

  PausedDifference& found_;
  std::set<std::string> files_;
  std::set<std::string> units_;
  std::set<std::string> other_;
  std::set<std::string> reasons_;
  std::map<std::string, WaitingBundle> bundles_;
};

}  // namespace

PausedDifference DifferenceOf(const std::string& target, const std::set<std::string, std::less<>>& node_configs,
                              const WholeConfigs& configs, const api::NodeDisruptionPolicy& policy,
                              const api::IrreconcilableValidationOverrides& overrides) {
  PausedDifference found;
  const auto find = [&](const std::string& name) -> const ParsedConfig* {
    const auto config = configs.find(name);
    if (config != configs.end()) return &config->second;
    found.unknown.push_back(name);
    return nullptr;
  };
  Collector collector(found);
  if (const ParsedConfig* const to = find(target)) {
    for (const std::string& name : node_configs) {
      if (const ParsedConfig* const from = find(name)) collector.Add(plan::Make(*from, *to, policy, overrides));
    }
  }
  std::move(collector).Finish();
  return found;
}

}  // namespace pintle::controller
