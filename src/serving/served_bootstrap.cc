// SPDX-License-Identifier: Apache-2.0
#include "serving/served_bootstrap.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "api/machine_config_pool.h"
#include "api/tls_security_profile.h"
#include "base/root.h"
#include "json/fields.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"
#include "machineconfig/yaml.h"
#include "serving/served_config.h"
#include "serving/tls_profile.h"

namespace pintle::serving {
namespace {

constexpr const char* kControllerConfigPath = "controller-config/machine-config-controller.yaml";

// Returns the only document of a file.  A missing file is kNotFound.
Result<json::Value> ReadDocumentBelow(const std::string& directory, const std::string& path) {
  const Root root = TRY(Root::Open(directory));
  const std::string text = TRY(root.ReadFile(path), directory);
  std::vector<json::Value> documents = TRY(machineconfig::ParseYaml(text), fmt::format("{}/{}", directory, path));
  if (documents.size() == 1) return std::move(documents.front());
  return Error(ErrorKind::kInvalid, fmt::format("{}/{}: the file must have exactly one object", directory, path));
}

template <typename T>
Result<T> ReadObjectBelow(const std::string& directory, const std::string& path, std::string_view kind) {
  return TRY(machineconfig::ReadObject<T>(TRY(ReadDocumentBelow(directory, path)), kind), directory + "/" + path);
}

// Turns kNotFound into kUnavailable.  A missing file of a pool is answered with 404, because there is nothing to serve,
// but any other missing file is answered with 500, because somebody has to add it.
template <typename T>
Result<T> Needed(Result<T> result, std::string_view doing) {
  if (result || result.error().kind() != ErrorKind::kNotFound) return result;
  return Error(ErrorKind::kUnavailable, fmt::format("{}: {}", doing, result.error().message()));
}

// A pool whose files are read again for each request.
class BootstrapPool final : public ServedPool {
 public:
  BootstrapPool(std::string name, BootstrapFolder folder, std::shared_ptr<event::TextCache> cache)
      : name_(std::move(name)), folder_(std::move(folder)), cache_(std::move(cache)) {}

  Result<Text> TextFor(ignition::SpecVersion version) const override {
    // The text is made for this request only, but counts towards the limit of the cache until it is sent.
    const event::TextCache::Entry entry(
        cache_, [&]() -> Result<std::string> { return ServedText(TRY(ReadSources()), version); });
    return entry.Get();
  }

  int StatusFor(const Error& error) const override { return error.kind() == ErrorKind::kNotFound ? 404 : 500; }

 private:
  Result<ServedSources> ReadSources() const {
    const std::string& directory = folder_.directory;
    const auto pool = TRY(ReadObjectBelow<api::MachineConfigPool>(
        directory, fmt::format("machine-pools/{}.yaml", name_), "MachineConfigPool"));
    const std::string path = fmt::format("machine-configs/{}.yaml", pool.status.configuration.name);
    ServedSources sources;
    sources.config = TRY(machineconfig::ReadMachineConfig(TRY(ReadDocumentBelow(directory, path))), path);
    const auto controller_config = TRY(
        Needed(ReadObjectBelow<api::ControllerConfig>(directory, kControllerConfigPath, api::ControllerConfig::kKind),
               "could not find controller config on initial bootstrap"));
    TRY(AddAuthorities(controller_config, sources), kControllerConfigPath);
    sources.kubeconfig = TRY(Needed(machineconfig::ReadInput(folder_.kubeconfig_file), "the kubeconfig"));
    for (const RegistryFile& registry : folder_.registries) {
      const std::string file = std::filesystem::path(directory) / registry.file;
      auto authorities = TRY(Needed(machineconfig::ReadInput(file), "the authorities of " + registry.host));
      sources.registries.push_back({.host = registry.host, .authorities = std::move(authorities)});
    }
    // During the bootstrap, the operator's server does not adapt this version to the client.
    sources.encapsulated_version = ignition::SpecVersion::k3_5;
    return sources;
  }

  const std::string name_;
  const BootstrapFolder folder_;
  const std::shared_ptr<event::TextCache> cache_;
};

}  // namespace

Result<RegistryFile> ParseRegistryFile(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return Error(ErrorKind::kInvalid,
                 "the value must have the form HOST=FILE, such as registry.example:5000=registry.crt");
  }
  RegistryFile parsed{.host = std::string(text.substr(0, equals)), .file = std::string(text.substr(equals + 1))};
  // The host is the name of a folder on the machine.
  if (parsed.host.find('/') == std::string::npos && parsed.host != "." && parsed.host != "..") return parsed;
  return Error(ErrorKind::kInvalid, "the part before \"=\" has to be the name of a host, which has no slash");
}

Result<ServedPools> ServeBootstrap(BootstrapFolder folder, const std::shared_ptr<event::TextCache>& cache) {
  TRY(Root::Open(folder.directory), "--bootstrap");
  ServedPools pools;
  for (const std::string_view name : {api::kMasterPool, api::kArbiterPool}) {
    pools.emplace(name, std::make_shared<const BootstrapPool>(std::string(name), folder, cache));
  }
  pools.emplace(api::kWorkerPool,
                std::make_shared<const KnownPool>(
                    Error(ErrorKind::kUnavailable,
                          fmt::format("refusing to serve bootstrap configuration to pool \"{}\": the cluster's own "
                                      "server serves it once the control plane runs",
                                      api::kWorkerPool)),
                    cache));
  return pools;
}

Result<net::TlsRules> TlsRulesIn(const std::string& directory) {
  const auto server = ReadObjectBelow<api::ApiServer>(directory, "api-server/api-server.yaml", api::ApiServer::kKind);
  if (!server && server.error().kind() == ErrorKind::kNotFound) return net::TlsRules();
  if (!server) return server.error();
  return TlsRulesOf(server->spec.tls_security_profile);
}

}  // namespace pintle::serving
