// SPDX-License-Identifier: Apache-2.0
// Instantiates the codecs that the headers of this folder declare as extern, so that they are compiled once.
#include "controller/generated_kinds.h"
#include "controller/operator_kinds.h"
#include "controller/watched.h"
#include "json/fields.h"

namespace pintle::json {

template struct Coding<api::ApiServer>;
template struct Coding<api::ClusterOperator>;
template struct Coding<api::ConfigMap>;
template struct Coding<api::ContainerRuntimeConfig>;
template struct Coding<api::CredentialProviderConfig>;
template struct Coding<api::FeatureGate>;
template struct Coding<api::Image>;
template struct Coding<api::ImagePolicy>;
template struct Coding<api::KubeletConfig>;
template struct Coding<api::NodeSettings>;
template struct Coding<api::OSImageStream>;
template struct Coding<api::RolloutPolicy>;
template struct Coding<api::Secret>;
template struct Coding<controller::ClusterImagePolicy>;
template struct Coding<controller::ClusterVersion>;
template struct Coding<controller::ContentSourcePolicy>;
template struct Coding<controller::DigestMirrorSet>;
template struct Coding<controller::DnsSetting>;
template struct Coding<controller::ImageSetting>;
template struct Coding<controller::InfrastructureSetting>;
template struct Coding<controller::InternalReleaseImage>;
template struct Coding<controller::MachineSet>;
template struct Coding<controller::Namespace>;
template struct Coding<controller::NetworkSetting>;
template struct Coding<controller::NewControllerConfig>;
template struct Coding<controller::NewMachineConfiguration>;
template struct Coding<controller::PinnedImageSet>;
template struct Coding<controller::ProxySetting>;
template struct Coding<controller::Scheduler>;
template struct Coding<controller::TagMirrorSet>;
template struct Coding<controller::WholeControllerConfig>;
template struct Coding<controller::WholeClusterVersion>;
template struct Coding<controller::WholeDaemonSet>;
template struct Coding<controller::WholeDeployment>;
template struct Coding<controller::WholeMachineConfiguration>;

}  // namespace pintle::json
