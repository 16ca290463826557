// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "ignition/octal_mode.h"
#include "machineconfig/ignition_part.h"

namespace pintle::machineconfig {
namespace {

constexpr std::int64_t kHighestMode = 0777;
// These limit the length of an unknown name in a message, and of all unknown names together.
constexpr std::size_t kNameLimit = 64;
constexpr std::size_t kNamesLimit = 1000;

Result<> CheckKernelType(std::string_view kernel_type) {
  const bool known = kernel_type.empty() || kernel_type == kDefaultKernel || kernel_type == kRealtimeKernel ||
                     kernel_type == k64kPagesKernel;
  if (known) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("kernelType={} is invalid", Shortened(Printable(kernel_type), kNameLimit)));
}

bool IsSupported(std::string_view extension) {
  const auto all = SupportedExtensions();
  return std::any_of(all.begin(), all.end(), [&](const Extension& e) { return e.name == extension; });
}

Result<> CheckExtensions(const std::vector<std::string>& extensions) {
  std::string unknown;
  for (const std::string& extension : extensions) {
    if (!IsSupported(extension)) unknown += (unknown.empty() ? "" : " ") + Printable(extension);
  }
  if (unknown.empty()) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("invalid extensions found: [{}]", Shortened(std::move(unknown), kNamesLimit)));
}

// Refuses permissions that a config may not give, such as set-user-id.
Result<> CheckFileMode(const ignition::File& file) {
  if (!file.mode || *file.mode <= kHighestMode) return {};
  const auto meant = ignition::MeantInOctal(*file.mode);
  const std::string question =
      meant ? fmt::format(" (did you mean {:#o}, which is {} in decimal?)", *meant, *meant) : std::string();
  return Error(ErrorKind::kInvalid, fmt::format("invalid mode {:#o} for {}, cannot exceed {:#o}{}", *file.mode,
                                                file.path, kHighestMode, question));
}

Result<> CheckFileModes(const ignition::Config& config) {
  for (const ignition::File& file : config.storage.files) TRY(CheckFileMode(file));
  return {};
}

// Copies the problems of the Ignition part with their places in the whole document.
void ReportBelow(const std::string& section, const json::Report& from, json::Report& to) {
  const json::Path root;
  for (const json::Problem& problem : from.problems()) {
    const std::string place = section + problem.path.substr(1);  // Skips the "$" of the path.
    if (problem.severity == json::Severity::kError) {
      to.Error(json::Path(root, place), problem.what);
    } else {
      to.Warning(json::Path(root, place), problem.what);
    }
  }
}

// The document must have been parsed successfully.
bool IsSpec2(const json::Value& document) { return document.TextAt({"ignition", "version"}).starts_with("2."); }

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
  // An unknown extension is accepted if there is no Ignition config beside it: refusing a config that a cluster has
  // rendered before would stop all of its updates.
  if (config.spec.extensions) TRY(CheckExtensions(*config.spec.extensions));
  ignition::Config parsed = TRY(ParseIgnitionPart(config, report));
  // For spec 2, the Machine Config Operator checks the original config, not its conversion to spec 3.
  TRY(IsSpec2(config.spec.config) ? CheckFileModes(parsed) : CheckIgnition(parsed));
  return std::optional(std::move(parsed));
}

std::optional<ignition::Config> FindProblems(const api::MachineConfig& config, json::Report& report) {
  const json::Path root;
  const auto report_at = [&](const Result<>& checked, const std::string& place) {
    if (!checked) report.Error(json::Path(root, place), checked.error().message());
  };
  report_at(CheckKernelType(config.spec.kernel_type), "spec.kernelType");
  if (config.spec.config.is_null()) return std::nullopt;
  if (config.spec.extensions) report_at(CheckExtensions(*config.spec.extensions), "spec.extensions");
  json::Report ignition_report;
  auto parsed = ignition::Parse(config.spec.config, ignition_report);
  ReportBelow("spec.config", ignition_report, report);
  if (!parsed) {
    // The error is about the config as a whole, such as its version.
    if (!ignition_report.has_errors()) report_at(std::move(parsed).error(), "spec.config");
    return std::nullopt;
  }
  const std::vector<ignition::File>& files = parsed->storage.files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    report_at(CheckFileMode(files[i]), fmt::format("spec.config.storage.files.{}.mode", i));
  }
  if (!report.has_errors() && !IsSpec2(config.spec.config)) report_at(CheckIgnition(*parsed), "spec.config");
  if (report.has_errors()) return std::nullopt;
  return *std::move(parsed);
}

Result<> CheckIgnition(const ignition::Config& config) {
  json::Report report;
  ignition::ValidateParsed(config, report);
  if (!report.has_errors()) return CheckFileModes(config);
  std::string problems;
  for (const json::Problem& problem : report.problems()) {
    const char* kind = problem.severity == json::Severity::kError ? "error" : "warning";
    problems += fmt::format("{} at {}: {}\n", kind, problem.path, problem.what);
  }
  return Error(ErrorKind::kInvalid, "invalid ignition V3 config found: " + problems);
}

}  // namespace pintle::machineconfig
