// SPDX-License-Identifier: Apache-2.0
#pragma once

// Commits that were packed into the layers of an OCI image.
//
// A layer holds objects of a repository as they are, each under its checksum, and what is written here is checked
// against that: the labels, the owners and the times of a commit arrive as they were when it was made.

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/types_ostree.h"

namespace pintle::host {

struct ImportedObjects {
  std::optional<std::string> commit;  // When the layer has one.
  std::set<std::string> files;        // The checksums of all files and links.
};

// Belongs into a transaction of the repository.
Result<ImportedObjects> ImportObjects(OstreeRepo* repository, const std::string& layer, const std::stop_token& stop,
                                      GCancellable* cancel);

// An error if something of a commit is not there: a layer that says less than the image needs.
Result<> ExpectWhole(OstreeRepo* repository, const std::string& commit, GCancellable* cancel);

}  // namespace pintle::host
