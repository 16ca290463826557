// SPDX-License-Identifier: Apache-2.0
#pragma once

// The deployment that a kernel's command line names, where nothing runs from it yet: in the initramfs.

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/deployments.h"

namespace pintle::host {

// What the files of the disk tell of it, without libostree: the image or the branch, the commit and the kernel
// arguments.  `root` is the deployment's tree, with the disk in /sysroot.  Nothing if none is named.
Result<std::optional<DeployedImage>> NamedDeployment(const Root& root, std::string_view command_line);

}  // namespace pintle::host
