// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the Ignition server with the config of each pool's new machines, from the cluster.
//
// Every replica has such a feed.  While the config, the image, the certificates and the kubeconfig of a pool stay the
// same, the feed keeps the pool's ServedPool with the texts that were made for it.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/meta.h"
#include "api/secret.h"
#include "controller/cluster.h"
#include "controller/followed_object.h"
#include "controller/generated_kinds.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "kube/mirror.h"
#include "serving/served_pool.h"

namespace pintle::controller {

// A ConfigMap of which only the binary data are read.
struct BinaryConfigMap {
  api::ObjectMeta metadata;
  std::map<std::string, std::string> binary_data;  // The values are base64.

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
  std::string server;  // The API server's URL for new machines; empty to take the URL in the ControllerConfig.
  // The Secret with the entries `token` and `ca.crt`; no name if both are in files.
  kube::ObjectName token_secret = {};
  std::string token_directory = {};  // The directory with the files `token` and `ca.crt`, if there is no Secret.
  std::string namespace_name = {};   // The namespace of kubeconfig-data, whose authorities may be newer than `ca.crt`.
};

class IgnitionFeed {
 public:
  struct Listener {
    std::function<void(serving::ServedPools pools)> serve;
    std::function<void(const Error& error)> trouble;
  };

  // The cluster must outlive this object.
  IgnitionFeed(kube::Client client, const Cluster& cluster, IgnitionFeedSettings settings, Listener listener);
  IgnitionFeed(const IgnitionFeed&) = delete;
  IgnitionFeed& operator=(const IgnitionFeed&) = delete;

  // Must be called when the cluster may have changed.
  void Look();

  // Returns why no machine can get a config, whatever its pool; "" if nothing is wrong.
  const std::string& obstacle() const { return obstacle_; }

 private:
  // Together with the jitter, the longest interval is five minutes.
  static constexpr kube::Backoff::Settings kRetryBackoff = {
      .first = std::chrono::seconds(1), .longest = std::chrono::minutes(4), .jitter = 0.25};

  struct Pool {
    std::string key;  // Identifies all inputs of `served`.
    std::shared_ptr<const serving::ServedPool> served;
    kube::Call call;
    std::optional<kube::Failure> failure;  // The failure of the latest call.
    kube::Backoff backoff{kRetryBackoff, kube::SystemRandom()};
    std::unique_ptr<event::Timer> again;  // Armed while the config cannot be read.
  };

  // Returns the kubeconfig with which new machines join the cluster.
  Result<std::string> Kubeconfig(const View& view);
  // Returns the certificates of the API server's authorities.
  Result<std::string> Authorities();
  // Returns an entry of the token's Secret, or the contents of a file in the token's directory.
  Result<std::string> TokenPart(const std::string& name) const;
  // Returns the path of this file, or a text for messages that names the Secret and this entry.
  std::string PlaceOf(const std::string& name) const;
  // Returns everything that the pool's machines get besides their config.
  Result<serving::ServedSources> SourcesFor(const api::MachineConfigPool& pool, const View& view,
                                            const Result<std::string>& kubeconfig) const;
  // Returns whether the pool's machines can get a config now.
  static bool IsServed(const Pool& pool) {
    return pool.served && pool.served->state() == serving::ServedPool::State::kServed;
  }
  // Sets obstacle(), and reports a new one.
  void Report(std::string obstacle);
  // Reads a config, and serves it to the pool's machines.
  void Fetch(const std::string& pool, const std::string& config, serving::ServedSources sources);
  void FetchLater(const std::string& pool);
  void Serve();

  kube::Client client_;
  const Cluster& cluster_;
  IgnitionFeedSettings settings_;
  Listener listener_;
  const std::shared_ptr<event::TextCache> cache_ = serving::MakeServedTextCache();
  std::map<std::string, Pool> pools_;
  std::string obstacle_ = "the objects that configs are made from have not been read yet";
  kube::Mirror<BinaryConfigMap> authorities_;  // The ConfigMap kubeconfig-data.
  std::string reported_version_;               // The version of the ConfigMap that was last reported as unusable.
  FollowedObject<api::Secret> token_;
};

}  // namespace pintle::controller
