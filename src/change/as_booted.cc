// SPDX-License-Identifier: Apache-2.0
#include "change/as_booted.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "change/missing_parts.h"
#include "plan/kernel_arguments.h"
#include "plan/plan.h"

namespace pintle::change {

api::MachineConfig AsBooted(const host::DeployedImage& booted, const plan::MissingParts& missing,
                            api::MachineConfig config) {
  api::MachineConfigSpec& spec = config.spec;
  if (!spec.os_image_url.empty() && !host::IsOfImage(booted, spec.os_image_url)) {
    spec.os_image_url = host::NameOf(booted);
  }
  const std::vector<std::string>& present = booted.kernel_arguments;
  const auto is_present = [&](const std::string& argument) {
    return std::find(present.begin(), present.end(), argument) != present.end();
  };
  // One entry of the config may hold several arguments.  The entry stays only if the machine has all of them.
  const auto lacks_one = [&](const std::string& text) {
    const auto arguments = plan::SplitArguments(std::span(&text, 1));
    return !std::all_of(arguments.begin(), arguments.end(), is_present);
  };
  if (spec.kernel_arguments) std::erase_if(*spec.kernel_arguments, lacks_one);
  const auto is_missing = [&](const std::string& extension) {
    return std::find(missing.extensions.begin(), missing.extensions.end(), extension) != missing.extensions.end();
  };
  if (spec.extensions) std::erase_if(*spec.extensions, is_missing);
  if (missing.kernel_type) spec.kernel_type = *missing.kernel_type;
  return config;
}

Result<api::MachineConfig> AsBooted(const host::Host& host, api::MachineConfig config) {
  if (host.deployments == nullptr) return config;
  const auto state = TRY(host.deployments->Observe());
  if (!state.booted) return config;
  const plan::MissingParts missing = TRY(FindMissingParts(host, *state.booted, plan::DeploymentOf(config.spec)));
  return AsBooted(*state.booted, missing, std::move(config));
}

}  // namespace pintle::change
