// SPDX-License-Identifier: Apache-2.0

// Runs cases of the Operator's template controller, with folders of templates and with single templates.

#include "generated/templates.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "generated/render_config.h"
#include "generated/template_folder.h"
#include "generated/template_functions.h"
#include "generated/tls_settings.h"
#include "gotemplate/template.h"
#include "gotext/quote.h"
#include "json/parse.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"

namespace pintle::vectors {
namespace {

// The pull secret of the cases that have none of their own.
constexpr const char* kEmptyPullSecret = "{\"auths\":{}}";
// The name of the controller's build.
constexpr const char* kControllerVersion = "HASH";

struct Inputs {
  json::Value controller_config;
  std::string pull_secret;
  generated::TlsSettings tls;
};

Inputs InputsIn(const std::filesystem::path& folder) {
  Inputs inputs;
  inputs.controller_config = DocumentsOf(folder / "controllerconfig.yaml").front();
  const auto secret = folder / "pullsecret.json";
  inputs.pull_secret = std::filesystem::exists(secret) ? TextOf(secret) : kEmptyPullSecret;
  std::optional<json::Value> api_server;
  if (std::filesystem::exists(folder / "apiserver.yaml")) api_server = DocumentsOf(folder / "apiserver.yaml").front();
  inputs.tls = generated::TlsSettingsOf(api_server ? &*api_server : nullptr);
  return inputs;
}

Result<std::vector<generated::MachineConfig>> ConfigsOf(const generated::TemplateFolder& templates, Inputs inputs) {
  std::string secret = TRY(generated::CompactPullSecret(inputs.pull_secret));
  const generated::RenderConfig config(inputs.controller_config["spec"], std::move(secret), inputs.tls);
  auto configs = TRY(generated::MachineConfigsOfTemplates(templates, config, kControllerVersion));
  for (auto& made : configs) {
    made.owner_references.push_back(generated::OwnerOfTemplates(inputs.controller_config));
  }
  return configs;
}

// The vectors do not contain empty folders, so a missing folder has no templates.
generated::TemplateFolder FolderOrNone(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return generated::TemplateFolder(path);
  auto folder = generated::TemplateFolder::Read(path);
  if (!folder) throw std::runtime_error(folder.error().message());
  return *std::move(folder);
}

// Returns the beginning of our error if the operator's error contains the pull secret, which ours never does, and
// nullopt otherwise.
std::optional<std::string> WithoutSecret(std::string_view error, const std::string& pull_secret) {
  constexpr std::string_view kNotJson = "couldn't compact pullsecret";
  if (error.starts_with(kNotJson)) {
    if (pull_secret.empty()) return std::nullopt;
    return std::string(kNotJson) + ": ";
  }
  constexpr std::string_view kBefore = "failed to unmarshal ";
  constexpr std::string_view kBehind = " into struct: ";
  const std::size_t begin = error.find(kBefore);
  const std::size_t end = error.rfind(kBehind);
  const auto compact = generated::CompactPullSecret(pull_secret);
  if (begin == std::string_view::npos || end == std::string_view::npos || !compact) return std::nullopt;
  const std::string quoted = gotext::Quoted(*compact);
  const std::size_t text = begin + kBefore.size();
  if (error.substr(text, end - text).find(quoted.substr(1, quoted.size() - 2)) == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(error.substr(0, text)) + "a text with the pull secret in it" + std::string(error.substr(end));
}

void AddCase(const std::string& name, const std::filesystem::path& out, const Inputs& inputs,
             const generated::TemplateFolder& templates, Tally& tally) {
  const auto configs = ConfigsOf(templates, inputs);
  std::string error = std::filesystem::exists(out / "error.txt") ? TextOf(out / "error.txt") : "";
  while (error.ends_with('\n')) error.pop_back();
  const auto expected = WithoutSecret(error, inputs.pull_secret);
  if (!expected) return tally.Add(name, DifferenceFrom(out, configs));
  const std::string got = configs ? "configs" : configs.error().message();
  tally.AddDeliberate(name, "the error of the operator shows the pull secret",
                      DifferenceOfTexts(*expected, std::string_view(got).substr(0, expected->size())));
}

std::string DifferenceOfTemplate(const json::Value& test) {
  generated::TlsSettings tls;
  tls.min_version = test.TextAt({"tlsMinVersion"});
  if (const json::Value* suites = test.Find("tlsCipherSuites")) {
    for (const json::Value& suite : *suites) tls.cipher_suites.push_back(suite.text());
  }
  const generated::RenderConfig config(test.at("spec"), test.TextAt({"pullSecret"}), tls);
  const auto parsed = gotemplate::Template::Parse("t", test.at("template").text(), generated::IsTemplateFunction);
  if (!parsed) {
    return DifferenceOfTexts(test.TextAt({"error"}), "failed to parse template t: " + parsed.error().message());
  }
  const auto text = generated::TextOfTemplate(*parsed, config);
  if (!text) return DifferenceOfTexts(test.TextAt({"error"}), text.error().message());
  if (const json::Value* error = test.Find("error")) return "should be an error: " + error->text();
  return DifferenceOfTexts(test.at("output").text(), *text);
}

}  // namespace

Tally RunTemplate(const std::filesystem::path& folder) {
  Tally tally("template");
  const generated::TemplateFolder templates = FolderOrNone(folder.parent_path() / "own-templates");
  for (const std::string& name : NamesIn(folder)) {
    tally.Try(name, [&] { AddCase(name, folder / name / "out-own", InputsIn(folder / name), templates, tally); });
  }
  return tally;
}

Tally RunTemplateSpecial(const std::filesystem::path& folder) {
  Tally tally("template-special");
  for (const std::string& name : NamesIn(folder)) {
    tally.Try(name, [&] {
      const generated::TemplateFolder templates = FolderOrNone(folder / name / "templates");
      AddCase(name, folder / name / "out", InputsIn(folder / name), templates, tally);
    });
  }
  return tally;
}

Tally RunTemplateFunctions(const std::filesystem::path& folder) {
  Tally tally("template-functions");
  const std::string cases = TextOf(folder / "cases.jsonl");
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < cases.size(); ++number) {
    const std::size_t end = std::min(cases.find('\n', begin), cases.size());
    const auto test = json::Parse(std::string_view(cases).substr(begin, end - begin));
    const std::string line = fmt::format("line {}", number + 1);
    if (test) {
      const std::string name = fmt::format("{} ({})", test->at("name").text(), line);
      tally.Try(name, [&] { tally.Add(name, DifferenceOfTemplate(*test)); });
    } else {
      tally.Add(line, test.error().message());
    }
    begin = end + 1;
  }
  return tally;
}

}  // namespace pintle::vectors
