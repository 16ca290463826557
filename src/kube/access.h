// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address and credentials of the API server, as they are at the moment.
//
// Tokens, certificates and kubeconfigs are replaced while we run.  All of them are read again for each request, since
// requests are rare enough; so renewed ones are used at once, without any notification.

#include <optional>
#include <string>

#include "base/result.h"
#include "kube/config.h"

namespace pintle::kube {

class Access {
 public:
  // A relative path is resolved against the current directory.
  static Result<Access> FromKubeconfig(const std::string& path, std::string context = {});
  static Access Fixed(Config config);

  // Reads the kubeconfig again, if there is one.  If it has become invalid, that is an error.
  Result<const Config*> Now();

 private:
  explicit Access(Config config) : config_(std::move(config)) {}

  std::string path_;  // Empty if there is no kubeconfig.
  std::string context_;
  std::string text_;
  Config config_;
};

// Returns the token to send now, or an empty string.
Result<std::string> ReadToken(const Config& config);

}  // namespace pintle::kube
