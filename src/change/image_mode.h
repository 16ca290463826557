// SPDX-License-Identifier: Apache-2.0
#pragma once

// A config together with an image that was built for it, which a node gets in the place of the config's own.
//
// Inside, the image is the config's, with two annotations that tell what it was before.  On disk the config is as it
// was written, and the image is in a file of its own, as the Machine Config Operator keeps them.

#include <string>

#include "api/machine_config.h"

namespace pintle::change {

inline constexpr const char* kCurrentImage = "/etc/machine-config-daemon/currentimage";

// Without an image the config stays as it is.
void Embed(const std::string& image, api::MachineConfig& config);

// The inverse: returns the image, or "" if none was embedded.
std::string Extract(api::MachineConfig& config);

// The image that was embedded, or "".
std::string EmbeddedImage(const api::MachineConfig& config);

}  // namespace pintle::change
