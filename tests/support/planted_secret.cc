// SPDX-License-Identifier: Apache-2.0
#include "support/planted_secret.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "agent/cluster_files.h"
#include "agent/server_authorities.h"
#include "agent/settings.h"
#include "host/ostree/oci_image.h"
#include "ignition/butane.h"
#include "ignition/config.h"
#include "ignition/convert.h"
#include "ignition/data_url.h"
#include "ignition/unit_file.h"
#include "json/fields.h"
#include "json/parse.h"
#include "kube/config.h"
#include "machineconfig/objects.h"
#include "machineconfig/toml.h"
#include "machineconfig/validate.h"
#include "machineconfig/yaml.h"
#include "net/url.h"

namespace pintle::planted {
namespace {

std::string SecretBetween(std::string_view before, std::string_view behind) {
  std::string text(before);
  text += kSecret;
  text += behind;
  return text;
}

template <typename T>
void Add(const Result<T>& result, std::string& messages) {
  if (!result) messages += result.error().message() + "\n";
}

void Add(const json::Report& report, std::string& messages) {
  for (const json::Problem& problem : report.problems()) messages += problem.ToString() + "\n";
  Add(report.ToResult(), messages);
}

std::string MessagesOfJson(const std::string& text) {
  std::string messages;
  json::Report report;
  Add(json::Parse(text, &report), messages);
  Add(report, messages);
  return messages;
}

std::string MessagesOfYaml(const std::string& text) {
  std::string messages;
  json::Report report;
  Add(machineconfig::ParseYaml(text, &report), messages);
  Add(report, messages);
  return messages;
}

std::string MessagesOfToml(const std::string& text) {
  std::string messages;
  Add(machineconfig::ParseToml(text), messages);
  return messages;
}

std::string MessagesOfUnit(const std::string& text) {
  std::string messages;
  Add(ignition::ReadUnit(text), messages);
  return messages;
}

std::string MessagesOfDataUrl(const std::string& text) {
  std::string messages = ignition::DataUrlProblem(text) + "\n";
  Add(ignition::DecodeDataUrl(text), messages);
  return messages;
}

std::string MessagesOfUrl(const std::string& text) {
  std::string messages;
  Add(net::Url::Parse(text), messages);
  return messages;
}

std::string MessagesOfIgnition(const std::string& text) {
  std::string messages;
  json::Report report;
  const auto config = ignition::Parse(text, report);
  Add(config, messages);
  Add(report, messages);
  if (!config) return messages;
  Add(machineconfig::CheckIgnition(*config), messages);
  for (const auto version : {ignition::SpecVersion::k2_2, ignition::SpecVersion::k3_1}) {
    json::Report lost;
    Add(ignition::ConvertTo(*config, version, &lost), messages);
    Add(lost, messages);
  }
  return messages;
}

std::string MessagesOfMachineConfig(const std::string& text) {
  std::string messages;
  json::Report report;
  auto documents = machineconfig::ParseYaml(text, &report);
  Add(documents, messages);
  Add(report, messages);
  if (!documents) return messages;
  for (json::Value& document : *documents) {
    const auto config = machineconfig::ReadMachineConfig(std::move(document));
    Add(config, messages);
    if (!config) continue;
    json::Report problems;
    Add(machineconfig::Validate(*config, problems), messages);
    machineconfig::FindProblems(*config, problems);
    Add(problems, messages);
  }
  return messages;
}

std::string MessagesOfButane(const std::string& text) {
  std::string messages;
  auto documents = machineconfig::ParseYaml(text);
  Add(documents, messages);
  if (!documents) return messages;
  for (json::Value& document : *documents) {
    json::Report report;
    Add(ignition::ReadButane(std::move(document), report), messages);
    Add(report, messages);
  }
  return messages;
}

std::string MessagesOfKubeconfig(const std::string& text) {
  std::string messages;
  Add(kube::ParseKubeconfig(text, "/etc/kubernetes"), messages);
  Add(agent::WithAuthorities(text, "bundle"), messages);
  return messages;
}

std::string MessagesOfControllerConfig(const std::string& text) {
  std::string messages;
  auto value = json::Parse(text);
  Add(value, messages);
  if (!value) return messages;
  auto source = machineconfig::ReadObject<agent::ClusterFilesSource>(*std::move(value), "ControllerConfig");
  Add(source, messages);
  if (!source) return messages;
  // Each error begins with the object's name, which may be the secret.
  source->metadata.name = "c";
  Add(agent::FilesOf(*source), messages);
  return messages;
}

std::string MessagesOfSettings(const std::string& text) {
  std::string messages;
  agent::Settings settings;
  Add(agent::AddSettings(text, "/etc/pintle/pintled.conf", settings), messages);
  return messages;
}

std::string MessagesOfImage(const std::string& text) {
  std::string messages;
  Add(host::ParseOciManifest(text), messages);
  Add(host::ParseOciConfig(text), messages);
  return messages;
}

std::vector<Parser> AllParsers() {
  return {
      {"json", SecretBetween(R"({"auths":{"quay.io":{"auth":")", R"(","n":1.5e3,"t":true}},"list":[1,null]})"), true,
       &MessagesOfJson},
      {"yaml", SecretBetween("a: &x\n  password: ", "\n  b: !!int 1\nc: [*x, 'd']\n"), false, &MessagesOfYaml},
      {"yaml quoted", SecretBetween("password: \"", "\\n\"\nn: !!float 1.5\nb: !!binary aGk=\n"), false,
       &MessagesOfYaml},
      {"toml", SecretBetween("[registry]\npassword = \"", "\"\nport = 5000\nlist = [1, 'x']\n"), false,
       &MessagesOfToml},
      {"toml literal", SecretBetween("token = '", "'\n[a.b]\nc = {d = 1}\n"), false, &MessagesOfToml},
      {"unit", SecretBetween("[Service]\nEnvironment=TOKEN=", "\nExecStart=/bin/true\n[Install]\nWantedBy=a.target\n"),
       false, &MessagesOfUnit},
      {"unit section", SecretBetween("[Service] ", "\nExecStart=/bin/true\n"), false, &MessagesOfUnit},
      {"data url", SecretBetween("data:text/plain;charset=utf-8,", "%0A"), false, &MessagesOfDataUrl},
      {"data url base64", SecretBetween("data:;base64,", ""), false, &MessagesOfDataUrl},
      {"url", SecretBetween("https://user:", "@host:6443/path?token=x"), false, &MessagesOfUrl},
      {"ignition 3",
       SecretBetween(
           R"({"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"core","passwordHash":")",
           R"(","sshAuthorizedKeys":["ssh-ed25519 AAAA"]}]},"storage":{"files":[{"path":"/etc/x","mode":384,"contents":)"
           R"({"source":"data:,x","httpHeaders":[]}}],"luks":[{"name":"l","device":"/dev/vda","clevis":{"custom":)"
           R"({"pin":"sss","config":"c"}}}]},"systemd":{"units":[{"name":"a.service","contents":"[Unit]\n"}]}})"),
       true, &MessagesOfIgnition},
      {"ignition 2",
       SecretBetween(R"({"ignition":{"version":"2.2.0"},"passwd":{"users":[{"name":"core","passwordHash":")",
                     R"("}]},"storage":{"files":[{"filesystem":"root","path":"/etc/x","mode":384,"contents":)"
                     R"({"source":"data:,x"}}]}})"),
       true, &MessagesOfIgnition},
      {"machine config",
       SecretBetween(
           R"({"kind":"MachineConfig","metadata":{"name":"a","labels":{"l":"v"},"annotations":{"a":"v"}},"spec":)"
           R"({"kernelArguments":["a=b"],"fips":false,"config":{"ignition":{"version":"3.4.0"},"passwd":{"users":[)"
           R"({"name":"core","passwordHash":")",
           R"("}]}}}})"),
       true, &MessagesOfMachineConfig},
      {"machine config in yaml",
       SecretBetween(
           "kind: MachineConfig\nmetadata: {name: a}\nspec:\n  config:\n    ignition: {version: 3.4.0}\n    passwd:\n"
           "      users:\n      - name: core\n        passwordHash: ",
           "\n"),
       false, &MessagesOfMachineConfig},
      {"butane",
       SecretBetween(R"({"variant":"fcos","version":"1.5.0","passwd":{"users":[{"name":"core","password_hash":")",
                     R"("}]},"storage":{"files":[{"path":"/etc/x","mode":384,"contents":{"inline":"x"}}]}})"),
       true, &MessagesOfButane},
      {"kubeconfig",
       SecretBetween(
           R"({"apiVersion":"v1","current-context":"c","clusters":[{"name":"k","cluster":{"server":"https://a:6443",)"
           R"("certificate-authority-data":"aGk="}}],"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],)"
           R"("users":[{"name":"u","user":{"token":")",
           R"("}}]})"),
       true, &MessagesOfKubeconfig},
      {"controller config",
       SecretBetween(
           R"({"kind":"ControllerConfig","metadata":{"name":"c"},"spec":{"kubeAPIServerServingCAData":"aGk=",)"
           R"("imageRegistryBundleData":[{"file":"quay.io","data":"aGk="}],"internalRegistryPullSecret":")",
           R"("}})"),
       true, &MessagesOfControllerConfig},
      {"settings",
       SecretBetween("[Agent]\nSource=local\n[Kubernetes]\nKubeletHealth=http://u:", "@localhost/\n[Metrics]\n"), false,
       &MessagesOfSettings},
      {"image",
       SecretBetween(
           R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"digest":"sha256:)"
           R"(aa","size":2},"layers":[{"digest":"sha256:bb","size":3}],"annotations":{"a":")",
           R"("}})"),
       true, &MessagesOfImage},
  };
}

