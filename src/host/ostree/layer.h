// SPDX-License-Identifier: Apache-2.0
#pragma once

// A layer of an OCI image: a tar archive that may be packed with gzip or zstd.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/c_ptr.h"
#include "base/result.h"
#include "host/ostree/oci_image.h"

struct archive;  // libarchive's

namespace pintle::host {

// An entry whose name begins with kWhiteout hides what the layers below have under the rest of that name; one that is
// called kOpaque hides all that they have in its folder.
inline constexpr std::string_view kWhiteout = ".wh.";
inline constexpr std::string_view kOpaque = ".wh..wh..opq";

struct LayerContents {
  std::uint64_t bytes = 0;  // The total size of its files.
  // Directories that have no entry of their own.
  std::vector<std::string> implied;
};

// Reads a whole layer before any of it is used, and checks that it has the digest in the manifest and that nothing in
// it can do harm.  A path that leads out of the tree, a link to what is not in the layer, and a device are errors.
Result<LayerContents> CheckLayer(const std::string& path, const OciDescriptor& layer, const std::stop_token& stop);

// An object of an OSTree repository, in a layer that a commit was packed into.
struct PackedObject {
  std::string checksum;
  std::string kind;  // "commit", "dirtree", "dirmeta", "file", "file-xattrs", ...
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::uint32_t permissions = 0;
  std::uint64_t size = 0;
  std::optional<std::string> target;   // The target of a symlink.
  std::optional<std::string> same_as;  // The checksum of another object, of which this is a hard link.
};

// Fills a part of `room` with the next bytes and returns how many; 0 is the end.
using ReadNext = std::function<Result<std::size_t>(std::span<char> room)>;
using ObjectVisitor = std::function<Result<>(const PackedObject& object, const ReadNext& read)>;

// Visits all objects in the order of the archive.  The rest of such a layer repeats the same files for use as a
// container and is skipped.
Result<> ForEachObject(const std::string& path, const std::stop_token& stop, const ObjectVisitor& visit);

// Checks that the layer has the digest in the manifest, and returns the total size of its objects.
Result<std::uint64_t> CheckPackedLayer(const std::string& path, const OciDescriptor& layer,
                                       const std::stop_token& stop);

// Unpacks the part of a layer below a directory into the same place below `into`, and removes there what the layer
// hides of earlier ones.  The layer must have been checked.  Only files are allowed there.
Result<> UnpackLayer(const std::string& path, const std::string& below, const std::string& into,
                     const std::stop_token& stop);

// Opens a layer for other readers.
int FreeArchive(archive* opened);
using Archive = CPtr<archive, FreeArchive>;
Result<Archive> OpenLayer(const std::string& path);

}  // namespace pintle::host
