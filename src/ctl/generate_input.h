// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the manifests that MachineConfigs are generated from, and the credentials that templates put into them.
//
// If a file cannot be read, the other files are read nevertheless, so that all errors are reported at once.  No error
// contains a part of the credentials.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace pintle::ctl {

struct Manifest {
  std::string file;
  json::Value object;
};

// Returns the file, the kind and the name, such as "manifests/kubelet.yaml: KubeletConfig max-pods".
std::string PlaceOf(const Manifest& manifest);

struct ManifestFiles {
  std::vector<Manifest> manifests;    // In the order of the files' names and of the documents in a file.
  std::vector<std::string> left_out;  // Entries of directories that are not manifests, each with the reason.
  std::vector<Error> faults;          // Errors about files and directories that cannot be read.
};

// Reads manifests from files; a directory stands for all manifests in it.  The file `excluded` is skipped.
ManifestFiles ReadManifestFiles(std::span<const std::string> inputs, const std::optional<std::string>& excluded = {});

// Reads credentials for registries, and returns a Secret with them.  The file contains either such a Secret, or only
// the credentials as JSON.
Result<json::Value> ReadPullSecretFile(const std::string& file);

// Returns the credentials in a Secret.
Result<std::string> CredentialsIn(json::Value secret);

// Returns a Secret without any credentials, for templates that need a Secret.
json::Value EmptyPullSecret();

}  // namespace pintle::ctl
