// SPDX-License-Identifier: Apache-2.0
#include "ctl/template.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "api/controller_config.h"
#include "base/output.h"
#include "ctl/generate_input.h"
#include "ctl/read_one.h"
#include "ctl/verbs.h"
#include "generated/render_config.h"
#include "generated/template_functions.h"
#include "generated/templates.h"
#include "generated/tls_settings.h"
#include "gotemplate/execute.h"
#include "gotemplate/json_value.h"
#include "gotemplate/template.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/input.h"

namespace pintle::ctl {
namespace {

Result<gotemplate::Template> ParseTemplate(const std::string& file) {
  std::string text = TRY(machineconfig::ReadInput(file));
  return TRY(gotemplate::Template::Parse(file, std::move(text), generated::IsTemplateFunction),
             fmt::format("failed to parse template {}", file));
}

// Executes the template for the data in a file.  The data is decoded as Go decodes it: each number becomes a float64,
// and each object becomes a map.
Result<std::string> TextForData(const std::string& data_file, const gotemplate::Template& parsed) {
  const json::Value data = TRY(json::Parse(TRY(machineconfig::ReadInput(data_file))), data_file);
  gotemplate::Memory memory;
  const gotemplate::Value value =
      gotemplate::WithoutInterface(gotemplate::FromJson(data, gotemplate::kAnyType, memory));
  std::string text;
  TRY(gotemplate::Execute(parsed, generated::TemplateFunctions(), value, text), "failed to execute template");
  return text;
}

// Executes the template for the cluster of a ControllerConfig.
Result<std::string> TextForCluster(const CommandLine& line, const gotemplate::Template& parsed) {
  const std::string config_file = TRY(line.Needed("--controller-config"));
  const json::Value config = TRY(ReadOne<json::Value>(config_file, api::ControllerConfig::kKind));
  const json::Value* const spec = config.Find("spec");
  if (spec == nullptr || !spec->is_object()) {
    return Error(ErrorKind::kInvalid, fmt::format("{}: the ControllerConfig has no spec; add it", config_file));
  }
  TRY(generated::CheckControllerConfigSpec(*spec), config_file);
  std::optional<json::Value> api_server;
  if (const auto file = line.Value("--api-server")) api_server = TRY(ReadOne<json::Value>(*file, "APIServer"));
  const auto secret_file = line.Value(kPullSecretOption.name);
  const std::string secret =
      TRY(CredentialsIn(secret_file ? TRY(ReadPullSecretFile(*secret_file)) : EmptyPullSecret()));
  const generated::RenderConfig data(*spec, TRY(generated::CompactPullSecret(secret)),
                                     generated::TlsSettingsOf(api_server ? &*api_server : nullptr));
  return generated::TextOfTemplate(parsed, data);
}

}  // namespace

Result<ExitStatus> Template(const CommandLine& line) {
  if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "name one template (see --help)");
  const auto data_file = line.Value("--data");
  if (data_file.has_value() == line.Has("--controller-config")) {
    return Error(ErrorKind::kInvalid,
                 "give the template its data: either --data FILE or --controller-config FILE (see --help)");
  }
  if (data_file && (line.Has("--api-server") || line.Has(kPullSecretOption.name))) {
    return Error(ErrorKind::kInvalid, "--api-server and --pull-secret need --controller-config");
  }
  const gotemplate::Template parsed = TRY(ParseTemplate(line.operands().front()));
  Print(TRY(data_file ? TextForData(*data_file, parsed) : TextForCluster(line, parsed)));
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
