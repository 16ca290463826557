// SPDX-License-Identifier: Apache-2.0
#pragma once

// Imports commits that were packed into the layers of an OCI image.
//
// These layers have the objects of an OSTree repository unchanged.  Each object is named by its checksum, which the
// import verifies.  So the commit keeps its time, and its files keep their labels and owners.

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/ostree/types_ostree.h"

namespace pintle::host {

struct ImportedObjects {
  std::optional<std::string> commit;  // nullopt if the layer has no commit.
  std::set<std::string> files;        // The checksums of all files and links.
};

// Imports the objects of the layer in the file `layer`.  This must be called in a transaction of the repository.
Result<ImportedObjects> ImportObjects(OstreeRepo* repository, const std::string& layer, const std::stop_token& stop,
                                      GCancellable* cancel);

// Returns an error if the repository lacks an object of the commit.  Then the layers did not have that object.
Result<> ExpectWhole(OstreeRepo* repository, const std::string& commit, GCancellable* cancel);

}  // namespace pintle::host
