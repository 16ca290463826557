// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_configs.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "generated/kubelet_files.h"
#include "generated/kubelet_validation.h"
#include "generated/latency_profile.h"

namespace pintle::generated {
namespace {

constexpr const char* kNewHierarchy = "systemd.unified_cgroup_hierarchy=1";
constexpr const char* kNoOldControllers = "cgroup_no_v1=\"all\"";
constexpr const char* kOldHierarchy = "systemd.unified_cgroup_hierarchy=0";
constexpr const char* kOldController = "systemd.legacy_systemd_cgroup_controller=1";

bool GetsKernelArguments(std::string_view pool) {
  return pool == api::kMasterPool || pool == api::kWorkerPool || pool == api::kArbiterPool;
}

MachineConfig AnnotatedConfig(std::string name, std::string_view pool, const std::vector<NewFile>& files,
                              const KubeletSettings& settings) {
  MachineConfig config = NewConfig(std::move(name), pool, files);
  config.annotations = MadeBy(settings.controller_version);
  return config;
}

}  // namespace

std::string NodeConfigName(std::string_view pool) { return fmt::format("97-{}-generated-kubelet", pool); }

Result<std::vector<std::string>> ControlGroupArguments(std::string_view cgroup_mode,
                                                       std::vector<std::string> arguments) {
  if (!cgroup_mode.empty() && cgroup_mode != "v2") {
    return Error(ErrorKind::kInvalid, fmt::format("unknown cgroup mode found {}, failed to update the machine config "
                                                  "resource",
                                                  cgroup_mode));
  }
  std::erase_if(arguments,
                [](const auto& argument) { return argument == kOldHierarchy || argument == kOldController; });
  for (const char* wanted : {kNewHierarchy, kNoOldControllers}) {
    if (std::find(arguments.begin(), arguments.end(), wanted) == arguments.end()) arguments.emplace_back(wanted);
  }
  return arguments;
}

Result<KubeletConfiguration> PoolKubeletBase(std::string_view pool, std::span<const MachineConfig> templates,
                                             const KubeletSettings& settings) {
  KubeletConfiguration base = TRY(KubeletBase(templates, settings.feature_gates));
  (void)SetWorkerLatency(pool, settings.worker_latency_profile, base);  // An unknown profile changes nothing here.
  return base;
}

Result<MachineConfig> NodeConfig(std::string_view pool, std::span<const MachineConfig> templates,
                                 const KubeletSettings& settings, std::vector<std::string> arguments) {
  KubeletConfiguration base = TRY(KubeletBase(templates, settings.feature_gates));
  TRY(SetWorkerLatency(pool, settings.worker_latency_profile, base));
  NewFile file = TRY(KubeletConfFile(base));
  MachineConfig config = AnnotatedConfig(NodeConfigName(pool), pool, {std::move(file)}, settings);
  if (GetsKernelArguments(pool)) {
    config.kernel_arguments = TRY(ControlGroupArguments(settings.cgroup_mode, std::move(arguments)));
  }
  return config;
}

Result<MachineConfig> FeatureConfig(std::string_view pool, std::span<const MachineConfig> templates,
                                    const KubeletSettings& settings) {
  const KubeletConfiguration base = TRY(PoolKubeletBase(pool, templates, settings));
  NewFile file = TRY(KubeletConfFile(base));
  return AnnotatedConfig(fmt::format("98-{}-generated-kubelet", pool), pool, {std::move(file)}, settings);
}

Result<MachineConfig> UserKubeletConfig(const api::KubeletConfig& object, const api::MachineConfigPool& pool,
                                        std::string name, KubeletConfiguration base, const KubeletSettings& settings) {
  TRY(ValidateForPool(pool, object));
  MachineConfig config =
      AnnotatedConfig(std::move(name), pool.metadata.name, TRY(KubeletFiles(object, std::move(base))), settings);
  config.owner_references = {ControlledBy(api::KubeletConfig::kKind, object.metadata)};
  return config;
}

}  // namespace pintle::generated
