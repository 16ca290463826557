// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the current address of the API server and our current credentials.
//
// Tokens, certificates and kubeconfigs are replaced while we run.  Requests are rare, so all of these files are read
// again for each request.  Renewed files are used at once, without any notification.

#include <optional>
#include <string>

#include "base/result.h"
#include "kube/config.h"

namespace pintle::kube {

class Access {
 public:
  // A relative path is resolved against the current directory.  If `context` is empty, the kubeconfig's current context
  // is used.
  static Result<Access> FromKubeconfig(const std::string& path, std::string context = {});
  // For a config that is not from a kubeconfig: only the files that it names are read again.
  static Access Fixed(Config config);

  // Returns the config as it is now: the kubeconfig, if there is one, is read again, and must still be valid.
  Result<const Config*> Current();

 private:
  explicit Access(Config config) : config_(std::move(config)) {}

  std::string path_;  // The kubeconfig's path; empty if there is no kubeconfig.
  std::string context_;
  std::string text_;  // The kubeconfig's text when it was read last.
  Config config_;
};

// Returns the token to send now, or an empty string.
Result<std::string> ReadToken(const Config& config);

}  // namespace pintle::kube
