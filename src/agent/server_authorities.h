// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the authorities of the API server into the kubeconfigs with which the kubelet of a node connects to that server.
//
// The authorities are renewed while the old ones are still valid.  The kubelet reads its kubeconfig only when it
// starts, so it is restarted, unless the new authorities are only for connections inside the control plane.  The
// kubeconfig that a kubelet first starts with is written last: as long as that file differs, everything is done again
// after a crash or a failure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "base/result.h"
#include "host/host.h"
#include "json/field_list.h"
#include "kube/resource_kind.h"
#include "plan/bootstrap_kubeconfig.h"

namespace pintle::agent {

// The operator writes the authorities to a ConfigMap with this namespace and name.
inline constexpr const char* kServerAuthoritiesNamespace = "openshift-machine-config-operator";
inline constexpr const char* kServerAuthoritiesName = "kubeconfig-data";

// The kubeconfig that a kubelet first starts with; it is written last.
inline constexpr std::string_view kBootstrapKubeconfig = plan::kBootstrapKubeconfig;

// Makes kBootstrapKubeconfig readable by root alone, if it exists.  Returns whether its mode was changed.
Result<bool> MakeBootstrapKubeconfigPrivate(const Root& root);

struct ServerAuthoritiesData {
  std::string bundle;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"ca-bundle.crt", &ServerAuthoritiesData::bundle}};
};

// The part of a ConfigMap that holds the authorities.
struct ServerAuthorities {
  api::ObjectMeta metadata;
  ServerAuthoritiesData data;
  ServerAuthoritiesData binary_data;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ServerAuthorities::metadata},
      json::Field{"data", &ServerAuthorities::data},
      json::Field{"binaryData", &ServerAuthorities::binary_data},
  };
};

// Returns the certificates in PEM, or "" if there are none.
std::string BundleOf(const ServerAuthorities& authorities);

struct RenewedKubeconfig {
  std::string text;
  bool needs_restart = false;
};

// Returns the kubeconfig with the certificates of `bundle` as its only authorities, or nullopt if it already has them.
// Blocks of `bundle` that are not certificates are left out.  Everything else in the kubeconfig stays as it is written.
Result<std::optional<RenewedKubeconfig>> WithAuthorities(std::string_view kubeconfig, std::string_view bundle);

// Puts the authorities into kBootstrapKubeconfig.  If the kubelet has to be restarted for them, also puts them into the
// kubelet's own kubeconfig, and restarts it.  Does nothing if kBootstrapKubeconfig does not exist or already has them.
// Returns the paths of the files that changed.
Result<std::vector<std::string>> InstallServerAuthorities(const host::Host& host, const std::string& kubelet_kubeconfig,
                                                          const std::string& bundle);

}  // namespace pintle::agent

template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::agent::ServerAuthorities> = {
    "", "v1", "configmaps", "ConfigMap", pintle::kube::Scope::kNamespaced};
