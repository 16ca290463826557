// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle render`: renders many MachineConfigs to the one that a pool's nodes would get.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctl/command_line.h"
#include "machineconfig/render.h"

namespace pintle::ctl {

inline constexpr std::array kRenderOptions = {
    Option{"--pool", "FILE", "the MachineConfigPool"},
    Option{"--controller-config", "FILE", "the ControllerConfig"},
    Option{"--current", "FILE",
           "the config that the nodes have now; it is an error if they could not change to the new one"},
    Option{"--overrides", "FILE",
           "sections that may change although only new machines get the change: {\"storage\": [...]}"},
    Option{"--os-image-stream", "FILE", "the OSImageStream, which names the OS images"},
    Option{"--controller-version", "HASH",
           "the controller's version; configs that another version has generated are refused"},
    Option{"--operator-version", "VERSION", "refuse a ControllerConfig that another version has written"},
    Option{"--hash-only", "POOL", "print the name that an already rendered config would have in this pool"},
    Option{"-o", "yaml|json|name|hash-input",
           "yaml is the default; hash-input is the text whose digest is in the name"},
};

struct RenderQuestion {
  std::string pool_file;
  std::string controller_config_file;
  std::vector<std::string> inputs;  // Files and directories.
  std::optional<std::string> current_file;
  std::optional<std::string> overrides_file;
  std::optional<std::string> os_image_stream_file;
  std::optional<std::string> controller_version;
  std::string operator_version;
};

// Renders the config of the pool.  An error that the Machine Config Operator would also report has the operator's
// words.
Result<machineconfig::Rendered> RenderFiles(const RenderQuestion& question);

// Returns the name that the rendered config in a file would have in a pool.
Result<std::string> NameOfRendered(const std::string& pool, const std::string& file);

}  // namespace pintle::ctl
