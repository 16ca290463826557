// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "generated/kubelet_bootstrap.h"
#include "json/parse.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"
#include "vectors/generated/kubelet_input.h"

namespace pintle::vectors {
namespace {

using Configs = Result<std::vector<generated::MachineConfig>>;

struct KubeletFunction {
  const char* folder;
  Configs (*run)(const KubeletInput& input, const generated::KubeletSettings& settings);
};

constexpr KubeletFunction kFunctions[] = {
    {"97-node",
     [](const KubeletInput& input, const generated::KubeletSettings& settings) {
       return generated::BootstrapNodeConfigs(input.pools, TemplatesOf(input), settings);
     }},
    {"98-feature",
     [](const KubeletInput& input, const generated::KubeletSettings& settings) {
       return generated::BootstrapFeatureConfigs(input.pools, TemplatesOf(input), settings);
     }},
    {"99-kubelet",
     [](const KubeletInput& input, const generated::KubeletSettings& settings) {
       return generated::BootstrapKubeletConfigs(input.kubelet_configs, input.pools, TemplatesOf(input), settings);
     }},
};

Configs Run(const KubeletFunction& function, const KubeletInput& input) {
  return function.run(input, TRY(SettingsOf(input)));
}

// Returns whether only we refuse a KubeletConfig, because of its staticPodPath.  The operator refuses only the exact
// spelling "staticPodPath", but its decoder takes upper and lower case as equal in keys.
bool HidesStaticPodPath(const KubeletInput& input, const Configs& configs) {
  const auto hides = [](const api::KubeletConfig& object) {
    return json::ToText(object.spec.kubelet_config).find("\"staticPodPath\"") == std::string::npos;
  };
  return !configs && configs.error().message().find("staticPodPath is not allowed") != std::string::npos &&
         std::all_of(input.kubelet_configs.begin(), input.kubelet_configs.end(), hides);
}

// Returns the differences from the operator, with the folders of the functions.  A difference that HidesStaticPodPath()
// explains is left out, and sets `is_deliberate` instead.
std::string DifferenceOfFunctions(const std::filesystem::path& folder, const KubeletInput& input, bool& is_deliberate) {
  std::string difference;
  for (const KubeletFunction& function : kFunctions) {
    const Configs configs = Run(function, input);
    if (HidesStaticPodPath(input, configs)) {
      is_deliberate = true;
      continue;
    }
    const std::string found = DifferenceFrom(folder / "out-own" / function.folder, configs);
    if (!found.empty()) difference += fmt::format("{}: {} ", function.folder, found);
  }
  return difference;
}

void TryCase(const std::filesystem::path& folder, const std::vector<json::Value>& base, const RoleTemplates& templates,
             Tally& tally) {
  KubeletInput input = ReadKubeletInput(base, DocumentsOf(folder / "in.yaml"));
  input.templates = &templates;
  bool is_deliberate = false;
  const std::string difference = DifferenceOfFunctions(folder, input, is_deliberate);
  const std::string name = folder.filename();
  if (is_deliberate) {
    tally.AddDeliberate(name, "staticPodPath is refused in any case of its letters", difference);
  } else {
    tally.Add(name, difference);
  }
}

}  // namespace

Tally RunKubelet(const std::filesystem::path& folder) {
  Tally tally("kubelet");
  const RoleTemplates templates("own-templates");
  const std::vector<json::Value> base = DocumentsOf(folder / "_base.yaml");
  for (const std::string& name : NamesIn(folder)) {
    if (name.starts_with('_')) continue;
    tally.Try(name, [&] { TryCase(folder / name, base, templates, tally); });
  }
  return tally;
}

}  // namespace pintle::vectors
