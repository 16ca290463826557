// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "machineconfig/ignition_part.h"

namespace pintle::machineconfig {
namespace {

constexpr std::int64_t kHighestMode = 0777;

Result<> CheckKernelType(std::string_view kernel_type) {
  const bool known = kernel_type.empty() || kernel_type == kDefaultKernel || kernel_type == kRealtimeKernel ||
                     kernel_type == k64kPagesKernel;
  if (known) return {};
  return Error(ErrorKind::kInvalid, fmt::format("kernelType={} is invalid", kernel_type));
}

bool IsSupported(std::string_view extension) {
  const auto all = SupportedExtensions();
  return std::any_of(all.begin(), all.end(), [&](const Extension& e) { return e.name == extension; });
}

Result<> CheckExtensions(const std::vector<std::string>& extensions) {
  std::string unknown;
  for (const std::string& extension : extensions) {
    if (!IsSupported(extension)) unknown += (unknown.empty() ? "" : " ") + extension;
  }
  if (unknown.empty()) return {};
  return Error(ErrorKind::kInvalid, fmt::format("invalid extensions found: [{}]", unknown));
}

}  // namespace

std::string_view CanonicalKernelType(std::string_view kernel_type) {
  if (kernel_type == kRealtimeKernel) return kRealtimeKernel;
  if (kernel_type == k64kPagesKernel) return k64kPagesKernel;
  return kDefaultKernel;
}

std::span<const Extension> SupportedExtensions() {
  static const std::vector<Extension> kExtensions = {
      {"ipsec", {"NetworkManager-libreswan", "libreswan", "openvswitch3.5-ipsec"}},
      {"kerberos", {"krb5-workstation", "libkadm5"}},
      {"kernel-devel", {"kernel-devel", "kernel-headers"}},
      {"sandboxed-containers", {"kata-containers"}},
      {"sysstat", {"sysstat"}},
      {"two-node-ha", {"pacemaker", "pcs", "fence-agents-all"}},
      {"usbguard", {"usbguard"}},
  };
  return kExtensions;
}

Result<std::optional<ignition::Config>> Validate(const api::MachineConfig& config, json::Report& report) {
  TRY(CheckKernelType(config.spec.kernel_type));
  if (config.spec.config.is_null()) return std::optional<ignition::Config>();
  // An unknown extension without an Ignition config beside it is let through: refusing what a cluster has rendered
  // before would stop all of its updates.
  if (config.spec.extensions) TRY(CheckExtensions(*config.spec.extensions));
  ignition::Config parsed = TRY(ParseIgnitionPart(config, report));
  TRY(CheckFileModes(parsed));
  return std::optional(std::move(parsed));
}

Result<> CheckFileModes(const ignition::Config& config) {
  for (const ignition::File& file : config.storage.files) {
    if (!file.mode || *file.mode <= kHighestMode) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("invalid mode {:#o} for {}, cannot exceed {:#o}", *file.mode, file.path, kHighestMode));
  }
  return {};
}

}  // namespace pintle::machineconfig
