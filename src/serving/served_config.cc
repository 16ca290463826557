// SPDX-License-Identifier: Apache-2.0
#include "serving/served_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/annotations.h"
#include "base/base64.h"
#include "ignition/config.h"
#include "ignition/convert.h"
#include "ignition/data_url.h"
#include "json/fields.h"
#include "json/go_text.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/ignition_part.h"

namespace pintle::serving {
namespace {

constexpr const char* kKubeletAuthoritiesPath = "/etc/kubernetes/kubelet-ca.crt";
constexpr const char* kCloudAuthoritiesPath =
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem";
constexpr const char* kAnnotationsPath = "/etc/machine-config-daemon/node-annotations.json";
constexpr const char* kKubeconfigPath = "/etc/kubernetes/kubeconfig";
constexpr const char* kContentPath = "/etc/mcs-machine-config-content.json";
// `pintle firstboot` applies the config in this file on a machine's first boot.
constexpr const char* kEncapsulatedPath = "/etc/ignition-machine-config-encapsulated.json";

constexpr std::int64_t kFileMode = 0644;

// A MachineConfig with its keys in the operator's order: `kind` is first.
struct WrittenMachineConfig {
  std::string kind{api::MachineConfig::kKind};
  std::string api_version{api::kMachineConfigApiVersion};
  api::ObjectMeta metadata;
  api::MachineConfigSpec spec;

  static constexpr auto kFields = json::FieldList{
      json::Required{"kind", &WrittenMachineConfig::kind},
      json::Required{"apiVersion", &WrittenMachineConfig::api_version},
      json::Required{"metadata", &WrittenMachineConfig::metadata},
      json::Required{"spec", &WrittenMachineConfig::spec},
  };
};

ignition::File PlainFile(std::string path, std::string_view contents) {
  ignition::File file;
  file.path = std::move(path);
  file.mode = kFileMode;
  file.overwrite = true;
  file.contents.source = ignition::EncodeDataUrl(contents);
  return file;
}

// Adds the file, or replaces its contents together with their compression and digest.
void PutAuthorities(const char* path, std::string_view pem, ignition::Config& config) {
  if (pem.empty()) return;
  auto& files = config.storage.files;
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& known) { return known.path == path; });
  if (file == files.end()) return files.push_back(PlainFile(path, pem));
  file->contents = {};
  file->contents.source = ignition::EncodeDataUrl(pem);
}

std::string AnnotationsText(const std::string& config, const std::string& image) {
  std::map<std::string, std::string> annotations = {
      {std::string(api::kCurrentConfigAnnotation), config},
      {std::string(api::kDesiredConfigAnnotation), config},
      {std::string(api::kFirstPivotConfigAnnotation), config},
      {std::string(api::kStateAnnotation), std::string(api::kStateDone)},
  };
  if (!image.empty()) {
    annotations[std::string(api::kCurrentImageAnnotation)] = image;
    annotations[std::string(api::kDesiredImageAnnotation)] = image;
  }
  return json::GoText(annotations);
}

// Versions of Ignition before 3.3 have no kernel arguments.  For these versions, moves the arguments into the
// MachineConfig.
Result<> MoveKernelArguments(ignition::KernelArguments& from, ignition::SpecVersion version,
                             std::optional<std::vector<std::string>>& to) {
  if (version >= ignition::SpecVersion::k3_3) return {};
  if (!from.should_not_exist.empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("can't serve version {} with ignition KernelArguments.ShouldNotExist populated",
                             ignition::ToText(version)));
  }
  if (from.should_exist.empty()) return {};
  if (!to) to.emplace();
  std::move(from.should_exist.begin(), from.should_exist.end(), std::back_inserter(*to));
  from.should_exist.clear();
  return {};
}

json::Value OnlyVersion(ignition::SpecVersion version) {
  return {{"ignition", {{"version", ignition::ToText(version)}}}};
}

}  // namespace

const std::string& ServedConfigName(const api::MachineConfigPool& pool) {
  return (pool.status.updated_machine_count > 0 ? pool.spec.configuration : pool.status.configuration).name;
}

Result<> AddAuthorities(const api::ControllerConfig& from, ServedSources& to) {
  const auto decode = [](const char* field, const std::string& base64, std::string& pem) -> Result<> {
    auto decoded = DecodeBase64(base64);
    if (!decoded)
      return Error(ErrorKind::kInvalid, fmt::format("spec.{} of the ControllerConfig is not base64", field));
    pem = *std::move(decoded);
    return {};
  };
  TRY(decode("kubeAPIServerServingCAData", from.spec.kube_apiserver_serving_ca, to.kubelet_authorities));
  return decode("cloudProviderCAData", from.spec.cloud_provider_ca, to.cloud_authorities);
}

Result<std::string> KubeconfigText(const std::string& server, std::string_view authorities, const std::string& token) {
  using json::Value;
  const Value clusters =
      Value::array({{{"name", "local"},
                     {"cluster", {{"server", server}, {"certificate-authority-data", EncodeBase64(authorities)}}}}});
  const Value contexts =
      Value::array({{{"name", "kubelet"}, {"context", {{"cluster", "local"}, {"user", "kubelet"}}}}});
  const Value users = Value::array({{{"name", "kubelet"}, {"user", {{"token", token}}}}});
  const Value current = "kubelet";
  std::string text;
  TRY(machineconfig::WriteGoYaml(
      {{"clusters", &clusters}, {"contexts", &contexts}, {"current-context", &current}, {"users", &users}},
      [&](std::string_view piece) { text += piece; }));
  return text;
}

Result<std::string> ServedText(const ServedSources& sources, ignition::SpecVersion version) {
  json::Report ignored;  // Warnings were reported when the config was rendered.
  auto config = TRY(machineconfig::ParseIgnitionPart(sources.config, ignored));
  WrittenMachineConfig written;
  written.metadata = sources.config.metadata;
  written.spec = sources.config.spec;
  TRY(MoveKernelArguments(config.kernel_arguments, version, written.spec.kernel_arguments));
  PutAuthorities(kKubeletAuthoritiesPath, sources.kubelet_authorities, config);
  PutAuthorities(kCloudAuthoritiesPath, sources.cloud_authorities, config);

  const std::string& pre_built_image = written.metadata.Annotation(api::kPreBuiltImageAnnotation);
  const auto add = [&](std::string path, std::string_view contents) {
    config.storage.files.push_back(PlainFile(std::move(path), contents));
  };
  add(kAnnotationsPath,
      AnnotationsText(written.metadata.name, pre_built_image.empty() ? sources.image : pre_built_image));
  if (!sources.image.empty()) written.spec.os_image_url = sources.image;
  add(kKubeconfigPath, sources.kubeconfig);
  add(kContentPath, json::Indented(json::GoText(written), 4));
  for (const ServedSources::Registry& registry : sources.registries) {
    add(fmt::format("/etc/docker/certs.d/{}/ca.crt", registry.host), registry.authorities);
  }
  written.spec.config = OnlyVersion(sources.encapsulated_version.value_or(version));
  add(kEncapsulatedPath, json::GoText(written));
  return ignition::ConvertToText(std::move(config), version);
}

}  // namespace pintle::serving
