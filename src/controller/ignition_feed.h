// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Ignition server serves, out of the cluster: for each pool the config of its new machines.
//
// Every replica has one.  A pool whose config, certificates and kubeconfig are what they were stays the same object,
// with the bytes that were made for it.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/meta.h"
#include "controller/cluster.h"
#include "controller/served_pool.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "kube/mirror.h"

namespace pintle::controller {

// Of a ConfigMap, what is no text.
struct BinaryConfigMap {
  api::ObjectMeta metadata;
  std::map<std::string, std::string> binary_data;  // Base64.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &BinaryConfigMap::metadata},
      json::Field{"binaryData", &BinaryConfigMap::binary_data},
  };
};

}  // namespace pintle::controller

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<controller::BinaryConfigMap> = {"", "v1", "configmaps", "ConfigMap",
                                                                            Scope::kNamespaced};

}  // namespace pintle::kube

namespace pintle::controller {

struct IgnitionFeedSettings {
  std::string server;                // The API server's URL as new machines reach it; empty: see ControllerConfig.
  std::string token_directory = {};  // With the files `token` and `ca.crt`.
  std::string namespace_name = {};   // Of the ConfigMap that has newer authorities.
};

class IgnitionFeed {
 public:
  struct Listener {
    std::function<void(ServedPools pools)> serve;
    std::function<void(const Error& error)> trouble;
  };

  // The cluster must outlive it.
  IgnitionFeed(kube::Client client, const Cluster& cluster, IgnitionFeedSettings settings, Listener listener);
  IgnitionFeed(const IgnitionFeed&) = delete;
  IgnitionFeed& operator=(const IgnitionFeed&) = delete;

  // The cluster may have changed.
  void Look();

 private:
  // With all of the jitter, the longest is five minutes.
  static constexpr kube::Backoff::Settings kTimes = {
      .first = std::chrono::seconds(1), .longest = std::chrono::minutes(4), .jitter = 0.25};

  struct Pool {
    std::string key;  // Of all that goes into it.
    std::shared_ptr<const ServedPool> served;
    kube::Call call;
    std::optional<kube::Failure> failure;  // The last one.
    kube::Backoff backoff{kTimes, kube::SystemRandom()};
    std::unique_ptr<event::Timer> again;  // While the config cannot be had.
  };

  Result<std::string> Kubeconfig(const View& view) const;
  Result<std::string> Authorities() const;
  // What the pool's machines are given besides their config.
  Result<ServedSources> SourcesFor(const api::MachineConfigPool& pool, const View& view,
                                   const Result<std::string>& kubeconfig) const;
  void Fetch(const std::string& pool, const std::string& config, ServedSources sources);
  void FetchLater(const std::string& pool);
  void Serve();

  kube::Client client_;
  const Cluster& cluster_;
  IgnitionFeedSettings settings_;
  Listener listener_;
  const std::shared_ptr<event::TextRoom> room_ = RoomForServedTexts();
  std::map<std::string, Pool> pools_;
  kube::Mirror<BinaryConfigMap> authorities_;
};

}  // namespace pintle::controller
