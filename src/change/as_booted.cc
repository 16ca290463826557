// SPDX-License-Identifier: Apache-2.0
#include "change/as_booted.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "plan/kernel_arguments.h"

namespace pintle::change {

CurrentConfig AsBooted(const host::DeployedImage& booted, CurrentConfig config) {
  api::MachineConfigSpec& spec = config.object.spec;
  if (!spec.os_image_url.empty() && !host::IsOfImage(booted, spec.os_image_url)) {
    spec.os_image_url = host::NameOf(booted);
  }
  const std::vector<std::string>& there = booted.kernel_arguments;
  const auto is_there = [&](const std::string& argument) {
    return std::find(there.begin(), there.end(), argument) != there.end();
  };
  // What the config has in one text is there as a whole or not at all.
  const auto is_missing = [&](const std::string& text) {
    const auto arguments = plan::SplitArguments(std::span(&text, 1));
    return !std::all_of(arguments.begin(), arguments.end(), is_there);
  };
  if (spec.kernel_arguments) std::erase_if(*spec.kernel_arguments, is_missing);
  return config;
}

}  // namespace pintle::change
