// SPDX-License-Identifier: Apache-2.0
#pragma once

// The authorities of the API server, in the kubeconfigs by which a node's kubelet gets to it.
//
// They are renewed while the old ones still hold.  The kubelet reads its own only when it starts, and so is restarted,
// unless the new authorities are only for connections inside the control plane.  The kubeconfig that a kubelet first
// starts with is written last: as long as it is not as wanted, a crash or a failure on the way has all of it done once
// more.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "base/result.h"
#include "host/host.h"
#include "json/fields.h"
#include "kube/resource_kind.h"
#include "plan/first_kubeconfig.h"

namespace pintle::agent {

// Where the operator puts them: an object's name, its namespace, and its key.
inline constexpr const char* kServerAuthoritiesNamespace = "openshift-machine-config-operator";
inline constexpr const char* kServerAuthorities = "kubeconfig-data";

// The kubeconfig that a kubelet first starts with; it is written last.
inline constexpr std::string_view kFirstKubeconfig = plan::kFirstKubeconfig;

// Has none but root read it, if it is there.  Whether that took a change.
Result<bool> MakeFirstKubeconfigPrivate(const Root& root);

struct ServerAuthoritiesData {
  std::string bundle;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"ca-bundle.crt", &ServerAuthoritiesData::bundle}};
};

// A ConfigMap.
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

// Its certificates in PEM; empty: it has none.
std::string BundleOf(const ServerAuthorities& authorities);

struct RenewedKubeconfig {
  std::string text;
  bool needs_restart = false;
};

// A kubeconfig that trusts these certificates and no others; nothing: it does so already.  What is no certificate is
// left out, and all else of the kubeconfig stays as it is written.
Result<std::optional<RenewedKubeconfig>> WithAuthorities(std::string_view kubeconfig, std::string_view bundle);

// Makes it so on a machine.  Returns the paths of what has changed.
Result<std::vector<std::string>> TrustServer(const host::Host& host, const std::string& kubelet_kubeconfig,
                                             const std::string& bundle);

}  // namespace pintle::agent

template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::agent::ServerAuthorities> = {
    "", "v1", "configmaps", "ConfigMap", pintle::kube::Scope::kNamespaced};
