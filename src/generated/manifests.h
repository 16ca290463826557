// SPDX-License-Identifier: Apache-2.0
#pragma once

// The manifests of a cluster that is being installed: the objects that its first MachineConfigs are made from.
//
// They are in one folder, in any number of files of any name.  They take effect in the order of the files' names, and
// in the order of the documents in a file.  Lists are ignored, and so are objects of other kinds and versions.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/container_runtime_config.h"
#include "api/feature_gate.h"
#include "api/image_config.h"
#include "api/image_policy.h"
#include "api/kubelet_config.h"
#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "api/node_settings.h"
#include "api/os_image_stream.h"
#include "api/secret.h"
#include "base/result.h"
#include "generated/mirrors.h"
#include "json/value.h"

namespace pintle::generated {

// A pool, and the document of its manifest.
struct PoolManifest {
  api::MachineConfigPool pool;
  json::Value document;
};

struct Manifests {
  std::optional<json::Value> controller_config;  // Templates may read any field of it.
  std::optional<json::Value> api_server;
  std::optional<api::FeatureGate> feature_gate;
  std::optional<api::NodeSettings> node_settings;
  std::optional<api::Image> image;
  std::optional<api::OSImageStream> os_image_stream;
  std::optional<api::Secret> release_registry;  // The Secret of the InternalReleaseImage.
  bool has_release_image = false;               // Whether there is an InternalReleaseImage.
  std::vector<PoolManifest> pools;              // Their names are unique.
  std::vector<api::MachineConfig> machine_configs;
  std::vector<api::KubeletConfig> kubelet_configs;
  std::vector<api::ContainerRuntimeConfig> runtime_configs;
  std::vector<api::MirrorSet> content_source_policies;
  std::vector<api::MirrorSet> digest_sets;
  std::vector<api::MirrorSet> tag_sets;
  std::vector<api::ImagePolicy> cluster_policies;
  std::vector<api::ImagePolicy> namespace_policies;
  // The manifest of each object: its file, and the number of its document there.  A key is the kind and the name of an
  // object, such as "KubeletConfig set", and a value is like "manifests/04.yaml" [1], with these quotes.  If several
  // manifests of a name take effect, the value has them all, joined by "and".
  std::map<std::string, std::string, std::less<>> places;
  // Messages about manifests that have no effect here.
  std::vector<std::string> without_effect;

  MirrorObjects Mirrors() const { return {content_source_policies, digest_sets, tag_sets}; }
  // Returns "" if the object is not from a manifest.
  std::string PlaceOf(std::string_view kind, std::string_view name) const;
};

// Adds one object.  `place` identifies its manifest in messages.
Result<> AddManifest(json::Value object, const std::string& place, Manifests& to);

// Reads all files of a folder, but not those in its subfolders.  Returns the first error.  If the Machine Config
// Operator reports the same error, the error has the operator's words.
Result<Manifests> ReadManifests(const std::string& folder);

// Returns an error if the manifests, which come from this folder, lack an object that every cluster needs.
Result<> CheckComplete(const Manifests& manifests, std::string_view folder);

}  // namespace pintle::generated
