// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address of an API server and our credentials, from a kubeconfig or from a pod's service account.
//
// Settings that Pintle does not support are refused, with advice on alternatives: those that need another program
// (exec, auth-provider), a user name with a password, impersonation, and those that skip the verification of the server
// or expect another name in its certificate.  Ignoring them would lead to a later and less clear failure.

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
  std::string token = {};           // May be empty.
  std::string token_file = {};      // Takes precedence over `token`; may be empty.
  std::string proxy = {};           // A URL; if empty, the environment's proxy is used.
  std::string namespace_name = {};  // The namespace of the kubeconfig's context, or of the pod.
};

// Parses a kubeconfig, which is YAML or JSON.  Names of files in it are relative to `directory`.  If `context` is
// empty, the current context is used.
Result<Config> ParseKubeconfig(std::string_view text, const std::string& directory, const std::string& context = {});

// The places where a pod finds its credentials and the address of the API server.
struct PodSurroundings {
  std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host;  // KUBERNETES_SERVICE_HOST
  std::string port;  // KUBERNETES_SERVICE_PORT

  static PodSurroundings FromEnvironment();
};
// Returns the config for the service account of the pod that this process runs in.
Result<Config> InCluster(const PodSurroundings& surroundings = PodSurroundings::FromEnvironment());

}  // namespace pintle::kube
