// SPDX-License-Identifier: Apache-2.0
#include "ctl/convert.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "ctl/config_output.h"
#include "ctl/verbs.h"
#include "ignition/convert.h"
#include "json/parse.h"
#include "machineconfig/config_input.h"
#include "machineconfig/validate.h"

namespace pintle::ctl {
namespace {

using machineconfig::ConfigDocument;

constexpr const char* kToIgnition = "ignition";
constexpr const char* kToMachineConfig = "machineconfig";

void PrintWarnings(const std::string& path, const json::Report& report) {
  for (const json::Problem& problem : report.problems()) {
    if (problem.severity == json::Severity::kWarning) {
      PrintToStderr(fmt::format("{}: warning: {}\n", path, problem.ToString()));
    }
  }
}

// Adds the Machine Config Operator's prefix to an error of the Ignition parser.  Other errors need no prefix.
Error InOperatorWords(Error error) {
  if (!error.message().starts_with("parsing Ignition")) return error;
  return std::move(error).While("failed to parse Ignition config");
}

// Returns the version of Ignition that --to names.  For `--to ignition`, returns nullopt, which stands for the version
// of the document.
Result<std::optional<ignition::SpecVersion>> VersionIn(const std::string& to) {
  if (to == kToIgnition) return std::optional<ignition::SpecVersion>();
  auto version = ignition::ParseSpecVersion(to);
  if (!version) {
    return std::move(version).error().While(
        fmt::format("--to {}: must be {}, {} or a version of Ignition", to, kToIgnition, kToMachineConfig));
  }
  return std::optional(*version);
}

Result<> CheckFormat(const std::string& to, const std::string& format) {
  if (format == "json" || (format == "yaml" && to == kToMachineConfig)) return {};
  return Error(ErrorKind::kInvalid, to == kToMachineConfig
                                        ? fmt::format("-o {}: must be yaml or json", format)
                                        : fmt::format("-o {}: Ignition can only be printed as json", format));
}

// Reads a file that must have exactly one document, and prints its warnings.
Result<ConfigDocument> ReadDocument(const std::string& path) {
  machineconfig::ConfigFile file = TRY(machineconfig::ReadConfigFile(path));
  if (file.documents.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} has {} configs; exactly one is needed", path, file.documents.size()));
  }
  PrintWarnings(path, file.report);
  ConfigDocument document = std::move(file.documents.front());
  PrintWarnings(path, document.report);
  if (document.error) return InOperatorWords(*std::move(document.error)).While(path);
  return document;
}

// Returns the names of the settings that a document has in addition to its Ignition config.  A setting has the name
// that Butane or a MachineConfig has for it, depending on the document.
std::vector<std::string> SettingsBesideIgnition(const ConfigDocument& document) {
  std::vector<std::string> beside;
  if (!document.object) return beside;
  const bool is_butane = document.kind != api::MachineConfig::kKind;
  const auto add = [&](bool is_set, const char* in_butane, const char* in_object) {
    if (is_set) beside.emplace_back(is_butane ? in_butane : in_object);
  };
  const api::MachineConfigSpec& spec = document.object->spec;
  const auto is_set = [](const auto& list) { return list && !list->empty(); };
  add(is_set(spec.kernel_arguments), "openshift.kernel_arguments", "spec.kernelArguments");
  add(is_set(spec.extensions), "openshift.extensions", "spec.extensions");
  add(spec.fips, "openshift.fips", "spec.fips");
  add(!spec.kernel_type.empty() && spec.kernel_type != machineconfig::kDefaultKernel, "openshift.kernel_type",
      "spec.kernelType");
  // Butane has no names for these two settings.
  add(!spec.os_image_url.empty(), "", "spec.osImageURL");
  add(!spec.base_os_extensions_container_image.empty(), "", "spec.baseOSExtensionsContainerImage");
  return beside;
}

Result<> PrintIgnition(const std::string& path, ConfigDocument document, std::optional<ignition::SpecVersion> version) {
  if (const auto beside = SettingsBesideIgnition(document); !beside.empty()) {
    const char* const pronoun = beside.size() == 1 ? "it" : "them";
    return Error(
        ErrorKind::kInvalid,
        fmt::format("{}: Ignition cannot express {}, and a machine would start without {}: use `--to {}`, which keeps "
                    "everything, or remove {} from the file",
                    path, fmt::join(beside, ", "), pronoun, kToMachineConfig, pronoun));
  }
  if (!document.config) return Error(ErrorKind::kInvalid, path + " has no Ignition config");
  json::Report lost;
  const json::Value converted =
      TRY(ignition::ConvertTo(*std::move(document.config), version.value_or(document.version), &lost));
  PrintWarnings(path, lost);
  Print(json::ToIndentedText(converted));
  Print("\n");
  return {};
}

Result<> PrintMachineConfig(const std::string& path, ConfigDocument document, const std::string& format) {
  api::MachineConfig object = TRY(machineconfig::ToMachineConfig(std::move(document)), path);
  TRY(machineconfig::ExpectNameAndRole(object), path);
  const json::Value written = WithoutUnsetMembers(std::move(object));
  if (format == "yaml") return PrintYaml(written);
  Print(json::ToIndentedText(written));
  Print("\n");
  return {};
}

}  // namespace

Result<ExitStatus> Convert(const CommandLine& line) {
  const std::string to = line.Value("--to").value_or(kToIgnition);
  const bool wants_object = to == kToMachineConfig;
  const auto version = wants_object ? std::nullopt : TRY(VersionIn(to));
  const std::string format = line.Value("-o").value_or(wants_object ? "yaml" : "json");
  TRY(CheckFormat(to, format));
  if (line.operands().size() != 1) {
    return Error(ErrorKind::kInvalid, line.operands().empty() ? "name the file to convert (see --help)"
                                                              : "convert one file at a time (see --help)");
  }
  const std::string& path = line.operands().front();
  ConfigDocument document = TRY(ReadDocument(path));
  TRY(wants_object ? PrintMachineConfig(path, std::move(document), format)
                   : PrintIgnition(path, std::move(document), version));
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
