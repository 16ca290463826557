// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where an API server is and who we are to it: what a kubeconfig says, or what a pod finds in its service account.
//
// What would need another program (exec, auth-provider), would be someone else (impersonation, a password) or would not
// check the server is refused, with what to do instead: a client that passed over it would fail later and say less.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/tls_settings.h"
#include "net/url.h"

namespace pintle::kube {

struct Config {
  net::Url server;  // May have a path, below which the API is.
  net::TlsSettings tls = {};
  std::string token = {};       // Empty: none.
  std::string token_file = {};  // Goes before `token`; empty: none.
  std::string proxy = {};       // The URL of one; empty: what the environment says.
  std::string namespace_name = {};
};

// Reads a kubeconfig, which is YAML or JSON.  Names of files in it are relative to `directory`.  Without a context, its
// current one.
Result<Config> ParseKubeconfig(std::string_view text, const std::string& directory, const std::string& context = {});

// What Kubernetes gives each pod.
struct PodSurroundings {
  std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host;  // KUBERNETES_SERVICE_HOST
  std::string port;  // KUBERNETES_SERVICE_PORT

  static PodSurroundings FromEnvironment();
};
Result<Config> InCluster(const PodSurroundings& surroundings = PodSurroundings::FromEnvironment());

}  // namespace pintle::kube
