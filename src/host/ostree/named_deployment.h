// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the deployment that the kernel's command line names.  This works in the initramfs, before the deployment is
// booted.

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/ostree/deployments.h"

namespace pintle::host {

// Reads the image or branch, the commit and the kernel arguments from the files on the disk, without libostree.  `root`
// is the deployment's tree, with the disk in /sysroot.  Returns nullopt if the command line names no deployment.
Result<std::optional<DeployedImage>> NamedDeployment(const Root& root, std::string_view command_line);

}  // namespace pintle::host
