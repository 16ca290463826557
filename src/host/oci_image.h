// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an OCI image says of itself: the documents that a registry serves, those of Docker included.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "json/fields.h"

namespace pintle::host {

struct OciPlatform {
  std::string architecture;  // As Go calls it: "amd64".
  std::string os;

  static constexpr auto kFields = json::FieldList{
      json::Field{"architecture", &OciPlatform::architecture},
      json::Field{"os", &OciPlatform::os},
  };
};

// Names a document or a layer by what is in it.
struct OciDescriptor {
  std::string media_type;
  std::string digest;
  std::uint64_t size = 0;
  std::optional<OciPlatform> platform;
  std::map<std::string, std::string> annotations;

  static constexpr auto kFields = json::FieldList{
      json::Field{"mediaType", &OciDescriptor::media_type},
      json::Required{"digest", &OciDescriptor::digest},
      json::Required{"size", &OciDescriptor::size},
      json::Field{"platform", &OciDescriptor::platform},
      json::Field{"annotations", &OciDescriptor::annotations},
  };
};

struct OciManifest {
  int schema_version = 0;
  std::string media_type;
  OciDescriptor config;
  std::vector<OciDescriptor> layers;  // The lowest first.

  static constexpr auto kFields = json::FieldList{
      json::Required{"schemaVersion", &OciManifest::schema_version},
      json::Field{"mediaType", &OciManifest::media_type},
      json::Required{"config", &OciManifest::config},
      json::Required{"layers", &OciManifest::layers},
  };
};

// One image for several platforms, or what is in a layout.
struct OciIndex {
  int schema_version = 0;
  std::vector<OciDescriptor> manifests;

  static constexpr auto kFields = json::FieldList{
      json::Required{"schemaVersion", &OciIndex::schema_version},
      json::Required{"manifests", &OciIndex::manifests},
  };
};

struct OciRunConfig {
  std::map<std::string, std::string> labels;

  static constexpr auto kFields = json::FieldList{
      json::Field{"Labels", &OciRunConfig::labels},
  };
};

struct OciRootFs {
  std::vector<std::string> diff_ids;  // Of each layer, the digest of what was packed.

  static constexpr auto kFields = json::FieldList{
      json::Field{"diff_ids", &OciRootFs::diff_ids},
  };
};

struct OciConfig {
  std::string created;  // RFC 3339
  std::string architecture;
  OciRunConfig config;
  OciRootFs rootfs;

  static constexpr auto kFields = json::FieldList{
      json::Field{"created", &OciConfig::created},
      json::Field{"architecture", &OciConfig::architecture},
      json::Field{"config", &OciConfig::config},
      json::Field{"rootfs", &OciConfig::rootfs},
  };
};

// All digests in it are proper ones.
Result<std::variant<OciManifest, OciIndex>> ParseOciManifest(std::string_view text);
Result<OciConfig> ParseOciConfig(std::string_view text);

// The image for Linux on this kind of machine; `machine` as uname(2) calls it.
Result<OciDescriptor> ForMachine(const OciIndex& index, std::string_view machine);

// The image with this tag, or without a tag the only one.
Result<OciDescriptor> WithTag(const OciIndex& index, std::string_view tag);

// What the image calls its version; empty when it does not.
std::string VersionOf(const OciConfig& config);

// An OSTree commit that was packed into the lowest layers of an image, as rpm-ostree, bootc and the makers of CoreOS do
// it.  These layers hold its objects, which say all that is in it; a tar archive alone would not.
struct PackedCommit {
  std::string checksum;  // Empty when the image does not say.
  std::size_t layers = 0;
};

// Nothing for an image whose layers all are plain trees.
Result<std::optional<PackedCommit>> PackedCommitOf(const OciManifest& manifest, const OciConfig& config);

// An error if these bytes are not those that the digest stands for.
Result<> ExpectDigest(std::string_view digest, std::string_view bytes);

}  // namespace pintle::host
