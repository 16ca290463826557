// SPDX-License-Identifier: Apache-2.0
#pragma once

// OCI images in an OSTree repository.
//
// Each layer is a commit of its own, with the whiteouts in it as files, so that the next image that has it need not
// fetch it.  Layers that a commit was packed into are kept as that commit and as lists of its files.  An image is the
// commit of its layers laid over one another.  The branches of both bear their digests, and
// are no one else's: what rpm-ostree keeps of images has been changed on the way in.

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/disk_space.h"
#include "host/how_far.h"
#include "host/oci_image.h"
#include "host/types_ostree.h"

namespace pintle::host {

struct ImageDocuments {
  std::string digest;  // Of the manifest.
  std::string manifest_text;
  std::string config_text;
  OciManifest manifest;
  OciConfig config;
};

class ImageStore {
 public:
  explicit ImageStore(OstreeRepo* repository) : repository_(repository) {}

  // The commit of an image that is here.
  Result<std::optional<std::string>> Find(std::string_view manifest_digest) const;
  // An index, too, leads to the image that was taken from it.
  Result<> Alias(std::string_view index_digest, const std::string& commit) const;

  Result<std::vector<OciDescriptor>> MissingLayers(const OciManifest& manifest) const;
  Result<DiskSpace> Space() const;

  // Makes it a commit; the layers that are missing are files in `blobs` under their digests.
  Result<std::string> Import(const ImageDocuments& image, const std::string& blobs, const std::stop_token& stop,
                             const TellHowFar& tell) const;

  // Forgets all images but these commits, and the layers that only those had.
  Result<> KeepOnly(const std::set<std::string>& commits) const;

 private:
  Result<std::string> ImportLayer(const std::string& path, const OciDescriptor& layer,
                                  const std::vector<std::string>& implied, GCancellable* cancel) const;
  Result<std::string> ImportPackedLayer(const std::string& path, const OciDescriptor& layer,
                                        const std::stop_token& stop, GCancellable* cancel) const;
  Result<std::string> TakePackedCommit(const PackedCommit& packed, const std::vector<std::string>& layers,
                                       GCancellable* cancel) const;
  Result<std::string> ImportAll(const ImageDocuments& image, const std::string& blobs, const std::stop_token& stop,
                                const TellHowFar& tell, GCancellable* cancel) const;
  Result<std::string> Merge(const ImageDocuments& image, const std::vector<std::string>& layers,
                            GCancellable* cancel) const;
  Result<std::string> Commit(OstreeMutableTree* tree, const std::string& subject, GVariant* metadata,
                             std::uint64_t time, GCancellable* cancel) const;

  OstreeRepo* repository_;
};

Result<std::optional<std::string>> ResolveBranch(OstreeRepo* repository, const std::string& branch);

// A text in the metadata of a commit; empty when it has none.
Result<std::string> CommitMetadata(OstreeRepo* repository, const std::string& commit, const char* key);

// Where images keep the digest of their manifest; others who import images do so, too.
inline constexpr const char* kManifestDigestKey = "ostree.manifest-digest";

}  // namespace pintle::host
