// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of container images, as the tools that pull them read them: registry.test:5000/team/app:1.2@sha256:...

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

// The repository of an image that is named in full: "registry.test/release" for "registry.test/release@sha256:...".
// Short names, to which others would add docker.io, are refused.
Result<std::string> RepositoryOf(std::string_view image);

// Whether people may write this for an image.  The error is the one of the tools, as policies cite it.
Result<> CheckImageName(std::string_view image);

// Whether it is a registry, or a repository in one: a host, perhaps with a port, and perhaps a path.
bool IsRegistryOrRepository(std::string_view scope);

}  // namespace pintle::generated
