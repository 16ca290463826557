// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fetches an image of any kind into an OSTree repository.

#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/deployments.h"
#include "host/ostree/image_name.h"
#include "host/ostree/skopeo.h"
#include "host/ostree/types_ostree.h"

namespace pintle::host {

// Returns the fetched image.  `repository_path` is the directory of the repository.
Result<FetchedImage> FetchInto(OstreeRepo* repository, const std::string& repository_path, const ImageName& name,
                               const RegistryAccess& access, const std::stop_token& stop,
                               const ProgressCallback& report);

}  // namespace pintle::host
