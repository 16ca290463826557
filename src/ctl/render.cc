// SPDX-License-Identifier: Apache-2.0
#include "ctl/render.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "base/output.h"
#include "base/version.h"
#include "ctl/config_output.h"
#include "ctl/config_problems.h"
#include "ctl/faults.h"
#include "ctl/read_one.h"
#include "ctl/render_input.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "machineconfig/machine_configuration_input.h"
#include "machineconfig/objects.h"
#include "machineconfig/rendered_name.h"

namespace pintle::ctl {
namespace {

// Prints all errors of the selected configs.  The error in the Machine Config Operator's words names only one of them.
void PrintErrorsOf(const RenderInput& input, const machineconfig::MachineConfigs& selected) {
  for (const api::MachineConfig* config : selected) {
    const auto index = static_cast<std::size_t>(config - input.configs.data());
    for (const ConfigProblem& problem : ErrorsOf(input.files[index], *config)) PrintConfigProblem(problem);
  }
}

// A workstation has no controller of its own, so this returns the version of the controller that generated the given
// configs.  If no config names a controller, returns the version of this program.
std::string VersionThatGenerated(const std::vector<api::MachineConfig>& configs) {
  for (const api::MachineConfig& config : configs) {
    const std::string* version = api::Find(config.metadata.annotations, api::kGeneratedByControllerVersionAnnotation);
    if (version != nullptr && !version->empty()) return *version;
  }
  return std::string(kVersion);
}

enum class Format { kYaml, kJson, kName, kHashInput };

Result<Format> FormatNamed(const std::string& name) {
  if (name == "yaml") return Format::kYaml;
  if (name == "json") return Format::kJson;
  if (name == "name") return Format::kName;
  if (name == "hash-input") return Format::kHashInput;
  return Error(ErrorKind::kInvalid, fmt::format("-o {}: must be yaml, json, name or hash-input", name));
}

Result<> PrintConfig(api::MachineConfig config, Format format) {
  switch (format) {
    case Format::kYaml:
      return PrintYaml(std::move(config));
    case Format::kJson:
      Print(json::ToIndentedText(machineconfig::ToDocument(std::move(config))));
      Print("\n");
      return {};
    case Format::kName:
      Print(config.metadata.name);
      Print("\n");
      return {};
    case Format::kHashInput:
      return machineconfig::WriteHashInput(config.spec, Print);
  }
  return {};
}

}  // namespace

Result<machineconfig::Rendered> RenderFiles(const RenderQuestion& question) {
  Faults faults;
  const auto pool = faults.Collect(ReadOne<api::MachineConfigPool>(question.pool_file, "MachineConfigPool"));
  const auto controller_config =
      faults.Collect(ReadOne<api::ControllerConfig>(question.controller_config_file, api::ControllerConfig::kKind));
  RenderInput input = ReadRenderInput(question.inputs);
  for (const std::string& entry : input.left_out) PrintToStderr(fmt::format("pintle: render: left out: {}\n", entry));
  const bool are_all_read = input.faults.empty();
  faults.Collect(std::exchange(input.faults, {}));
  std::optional<api::IrreconcilableValidationOverrides> overrides;
  if (question.overrides_file) overrides = faults.Collect(machineconfig::ReadOverrides(*question.overrides_file));
  std::optional<api::MachineConfig> current;
  if (question.current_file) {
    current = faults.Collect(ReadOne<api::MachineConfig>(*question.current_file, api::MachineConfig::kKind));
  }
  std::optional<api::OSImageStream> stream;
  if (question.os_image_stream_file) {
    stream = faults.Collect(ReadOne<api::OSImageStream>(*question.os_image_stream_file, api::OSImageStream::kKind));
  }
  machineconfig::MachineConfigs selected;
  if (pool) {
    auto chosen = machineconfig::SelectFor(*pool, input.configs);
    if (chosen) selected = *std::move(chosen);
    // If some files could not be read, the missing configs may be in them.
    if (!chosen && are_all_read) faults.Collect(std::vector{std::move(chosen).error()});
  }
  if (!faults.is_empty()) {
    PrintErrorsOf(input, selected);
    return std::move(faults).All();
  }

  machineconfig::RenderSettings settings{
      .controller_config = *controller_config,
      .controller_version = question.controller_version.value_or(VersionThatGenerated(input.configs)),
      .operator_version = question.operator_version,
  };
  if (overrides) settings.overrides = *overrides;
  if (current) settings.current = &*current;
  if (stream) {
    settings.os_images = TRY(machineconfig::ImagesFor(*pool, *stream));
    settings.os_image_stream = settings.os_images->name;
  }
  auto rendered = machineconfig::Render(*pool, selected, settings);
  if (!rendered) PrintErrorsOf(input, selected);
  return rendered;
}

Result<std::string> NameOfRendered(const std::string& pool, const std::string& file) {
  auto config = TRY(ReadOne<api::MachineConfig>(file, api::MachineConfig::kKind));
  // Rendering always writes these lists, even if they are empty.
  if (!config.spec.kernel_arguments) config.spec.kernel_arguments.emplace();
  if (!config.spec.extensions) config.spec.extensions.emplace();
  return machineconfig::RenderedName(pool, config.spec);
}

Result<ExitStatus> Render(const CommandLine& line) {
  if (const auto pool = line.Value("--hash-only")) {
    if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "--hash-only needs one FILE");
    const std::string format = line.Value("-o").value_or("name");
    if (format != "name" && format != "json") {
      return Error(ErrorKind::kInvalid, fmt::format("-o {}: --hash-only prints a name, or json", format));
    }
    const std::string name = TRY(NameOfRendered(*pool, line.operands().front()));
    Print(format == "name" ? name : json::ToIndentedText({{"name", name}}));
    Print("\n");
    return ExitStatus::kSuccess;
  }
  const Format format = TRY(FormatNamed(line.Value("-o").value_or("yaml")));
  if (line.operands().empty())
    return Error(ErrorKind::kInvalid, "name the files or directories that have the MachineConfigs");
  std::string pool_file = TRY(line.Needed("--pool"));
  std::string controller_config_file = TRY(line.Needed("--controller-config"));
  machineconfig::Rendered rendered = TRY(RenderFiles({
      .pool_file = std::move(pool_file),
      .controller_config_file = std::move(controller_config_file),
      .inputs = line.operands(),
      .current_file = line.Value("--current"),
      .overrides_file = line.Value("--overrides"),
      .os_image_stream_file = line.Value("--os-image-stream"),
      .controller_version = line.Value("--controller-version"),
      .operator_version = line.Value("--operator-version").value_or(""),
  }));
  for (const std::string& warning : rendered.warnings) PrintToStderr(fmt::format("pintle: render: {}\n", warning));
  // The config can be rendered and printed, but no cluster would store it.
  if (const auto size = machineconfig::CheckFitsCluster(rendered.config); !size) {
    PrintToStderr(fmt::format("pintle: render: {}\n", size.error().message()));
  } else if (const auto warning = machineconfig::SizeWarning(rendered.config)) {
    PrintToStderr(fmt::format("pintle: render: {}\n", *warning));
  }
  TRY(PrintConfig(std::move(rendered.config), format));
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
