// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way to the API server as it is at this moment.
//
// Tokens, certificates and kubeconfigs are replaced while we run.  All are read anew for each request, which is seldom
// enough; so what was renewed is used at once, and nothing needs to be told that it was.

#include <optional>
#include <string>

#include "base/result.h"
#include "kube/config.h"

namespace pintle::kube {

class Access {
 public:
  // A path that is relative is so to the current directory.
  static Result<Access> FromKubeconfig(const std::string& path, std::string context = {});
  static Access Fixed(Config config);

  // Reads the kubeconfig again if there is one.  One that cannot be used any more is an error.
  Result<const Config*> Now();

 private:
  explicit Access(Config config) : config_(std::move(config)) {}

  std::string path_;  // Empty: there is no kubeconfig.
  std::string context_;
  std::string text_;
  Config config_;
};

// The token to send now; empty: none.
Result<std::string> ReadToken(const Config& config);

}  // namespace pintle::kube
