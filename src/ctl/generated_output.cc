// SPDX-License-Identifier: Apache-2.0
#include "ctl/generated_output.h"

#include <fmt/core.h>

#include <utility>

#include "base/output.h"
#include "ctl/answer.h"
#include "ctl/config_output.h"
#include "json/go_json.h"
#include "json/parse.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {

GeneratedForm GeneratedFormNamed(const std::string& format) {
  if (format == "json") return GeneratedForm::kJson;
  if (format == "names") return GeneratedForm::kNames;
  if (format == "digests") return GeneratedForm::kDigests;
  return GeneratedForm::kYaml;
}

std::string DigestsText(const std::vector<generated::MachineConfig>& configs) {
  if (configs.empty()) return "[]\n";
  // json::Value would sort the members by name, but the operator's lists have them in this order.
  std::string text = "[\n";
  for (const generated::MachineConfig& config : configs) {
    text += fmt::format(" {{\n  \"name\": {},\n  \"file\": {},\n  \"sha256OfSpecConfigRaw\": {}\n }}{}\n",
                        json::GoJson(config.name), json::GoJson(config.name + ".json"),
                        json::GoJson(generated::ConfigDigest(config)), &config == &configs.back() ? "" : ",");
  }
  return text + "]\n";
}

Result<> PrintGenerated(const std::vector<generated::MachineConfig>& configs, GeneratedForm form) {
  switch (form) {
    case GeneratedForm::kYaml:
      for (const generated::MachineConfig& config : configs) {
        if (&config != &configs.front()) Print("---\n");
        TRY(PrintYaml(generated::ToObject(config)), config.name);
      }
      return {};
    case GeneratedForm::kJson: {
      json::Value items = json::Value::array();
      for (const generated::MachineConfig& config : configs) {
        items.push_back(machineconfig::ToDocument(generated::ToObject(config)));
      }
      Print(json::ToIndentedText({{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}));
      Print("\n");
      return {};
    }
    case GeneratedForm::kNames:
      for (const generated::MachineConfig& config : configs) PrintName(config.name);
      return {};
    case GeneratedForm::kDigests:
      Print(DigestsText(configs));
      return {};
  }
  return {};
}

}  // namespace pintle::ctl
