// SPDX-License-Identifier: Apache-2.0
#pragma once

// Embeds the image that was built for a config in that config.  A node gets this image in place of the config's own;
// the Machine Config Operator calls that image mode.
//
// In memory, osImageURL names the built image; annotations hold that image and the original value.  On disk, the config
// is as it was written, and the image is in a file of its own, as the Machine Config Operator stores them.

#include <string>

#include "api/machine_config.h"

namespace pintle::change {

inline constexpr const char* kCurrentImage = "/etc/machine-config-daemon/currentimage";

// An empty image leaves the config as it is.
void Embed(const std::string& image, api::MachineConfig& config);

// Reverts Embed(): returns the image, or "" if none was embedded.
std::string Extract(api::MachineConfig& config);

// Returns the image that was embedded, or "".
std::string EmbeddedImage(const api::MachineConfig& config);

}  // namespace pintle::change
