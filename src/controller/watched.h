// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects of a cluster, cut down to the parts that decisions need.
//
// This saves memory: a cluster has thousands of nodes with long annotations of other programs, and hundreds of rendered
// configs, each as large as all configs that it was rendered from.  A part that is left out is fetched when it is
// needed.

#include <array>
#include <string_view>

#include "api/machine_config.h"
#include "api/machine_config_node.h"
#include "api/node.h"
#include "api/os_image_stream.h"
#include "api/rollout_policy.h"
#include "api/secret.h"
#include "json/field_list.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// The prefixes of the annotations of Nodes that Pintle or the Machine Config Operator defines.
inline constexpr auto kOurPrefixes =
    std::to_array<std::string_view>({"machineconfiguration.openshift.io/", "pintle.io/"});
// The conditions of a MachineConfigNode that the status of its pool depends on.
inline constexpr auto kReportedConditions = std::to_array<std::string_view>(
    {"Updated", "NodeDegraded", "PinnedImageSetsProgressing", "PinnedImageSetsDegraded"});

// A Node with only those annotations that Pintle or the Machine Config Operator defines, and without owners and
// finalizers.
struct WatchedNode : api::Node {};

// A MachineConfig.  A config for which IsRenderedAndUnlabelled() is true is without `spec.config`.
struct WatchedMachineConfig : api::MachineConfig {};

// A MachineConfigNode with only those conditions that a pool's status depends on.
struct WatchedMachineConfigNode : api::MachineConfigNode {};

// A Secret with a certificate.  The private key is left out, because this process also answers requests of strangers.
struct WatchedCertificate : api::Secret {};

// OpenShift's setting for whether users' pods may run on masters.
struct Scheduler {
  struct Spec {
    bool masters_schedulable = false;
    static constexpr bool kLenient = true;
    static constexpr auto kFields = json::FieldList{json::Field{"mastersSchedulable", &Spec::masters_schedulable}};
  };

  api::ObjectMeta metadata;
  Spec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &Scheduler::metadata},
      json::Field{"spec", &Scheduler::spec},
  };
};

// These functions cut an object down to the parts that decisions need.
void Trim(WatchedNode& node);
void Trim(WatchedMachineConfig& config);
void Trim(WatchedMachineConfigNode& node);
void Trim(WatchedCertificate& secret);

// Returns whether a config was rendered for a pool and has no labels.  A rendered config that somebody has labelled may
// be selected by a pool, and is then an input for rendering like any other config.
bool IsRenderedAndUnlabelled(const api::MachineConfig& config);

}  // namespace pintle::controller

namespace pintle::json {

// Decodes an object and trims it at once, so that the parts that are left out take no memory later.
template <typename Watched, typename Base>
struct TrimmingCodec {
  static void Decode(Value&& from, Watched& to, const Path& path, Report& report) {
    DecodeInto(std::move(from), static_cast<Base&>(to), path, report);
    controller::Trim(to);
  }
  static Value Encode(const Watched& from) { return json::Encode(static_cast<const Base&>(from)); }
};

template <>
struct Codec<controller::WatchedNode> : TrimmingCodec<controller::WatchedNode, api::Node> {};
template <>
struct Codec<controller::WatchedMachineConfig> : TrimmingCodec<controller::WatchedMachineConfig, api::MachineConfig> {};
template <>
struct Codec<controller::WatchedMachineConfigNode>
    : TrimmingCodec<controller::WatchedMachineConfigNode, api::MachineConfigNode> {};

template <>
struct Codec<controller::WatchedCertificate> : TrimmingCodec<controller::WatchedCertificate, api::Secret> {};

}  // namespace pintle::json

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<controller::WatchedNode> = kResourceKind<api::Node>;
template <>
inline constexpr ResourceKind kResourceKind<controller::WatchedMachineConfig> = kResourceKind<api::MachineConfig>;
template <>
inline constexpr ResourceKind kResourceKind<controller::WatchedMachineConfigNode> =
    kResourceKind<api::MachineConfigNode>;
template <>
inline constexpr ResourceKind kResourceKind<controller::WatchedCertificate> = {"", "v1", "secrets", "Secret",
                                                                               Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<api::OSImageStream> = {kMachineConfigGroup, "v1", "osimagestreams",
                                                                   "OSImageStream"};
template <>
inline constexpr ResourceKind kResourceKind<api::RolloutPolicy> = {api::kRolloutPolicyGroup, "v1alpha1",
                                                                   "rolloutpolicies", "RolloutPolicy"};
template <>
inline constexpr ResourceKind kResourceKind<controller::Scheduler> = {"config.openshift.io", "v1", "schedulers",
                                                                      "Scheduler"};

}  // namespace pintle::kube

// Compiled in controller/codecs.cc.
namespace pintle::json {

extern template struct Coding<api::OSImageStream>;
extern template struct Coding<api::RolloutPolicy>;
extern template struct Coding<api::Secret>;
extern template struct Coding<controller::Scheduler>;

}  // namespace pintle::json
