// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/oci_image.h"

#include <fmt/core.h>

#include <algorithm>

#include "json/fields.h"
#include "json/parse.h"

namespace pintle::host {
namespace {

// The limits for hostile input: the documents of real images are some kilobytes long.
constexpr json::ParseLimits kLimits{.depth = 50, .bytes = 16 << 20, .values = 500'000};

// Images have tens of layers, and a container cannot run an image with more than the 127 layers that overlayfs stacks.
constexpr std::size_t kMostLayers = 1000;

template <typename T>
Result<T> DecodeDocument(json::Value document) {
  json::Report report;
  T decoded = json::Decode<T>(std::move(document), report);
  TRY(report.ToResult());
  return decoded;
}

Result<> CheckDigest(const OciDescriptor& descriptor) {
  constexpr std::string_view kPrefix = "sha256:";
  const std::string_view digest = descriptor.digest;
  const bool is_proper = digest.starts_with(kPrefix) &&
                         Digest::FromHex(DigestAlgorithm::kSha256, digest.substr(kPrefix.size())).has_value() &&
                         std::none_of(digest.begin(), digest.end(), [](char c) { return c >= 'A' && c <= 'F'; });
  if (is_proper) return {};
  return Error(ErrorKind::kInvalid, "one of its digests is not a SHA-256 digest");
}

std::string_view GoArchitecture(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;  // Go and uname(2) use the same names for ppc64le and s390x.
}

Result<OciIndex> ReadIndex(json::Value document) {
  OciIndex index = TRY(DecodeDocument<OciIndex>(std::move(document)));
  for (const OciDescriptor& manifest : index.manifests) TRY(CheckDigest(manifest));
  return index;
}

Result<OciManifest> ReadManifest(json::Value document) {
  OciManifest manifest = TRY(DecodeDocument<OciManifest>(std::move(document)));
  if (manifest.layers.empty() || manifest.layers.size() > kMostLayers) {
    return Error(ErrorKind::kInvalid, fmt::format("an image cannot have {} layers", manifest.layers.size()));
  }
  TRY(CheckDigest(manifest.config));
  for (const OciDescriptor& layer : manifest.layers) TRY(CheckDigest(layer));
  return manifest;
}

}  // namespace

Result<std::variant<OciManifest, OciIndex>> ParseOciManifest(std::string_view text) {
  std::variant<OciManifest, OciIndex> parsed;
  json::Value document = TRY(json::Parse(text, nullptr, kLimits), "reading an image's manifest");
  if (document.contains("manifests")) {
    parsed = TRY(ReadIndex(std::move(document)), "reading an index of images");
  } else {
    parsed = TRY(ReadManifest(std::move(document)), "reading an image's manifest");
  }
  return parsed;
}

Result<OciConfig> ParseOciConfig(std::string_view text) {
  return TRY(DecodeDocument<OciConfig>(TRY(json::Parse(text, nullptr, kLimits), "reading an image's configuration")),
             "reading an image's configuration");
}

Result<OciDescriptor> ForMachine(const OciIndex& index, std::string_view machine) {
  const std::string_view architecture = GoArchitecture(machine);
  for (const OciDescriptor& image : index.manifests) {
    if (image.platform && image.platform->os == "linux" && image.platform->architecture == architecture) return image;
  }
  return Error(ErrorKind::kNotFound, fmt::format("there is no image for Linux on {}", architecture));
}

Result<OciDescriptor> WithTag(const OciIndex& index, std::string_view tag) {
  if (tag.empty() && index.manifests.size() == 1) return index.manifests[0];
  if (tag.empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("there are {} images in the layout: name a tag", index.manifests.size()));
  }
  for (const OciDescriptor& image : index.manifests) {
    const auto name = image.annotations.find("org.opencontainers.image.ref.name");
    if (name != image.annotations.end() && name->second == tag) return image;
  }
  return Error(ErrorKind::kNotFound, fmt::format("no image in the layout has the tag \"{}\"", tag));
}

std::string VersionOf(const OciConfig& config) {
  for (const char* label : {"version", "org.opencontainers.image.version"}) {
    const auto found = config.config.labels.find(label);
    if (found != config.config.labels.end()) return found->second;
  }
  return "";
}

Result<std::optional<PackedCommit>> PackedCommitOf(const OciManifest& manifest, const OciConfig& config) {
  const auto label = [&](const char* name) {
    const auto found = config.config.labels.find(name);
    return found == config.config.labels.end() ? std::string() : found->second;
  };
  const std::string last = label("ostree.final-diffid");
  PackedCommit commit{label("ostree.commit"), 1};
  if (last.empty() && commit.checksum.empty()) return std::nullopt;
  // If the label ostree.final-diffid is missing, the commit is in the first layer, and other layers were added later.
  if (last.empty()) return commit;
  const auto& contents = config.rootfs.diff_ids;
  const auto found = std::find(contents.begin(), contents.end(), last);
  if (found == contents.end() || contents.size() != manifest.layers.size()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("an OSTree commit was packed into the image, and its label ostree.final-diffid names none "
                             "of its {} layers: {}",
                             manifest.layers.size(), last));
  }
  commit.layers = static_cast<std::size_t>(found - contents.begin()) + 1;
  return commit;
}

std::string HexOf(std::string_view digest) { return std::string(digest.substr(digest.find(':') + 1)); }

Result<> ExpectDigest(std::string_view digest, std::string_view bytes) {
  const std::string actual = "sha256:" + Sha256(bytes).hex();
  if (actual == digest) return {};
  return Error(ErrorKind::kInvalid, fmt::format("the contents have the digest {} and not {}", actual, digest));
}

}  // namespace pintle::host
