// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the folder that `pintle-controller bootstrap` has written, to the first machines of a cluster.
//
// The first machines are those of the control plane; other machines have to wait for the cluster's own server.  The
// files are read again for each request, because they may be written while the server runs.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/tls_identity.h"
#include "serving/served_pool.h"

namespace pintle::serving {

// The authorities of a registry: the name of its host, with its port if it has one, and a file with PEM.
struct RegistryFile {
  std::string host;
  std::string file;  // Below the folder, unless it is an absolute path.
};

// Parses "HOST=FILE".
Result<RegistryFile> ParseRegistryFile(std::string_view text);

struct BootstrapFolder {
  std::string directory;
  std::string kubeconfig_file;  // Served unchanged.
  std::vector<RegistryFile> registries = {};
};

// Returns the pools of the folder.  A missing folder is an error.  A missing file makes the requests that need it fail.
Result<ServedPools> ServeBootstrap(BootstrapFolder folder, const std::shared_ptr<event::TextCache>& cache);

// Returns the TLS rules of the APIServer in the folder.  They are the default rules if there is no APIServer, or if it
// has no TLS profile or one that is neither Modern nor Custom.  Ciphers that OpenSSL does not know are left out.
Result<net::TlsRules> TlsRulesIn(const std::string& directory);

}  // namespace pintle::serving
