// SPDX-License-Identifier: Apache-2.0
#include "controller/ignition_feed.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "controller/secret_entry.h"
#include "json/fields.h"
#include "machineconfig/input.h"
#include "net/certificates.h"
#include "pool/layering.h"

namespace pintle::controller {
namespace {

constexpr const char* kAuthoritiesConfigMap = "kubeconfig-data";
constexpr const char* kBundleKey = "ca-bundle.crt";
// The value of Pool::key for a pool that has no rendered config.
constexpr const char* kUnrendered = "unrendered";
// The entry beside the token in its Secret, or the file beside the token in its directory.
constexpr const char* kAuthoritiesEntry = "ca.crt";
// The ends of the names of Services, and a part of the names that Routes get, in the namespace of the cluster's
// registry.
constexpr std::string_view kRegistryService = ".openshift-image-registry.svc";
constexpr std::string_view kRegistryServiceInFull = ".openshift-image-registry.svc.cluster.local";
constexpr std::string_view kRegistryRoute = "-openshift-image-registry.";

// Returns whether an image is in the registry inside the cluster.  New machines cannot pull from there: they cannot
// resolve the name of a Service, and do not have the credentials for a Route yet.
bool IsInClusterRegistry(std::string_view image) {
  const std::string_view registry = image.substr(0, image.find('/'));
  const std::string_view host = registry.substr(0, registry.find(':'));
  return host.ends_with(kRegistryService) || host.ends_with(kRegistryServiceInFull) ||
         host.find(kRegistryRoute) != std::string_view::npos;
}

// Returns the image that a pool's new machines start with.  Returns an empty string if no image was built from their
// config, if they cannot pull it, or if no node of the pool has been updated yet.
std::string ImageFor(const api::MachineConfigPool& pool, const View& view, const std::string& config) {
  const pool::Layering layering = pool::FindLayering(pool, view.os_configs, view.os_builds);
  if (layering.build == nullptr || layering.image().empty() || pool.status.updated_machine_count == 0) return "";
  const bool is_of_config = layering.build->spec.machine_config.name == config;
  const bool is_built = pool::BuildProgress(*layering.build).succeeded;
  return is_of_config && is_built && !IsInClusterRegistry(layering.image()) ? std::string(layering.image()) : "";
}

std::string ServedKey(const std::string& config, const serving::ServedSources& sources) {
  return config + "\n" + sources.image + "\n" + sources.kubelet_authorities + "\n" + sources.cloud_authorities + "\n" +
         sources.kubeconfig;
}

}  // namespace

IgnitionFeed::IgnitionFeed(kube::Client client, const Cluster& cluster, IgnitionFeedSettings settings,
                           Listener listener)
    : client_(std::move(client)),
      cluster_(cluster),
      settings_(std::move(settings)),
      listener_(std::move(listener)),
      authorities_(client_,
                   {.namespace_name = settings_.namespace_name,
                    .field_selector = std::string("metadata.name=") + kAuthoritiesConfigMap},
                   {.added = [this](const BinaryConfigMap&) { Look(); },
                    .changed = [this](const BinaryConfigMap&, const BinaryConfigMap&) { Look(); },
                    .synced = [this] { Look(); },
                    .trouble = [this](const Error& error) { listener_.trouble(error); }}),
      token_(client_,
             {.changed = [this] { Look(); }, .trouble = [this](const Error& error) { listener_.trouble(error); }},
             settings_.token_secret) {}

Result<std::string> IgnitionFeed::Kubeconfig(const View& view) {
  if (view.controller_config == nullptr) return Error(ErrorKind::kUnavailable, "there is no ControllerConfig yet");
  const std::string& server =
      settings_.server.empty() ? view.controller_config->spec.infra.status.api_server_internal_url : settings_.server;
  if (server.empty()) {
    return Error(
        ErrorKind::kInvalid,
        "neither --apiserver-url nor spec.infra.status.apiServerInternalURI of the ControllerConfig is set, so "
        "the API server's URL for new machines is unknown");
  }
  const std::string token = TRY(TokenPart("token"));
  const std::string authorities = TRY(Authorities());
  return serving::KubeconfigText(server, authorities, token);
}

// Prefers the ConfigMap kubeconfig-data, since the certificates beside the token may be older than those that the API
// server uses now.
Result<std::string> IgnitionFeed::Authorities() {
  if (const BinaryConfigMap* const newer = authorities_.Find({settings_.namespace_name, kAuthoritiesConfigMap})) {
    const auto bundle = newer->binary_data.find(kBundleKey);
    const auto decoded = bundle == newer->binary_data.end() ? std::nullopt : DecodeBase64(bundle->second);
    if (decoded && net::HasCertificate(*decoded)) return *decoded;
    const std::string& version = newer->metadata.resource_version;
    if (bundle != newer->binary_data.end() && std::exchange(reported_version_, version) != version) {
      listener_.trouble(Error(ErrorKind::kInvalid,
                              fmt::format("ConfigMap {} has a {} in which no certificate can be read; new machines get "
                                          "the authorities beside the token",
                                          kAuthoritiesConfigMap, kBundleKey)));
    }
  }
  std::string authorities = TRY(TokenPart(kAuthoritiesEntry));
  if (net::HasCertificate(authorities)) return authorities;
  return Error(ErrorKind::kInvalid, fmt::format("{}: no certificate can be read", PlaceOf(kAuthoritiesEntry)));
}

Result<std::string> IgnitionFeed::TokenPart(const std::string& name) const {
  if (!settings_.token_secret.name.empty()) return SecretEntry(token_, name);
  return machineconfig::ReadInput(PlaceOf(name));
}

std::string IgnitionFeed::PlaceOf(const std::string& name) const {
  if (settings_.token_secret.name.empty()) return settings_.token_directory + "/" + name;
  return fmt::format("the Secret {}: {}", settings_.token_secret.ToString(), name);
}

Result<serving::ServedSources> IgnitionFeed::SourcesFor(const api::MachineConfigPool& pool, const View& view,
                                                        const Result<std::string>& kubeconfig) const {
  if (!kubeconfig) return kubeconfig.error();
  serving::ServedSources sources;
  sources.image = ImageFor(pool, view, serving::ServedConfigName(pool));
  sources.kubeconfig = *kubeconfig;
  TRY(serving::AddAuthorities(*view.controller_config, sources));
  return sources;
}

void IgnitionFeed::Look() {
  if (!cluster_.is_ready() || !authorities_.is_synced() || !token_.is_ready()) return;
  const View view = cluster_.Look();
  const auto kubeconfig = Kubeconfig(view);
  // A missing ControllerConfig is no obstacle to report: a cluster that is being set up has none.
  Report(kubeconfig || view.controller_config == nullptr ? "" : kubeconfig.error().message());
  bool is_changed = std::erase_if(pools_, [&](const auto& pool) { return view.PoolNamed(pool.first) == nullptr; }) > 0;
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    const std::string& config = serving::ServedConfigName(*pool);
    auto sources = SourcesFor(*pool, view, kubeconfig);
    std::string key = config.empty() ? kUnrendered : sources ? ServedKey(config, *sources) : sources.error().message();
    Pool& known = pools_[name];
    if (known.key == key) continue;
    known.key = std::move(key);
    if (!config.empty() && sources) {
      Fetch(name, config, *std::move(sources));
      continue;
    }
    known.call = {};
    if (config.empty()) {
      known.served = std::make_shared<const serving::UnrenderedPool>();
    } else {
      known.served = std::make_shared<const serving::KnownPool>(sources.error(), cache_);
    }
    is_changed = true;
  }
  if (is_changed) Serve();
}

