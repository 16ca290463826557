// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores OCI images in an OSTree repository.
//
// Each layer becomes a commit, with its whiteouts as files, so that it need not be fetched again for another image.  If
// an OSTree commit was packed into layers, one layer becomes that commit, and each other layer becomes a commit of its
// files.  An image becomes a commit of its merged layers.  Branches with digests in their names lead to these commits.
// Only Pintle uses these branches: rpm-ostree changes layers when it imports them, so its branches cannot be used here.

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/disk_space.h"
#include "host/ostree/oci_image.h"
#include "host/ostree/types_ostree.h"

namespace pintle::host {

// The documents of an image: the texts from the registry, and the parsed documents.
struct ImageDocuments {
  std::string digest;  // The digest of the manifest.
  std::string manifest_text;
  std::string config_text;
  OciManifest manifest;
  OciConfig config;
};

class ImageStore {
 public:
  explicit ImageStore(OstreeRepo* repository) : repository_(repository) {}

  // Returns the commit of an image, or nullopt if the repository does not have the image.
  Result<std::optional<std::string>> Find(std::string_view manifest_digest) const;
  // Records that the image with this commit was chosen from an index, so that Find() finds it by the index's digest.
  Result<> Alias(std::string_view index_digest, const std::string& commit) const;

  // Returns the layers that are not in the repository, each once.
  Result<std::vector<OciDescriptor>> MissingLayers(const OciManifest& manifest) const;
  // Returns the space on the repository's disk.
  Result<DiskSpace> Space() const;

  // Imports an image as a commit.  The missing layers must be files in the directory `blobs`, named by
  // their digests.
  Result<std::string> Import(const ImageDocuments& image, const std::string& blobs, const std::stop_token& stop,
                             const ProgressCallback& report) const;

  // Returns whether there is an image whose commit is not one of these.
  Result<bool> HasOthersThan(const std::set<std::string>& commits) const;

  // Removes all images whose commits are not among these, and then the layers that no remaining image has.
  Result<> KeepOnly(const std::set<std::string>& commits) const;

 private:
  Result<std::string> ImportLayer(const std::string& path, const OciDescriptor& layer,
                                  const std::vector<std::string>& implied, GCancellable* cancel) const;
  Result<std::string> ImportPackedLayer(const std::string& path, const OciDescriptor& layer,
                                        const std::stop_token& stop, GCancellable* cancel) const;
  Result<std::string> TakePackedCommit(const PackedCommit& packed, const std::vector<std::string>& layers,
                                       GCancellable* cancel) const;
  Result<std::string> ImportAll(const ImageDocuments& image, const std::string& blobs, const std::stop_token& stop,
                                const ProgressCallback& report, GCancellable* cancel) const;
  Result<std::string> Merge(const ImageDocuments& image, const std::vector<std::string>& layers,
                            GCancellable* cancel) const;
  Result<std::string> Commit(OstreeMutableTree* tree, const std::string& subject, GVariant* metadata,
                             std::uint64_t time, GCancellable* cancel) const;

  OstreeRepo* repository_;
};

// Returns the commit of a branch, or nullopt if there is no such branch.
Result<std::optional<std::string>> ResolveBranch(OstreeRepo* repository, const std::string& branch);

// Returns a string from the metadata of a commit, or "" if there is none.
Result<std::string> CommitMetadata(OstreeRepo* repository, const std::string& commit, const char* key);

// The metadata key for the digest of an image's manifest.  Other importers use the same key.
inline constexpr const char* kManifestDigestKey = "ostree.manifest-digest";

}  // namespace pintle::host
