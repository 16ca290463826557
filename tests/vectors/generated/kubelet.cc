// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generated/kubelet_bootstrap.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"
#include "vectors/generated/kubelet_input.h"

namespace pintle::vectors {
namespace {

// What the runs of the operator had.
constexpr const char* kRelease = "0.0.1-snapshot";
constexpr const char* kBuild = "HASH";

using Configs = Result<std::vector<generated::MachineConfig>>;

struct Function {
  const char* folder;
  Configs (*run)(const KubeletInput& input);
};

constexpr Function kFunctions[] = {
    {"97-node",
     [](const KubeletInput& input) {
       return generated::BootstrapNodeConfigs(input.pools, TemplatesOf(input), SettingsOf(input, kRelease, kBuild));
     }},
    {"98-feature",
     [](const KubeletInput& input) {
       return generated::BootstrapFeatureConfigs(input.pools, TemplatesOf(input), SettingsOf(input, kRelease, kBuild));
     }},
    {"99-kubelet",
     [](const KubeletInput& input) {
       return generated::BootstrapKubeletConfigs(input.kubelet_configs, input.pools, TemplatesOf(input),
                                                 SettingsOf(input, kRelease, kBuild));
     }},
};

// The operator looks for the folder of static pods in one spelling, and reads it in any.
bool HidesStaticPodPath(const KubeletInput& input, const Configs& configs) {
  const auto hides = [](const api::KubeletConfig& object) {
    return json::ToText(object.spec.kubelet_config).find("\"staticPodPath\"") == std::string::npos;
  };
  return !configs && configs.error().message().find("staticPodPath is not allowed") != std::string::npos &&
         std::all_of(input.kubelet_configs.begin(), input.kubelet_configs.end(), hides);
}

}  // namespace

Tally RunKubelet(const std::filesystem::path& folder) {
  Tally tally("kubelet");
  const std::vector<json::Value> base = DocumentsOf(folder / "_base.yaml");
  for (const std::string& name : NamesIn(folder)) {
    if (name.starts_with('_')) continue;
    KubeletInput input = ReadKubeletInput(base, DocumentsOf(folder / name / "in.yaml"));
    input.templates = "own-templates";
    std::string difference;
    bool is_deliberate = false;
    for (const Function& function : kFunctions) {
      const Configs configs = function.run(input);
      if (HidesStaticPodPath(input, configs)) {
        is_deliberate = true;
        continue;
      }
      const std::string found = DifferenceFrom(folder / name / "out-own" / function.folder, configs);
      if (!found.empty()) difference += fmt::format("{}: {} ", function.folder, found);
    }
    if (is_deliberate) {
      tally.AddDeliberate(name, "staticPodPath is refused in any case of its letters", difference);
    } else {
      tally.Add(name, difference);
    }
  }
  return tally;
}

}  // namespace pintle::vectors
