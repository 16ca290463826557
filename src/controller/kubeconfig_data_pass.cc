// SPDX-License-Identifier: Apache-2.0
#include "controller/kubeconfig_data_pass.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "base/base64.h"
#include "clusterops/authorities.h"
#include "net/certificates.h"

namespace pintle::controller {
namespace {

// Authorities are copied when they have not changed for this long.
constexpr auto kSettledAfter = std::chrono::seconds(15);
// Nodes are asked to read a copy for this long after it was made.
constexpr auto kNewFor = std::chrono::minutes(10);
constexpr const char* kAuthoritiesKey = "ca-bundle.crt";

std::string ReadBundle(const api::ConfigMap* map) {
  return map == nullptr ? "" : clusterops::AuthoritiesIn(*map, kAuthoritiesKey);
}

// Returns the time until which nodes are asked to read the copy, or nullopt if the copy has no time of copying.
std::optional<WallTime> NewUntil(const api::ConfigMap* known) {
  if (known == nullptr) return std::nullopt;
  const auto copied = FromRfc3339(known->metadata.Annotation(kCopiedAtAnnotation));
  return copied ? std::optional(*copied + kNewFor) : std::nullopt;
}

}  // namespace

KubeconfigDataChange KubeconfigDataPass(const KubeconfigDataInputs& inputs) {
  const std::string wanted = ReadBundle(inputs.source);
  KubeconfigDataChange change;
  const bool is_copied = wanted.empty() || wanted == ReadBundle(inputs.known);
  if (!is_copied && !net::HasCertificate(wanted)) {
    change.problem = fmt::format(
        "ConfigMap openshift-config-managed/kube-apiserver-server-ca has a {} in which no certificate can be read",
        kAuthoritiesKey);
  }
  if (is_copied || !change.problem.empty()) {
    const auto until = NewUntil(inputs.known);
    change.are_authorities_new = until && inputs.now < *until;
    if (change.are_authorities_new) change.again_at = until;
    return change;
  }
  // Until the new authorities are copied, nodes are not asked to read the copy.  A node acts once on each request, so a
  // request for the previous copy has to end before the next one begins.
  const bool is_known = inputs.settling && inputs.settling->bundle == wanted && inputs.settling->since <= inputs.now;
  change.settling = is_known ? *inputs.settling : SettlingAuthorities{.bundle = wanted, .since = inputs.now};
  const WallTime due = change.settling->since + kSettledAfter;
  // A cluster without a copy gets one at once.
  if (inputs.known != nullptr && inputs.now < due) {
    change.again_at = due;
    return change;
  }
  api::ConfigMap& next = change.next.emplace();
  if (inputs.known != nullptr) next = *inputs.known;
  next.data.erase(kAuthoritiesKey);
  next.binary_data[kAuthoritiesKey] = EncodeBase64(wanted);
  // A new cluster's nodes have these authorities already.
  if (inputs.known != nullptr) next.metadata.annotations[std::string(kCopiedAtAnnotation)] = ToRfc3339(inputs.now);
  return change;
}

}  // namespace pintle::controller
