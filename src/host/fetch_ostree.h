// SPDX-License-Identifier: Apache-2.0
#pragma once

// Getting an image into an OSTree repository, wherever it comes from.

#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/deployments.h"
#include "host/how_far.h"
#include "host/image_name.h"
#include "host/skopeo.h"
#include "host/types_ostree.h"

namespace pintle::host {

// `place` is the repository's directory.
Result<FetchedImage> FetchInto(OstreeRepo* repository, const std::string& place, const ImageName& name,
                               const RegistryAccess& access, const std::stop_token& stop, const TellHowFar& tell);

}  // namespace pintle::host
