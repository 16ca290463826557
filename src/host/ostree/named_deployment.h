// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the deployment that the kernel's command line names before anything runs from it, in the initramfs.

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/ostree/deployments.h"

namespace pintle::host {

// Reads image or branch, commit and kernel arguments from the files on the disk, without libostree.  `root` is the
// deployment's tree, with the disk in /sysroot.  Returns nullopt if the command line names no deployment.
Result<std::optional<DeployedImage>> NamedDeployment(const Root& root, std::string_view command_line);

}  // namespace pintle::host
