// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the documents that describe an OCI image in a registry, and Docker's equivalents.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "json/field_list.h"

namespace pintle::host {

struct OciPlatform {
  std::string architecture;  // The architecture as Go names it, such as "amd64".
  std::string os;

  static constexpr auto kFields = json::FieldList{
      json::Field{"architecture", &OciPlatform::architecture},
      json::Field{"os", &OciPlatform::os},
  };
};

// A reference to a document or a layer by its digest.
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
  std::vector<OciDescriptor> layers;  // The lowest layer comes first.

  static constexpr auto kFields = json::FieldList{
      json::Required{"schemaVersion", &OciManifest::schema_version},
      json::Field{"mediaType", &OciManifest::media_type},
      json::Required{"config", &OciManifest::config},
      json::Required{"layers", &OciManifest::layers},
  };
};

// A list of images: one image for several platforms, or all images of a layout.
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
  std::vector<std::string> diff_ids;  // The digests of the layers before they were packed.

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

// Parses a manifest or an index.  A digest that is not a well-formed SHA-256 digest is an error.
Result<std::variant<OciManifest, OciIndex>> ParseOciManifest(std::string_view text);

Result<OciConfig> ParseOciConfig(std::string_view text);

// Returns the Linux image for an architecture.  `machine` is the architecture as uname(2) names it.
Result<OciDescriptor> ForMachine(const OciIndex& index, std::string_view machine);

// Returns the image with this tag, or the only image if `tag` is empty.
Result<OciDescriptor> WithTag(const OciIndex& index, std::string_view tag);

// Returns the version that the image's labels name, or "".
std::string VersionOf(const OciConfig& config);

// An OSTree commit that was packed into the lowest layers of an image, as rpm-ostree, bootc and the builders of CoreOS
// do.  These layers contain all objects of the commit.  Plain tar archives would lose some properties of the files.
struct PackedCommit {
  std::string checksum;    // Empty if the image does not name the commit.
  std::size_t layers = 0;  // The number of layers that contain the commit's objects.
};

// Returns nullopt if the image has no packed commit: all its layers are plain tar archives.
Result<std::optional<PackedCommit>> PackedCommitOf(const OciManifest& manifest, const OciConfig& config);

// Returns a digest without its "sha256:".  In a layout, this is the name of the file of the blob with this digest.
std::string HexOf(std::string_view digest);

// Returns an error if the bytes do not have this digest.
Result<> ExpectDigest(std::string_view digest, std::string_view bytes);

}  // namespace pintle::host