void IgnitionFeed::Report(std::string obstacle) {
  if (obstacle == obstacle_) return;
  obstacle_ = std::move(obstacle);
  if (obstacle_.empty()) return;
  listener_.trouble(Error(ErrorKind::kUnavailable, "new machines cannot get a config: " + obstacle_));
}

// Until the config has been read, the previous config is served.
void IgnitionFeed::Fetch(const std::string& pool, const std::string& config, serving::ServedSources sources) {
  Pool& fetched = pools_[pool];
  if (!IsServed(fetched)) {
    fetched.served = std::make_shared<const serving::KnownPool>(
        Error(ErrorKind::kUnavailable, fmt::format("the config {} has not been read yet", config)), cache_);
  }
  if (fetched.again) fetched.again->Cancel();
  fetched.call =
      client_.Once([&fetched](const kube::Failure& failure) { fetched.failure = failure; })
          .Get<api::MachineConfig>(
              {"", config}, [this, pool, sources = std::move(sources)](Result<api::MachineConfig>&& found) mutable {
                Pool& known = pools_.at(pool);
                if (found) {
                  known.backoff.Reset();
                  sources.config = std::move(*found);
                  known.served = std::make_shared<const serving::KnownPool>(std::move(sources), cache_);
                } else {
                  listener_.trouble(found.error());
                  if (!IsServed(known)) {
                    known.served = std::make_shared<const serving::KnownPool>(found.error(), cache_);
                  }
                  FetchLater(pool);
                }
                Serve();
              });
}

// Fetches after the back-off, or sooner if the pool's inputs change.
void IgnitionFeed::FetchLater(const std::string& pool) {
  Pool& known = pools_.at(pool);
  if (!known.again) {
    known.again = std::make_unique<event::Timer>(
        client_.transport()->loop(),
        [this, pool] {
          pools_.at(pool).key.clear();
          Look();
        },
        kube::kRetrySlack);
  }
  const auto failure = std::exchange(known.failure, std::nullopt);
  known.again->After(std::max(known.backoff.Next(), kube::RetryAfterOf(failure)));
}

void IgnitionFeed::Serve() {
  serving::ServedPools all;
  for (const auto& [name, pool] : pools_) {
    if (pool.served) all.emplace(name, pool.served);
  }
  listener_.serve(std::move(all));
}

}  // namespace pintle::controller