// Returns whether a line is about a name in a field for names.  The fuzzer can move the secret there, and names may
// appear in messages.
bool IsAboutName(std::string_view line) {
  constexpr auto kWithNames = std::to_array<std::string_view>({
      "unit \"",
      "invalid mode ",
      "filesystem \"",
      "uses link defined in config",
      "conflicting inodes",
      "Config has duplicate dropin",
      "unexpected user with name: ",
      "kernelType=",
      "invalid extensions found",
      "the file has no cluster \"",
      "the file has no user \"",
      "the file has no context \"",
      "cluster \"",
      "context \"",
      "user \"",
  });
  return std::any_of(kWithNames.begin(), kWithNames.end(),
                     [&](std::string_view words) { return line.find(words) != std::string_view::npos; });
}

}  // namespace

std::span<const Parser> Parsers() {
  static const std::vector<Parser> kParsers = AllParsers();
  return kParsers;
}

std::string_view PieceOfSecretIn(std::string_view messages) {
  constexpr std::size_t kMinimumLength = 6;
  for (std::size_t at = 0; at + kMinimumLength <= kSecret.size(); ++at) {
    const std::string_view piece = kSecret.substr(at, kMinimumLength);
    if (messages.find(piece) != std::string_view::npos) return piece;
  }
  return {};
}

std::string MessagesWithoutNames(const Parser& parser, const std::string& text) {
  const std::string messages = parser.messages(text);
  std::string kept;
  for (std::size_t begin = 0; begin < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string_view line = std::string_view(messages).substr(begin, end - begin);
    if (!IsAboutName(line)) kept += std::string(line) + "\n";
    begin = end + 1;
  }
  return kept;
}

}  // namespace pintle::planted
