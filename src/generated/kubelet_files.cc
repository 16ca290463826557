// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "generated/kubelet_base.h"
#include "generated/kubelet_validation.h"
#include "generated/node_sizing.h"
#include "generated/tls_settings.h"
#include "json/go_json.h"

namespace pintle::generated {
namespace {

constexpr const char* kLoggingPath = "/etc/systemd/system/kubelet.service.d/20-logging.conf";
constexpr const char* kPods = "pods";

bool IsSystemReserved(const std::string& enforcement) {
  return enforcement == "system-reserved" || enforcement == "system-reserved-compressible";
}

bool Has(const std::vector<std::string>& list, std::string_view element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

// Returns whether the user sets this field to false.  A merge cannot replace true by false, and the operator makes an
// exception for this field only.
bool DisablesProtectKernelDefaults(const json::Value& document) {
  return json::GoJson(document).find(R"("protectKernelDefaults":false)") != std::string::npos;
}

// Returns whether the control group for the system's reservation has to be removed: the kubelet refuses it if this
// reservation is not enforced.
bool ForbidsSystemGroup(const KubeletConfiguration& user) {
  const auto& enforced = user.enforce_node_allocatable;
  return !enforced.empty() && std::none_of(enforced.begin(), enforced.end(), IsSystemReserved) &&
         user.system_reserved_cgroup.empty();
}

// Removes the control group for the system's reservation, which the kubelet refuses if CPUs are reserved by their
// numbers.
void RemoveSystemGroup(KubeletConfiguration& config) {
  config.system_reserved_cgroup.clear();
  auto& enforced = config.enforce_node_allocatable;
  std::erase_if(enforced, IsSystemReserved);
  if (!Has(enforced, kPods)) enforced.insert(enforced.begin(), kPods);
}

Result<> CheckControlGroups(const KubeletConfiguration& config) {
  const std::string& reserved = config.system_reserved_cgroup;
  const std::string& cgroups = config.system_cgroups;
  if (reserved.empty() || cgroups.empty() || reserved == cgroups) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("invalid merged configuration: systemReservedCgroup ({}) must match systemCgroups ({})",
                           reserved, cgroups));
}

void MergeUserSettings(const json::Value& document, const KubeletConfiguration& user, KubeletConfiguration& config) {
  if (DisablesProtectKernelDefaults(document)) config.protect_kernel_defaults = false;
  MergeOver(config, user);
  if (ForbidsSystemGroup(user)) config.system_reserved_cgroup.clear();
}

NewFile LoggingFile(std::int32_t level) {
  return {.path = kLoggingPath, .contents = fmt::format("[Service]\nEnvironment=\"KUBELET_LOG_LEVEL={}\"\n", level)};
}

}  // namespace

Result<NewFile> KubeletConfFile(const KubeletConfiguration& config) {
  std::string text = TRY(KubeletConfText(config));
  return NewFile{.path = std::string(kKubeletConfPath), .contents = std::move(text)};
}

Result<std::vector<NewFile>> KubeletFiles(const api::KubeletConfig& object, KubeletConfiguration base) {
  const api::KubeletConfigSpec& spec = object.spec;
  if (spec.tls_security_profile) {
    TlsSettings tls = TlsSettingsOf(spec.tls_security_profile);
    base.tls_min_version = std::move(tls.min_version);
    base.tls_cipher_suites = std::move(tls.cipher_suites);
  }
  KubeletConfiguration user = TRY(KubeletConfigurationIn(object), "could not deserialize the new Kubelet config");
  std::vector<NewFile> files;
  if (auto sizing = TakeNodeSizing(spec.auto_sizing_reserved, user.system_reserved)) {
    files.push_back(*std::move(sizing));
  }
  if (spec.log_level) files.push_back(LoggingFile(*spec.log_level));
  user.feature_gates.clear();
  if (!spec.kubelet_config.is_null()) MergeUserSettings(spec.kubelet_config, user, base);
  // The templates may also reserve CPUs by their numbers, so this checks the merged configuration.
  if (!base.reserved_system_cpus.empty()) RemoveSystemGroup(base);
  TRY(CheckControlGroups(base));
  files.push_back(TRY(KubeletConfFile(base)));
  return files;
}

}  // namespace pintle::generated
