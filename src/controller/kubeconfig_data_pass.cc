// SPDX-License-Identifier: Apache-2.0
#include "controller/kubeconfig_data_pass.h"

#include <chrono>
#include <utility>

#include "base/base64.h"

namespace pintle::controller {
namespace {

constexpr auto kSettledAfter = std::chrono::seconds(15);
constexpr auto kNewFor = std::chrono::minutes(10);
constexpr const char* kAuthoritiesKey = "ca-bundle.crt";
constexpr const char* kCopiedAtAnnotation = "pintle.io/copied-at";

std::string AuthoritiesIn(const api::ConfigMap* map) {
  if (map == nullptr) return "";
  if (const auto binary = map->binary_data.find(kAuthoritiesKey); binary != map->binary_data.end()) {
    return DecodeBase64(binary->second).value_or("");
  }
  const auto text = map->data.find(kAuthoritiesKey);
  return text == map->data.end() ? "" : text->second;
}

// Returns until when nodes are to look at the authorities.
std::optional<WallTime> NewUntil(const api::ConfigMap* known) {
  if (known == nullptr) return std::nullopt;
  const auto copied = FromRfc3339(known->metadata.Annotation(kCopiedAtAnnotation));
  return copied ? std::optional(*copied + kNewFor) : std::nullopt;
}

}  // namespace

KubeconfigDataChange KubeconfigDataPass(const KubeconfigDataInputs& inputs) {
  const std::string wanted = AuthoritiesIn(inputs.source);
  KubeconfigDataChange change;
  if (wanted.empty() || wanted == AuthoritiesIn(inputs.known)) {
    const auto until = NewUntil(inputs.known);
    change.are_authorities_new = until && inputs.now < *until;
    if (change.are_authorities_new) change.again_at = until;
    return change;
  }
  // Until these are copied, nodes are not asked to look: whoever looks twice at one request sees the first ones only.
  const bool is_known = inputs.settling && inputs.settling->bundle == wanted && inputs.settling->since <= inputs.now;
  change.settling = is_known ? *inputs.settling : SettlingAuthorities{.bundle = wanted, .since = inputs.now};
  const WallTime due = change.settling->since + kSettledAfter;
  // Nobody has the authorities of a cluster that has no copy yet.
  if (inputs.known != nullptr && inputs.now < due) {
    change.again_at = due;
    return change;
  }
  api::ConfigMap& next = change.next.emplace();
  if (inputs.known != nullptr) next = *inputs.known;
  next.data.erase(kAuthoritiesKey);
  next.binary_data[kAuthoritiesKey] = EncodeBase64(wanted);
  // A new cluster's nodes have these authorities already.
  if (inputs.known != nullptr) next.metadata.annotations[kCopiedAtAnnotation] = ToRfc3339(inputs.now);
  return change;
}

}  // namespace pintle::controller
