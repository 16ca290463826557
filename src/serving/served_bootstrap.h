// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the folder that `pintle-controller bootstrap` has written, to the first machines of a cluster.
//
// These are the machines of the control plane; others have to wait for the cluster's own server.  The files are read
// again for each request, since they may be written while the server runs.

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

// It is an error if there is no such folder.  Files that are missing are reported to whoever asks for them.
Result<ServedPools> ServeBootstrap(BootstrapFolder folder, const std::shared_ptr<event::TextCache>& cache);

// Returns the rules of the APIServer in the folder, or the usual ones if there is none.
Result<net::TlsRules> TlsRulesIn(const std::string& directory);

}  // namespace pintle::serving
