// SPDX-License-Identifier: Apache-2.0
#include "ctl/answer.h"

#include <fmt/core.h>

#include <string>

#include "base/output.h"
#include "base/printable.h"
#include "machineconfig/go_yaml.h"

namespace pintle::ctl {

Form FormOf(const CommandLine& line, Form usual) {
  const std::string format = line.Value("-o").value_or("");
  if (format == "json") return Form::kJson;
  if (format == "yaml") return Form::kYaml;
  if (format == "name") return Form::kName;
  return format == "text" ? Form::kText : usual;
}

void PrintData(const json::Value& answer, Form form) {
  std::string text;
  const auto append = [&](std::string_view piece) { text += piece; };
  // If the YAML writer refuses a string in the answer, the answer is printed as JSON, which is also valid YAML.
  const bool is_yaml = form == Form::kYaml && machineconfig::WriteGoYamlDocument(answer, append).has_value();
  if (!is_yaml) text = json::ToIndentedText(answer) + "\n";
  Print(text);
}

void PrintName(std::string_view name) { Print(fmt::format("{}\n", Printable(name))); }

}  // namespace pintle::ctl
