// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses names of container images as the container tools do: registry.test:5000/team/app:1.2@sha256:...

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

// Returns the repository of an image: "registry.test/release" for "registry.test/release@sha256:...".  Short names,
// which tools would look up in docker.io, are refused.
Result<std::string> RepositoryOf(std::string_view image);

// Checks the name of an image, which may be a short one, such as "app:1.2".  The error has the words of the container
// tools.
Result<> CheckImageName(std::string_view image);

// Returns whether a text names a registry or a repository: a host, an optional port, and an optional path.
bool IsRegistryOrRepository(std::string_view scope);

}  // namespace pintle::generated
