// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks and unpacks layers of OCI images.  A layer is a tar archive that may be packed with gzip or zstd.

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

// An entry ".wh.NAME" hides the entry NAME of the layers below.  An entry with the name kOpaque hides all entries that
// the layers below have in its folder.
inline constexpr std::string_view kWhiteout = ".wh.";
inline constexpr std::string_view kOpaque = ".wh..wh..opq";

struct LayerContents {
  std::uint64_t bytes = 0;  // The total size of the layer's files.
  // The paths of directories that contain entries but have no entry of their own.
  std::vector<std::string> implied;
};

// Reads a whole layer before any part of it is used.  Checks that the layer has the size and the digest in the
// manifest, and that no entry can do harm.  These entries are errors: a path that leads out of the tree, a path of both
// a directory and something else, a hard link to a file that is not in the layer, an OSTree repository, a device, a
// socket, and a named pipe.
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
  std::optional<std::string> same_as;  // The checksum of another object, if this object is a hard link to it.
};

// Writes the next bytes of an object into `room` and returns their number, which is 0 at the end of the object.
using ReadNext = std::function<Result<std::size_t>(std::span<char> room)>;
using ObjectVisitor = std::function<Result<>(const PackedObject& object, const ReadNext& read)>;

// Visits all objects of a layer in the order of the archive.  A layer that a commit was packed into also has the
// commit's files as plain entries, for use as a container.  These entries are skipped.
Result<> ForEachObject(const std::string& path, const std::stop_token& stop, const ObjectVisitor& visit);

// Checks that the layer has the digest in the manifest, and returns the total size of its objects.
Result<std::uint64_t> CheckPackedLayer(const std::string& path, const OciDescriptor& layer,
                                       const std::stop_token& stop);

// Unpacks the entries of a layer that are below the directory `below` to the same path below `into`.  Before that,
// removes the files of earlier layers that this layer hides.  CheckLayer() must have accepted the layer.  A link below
// `below` is an error.
Result<> UnpackLayer(const std::string& path, const std::string& below, const std::string& into,
                     const std::stop_token& stop);

// An archive that is open for reading.
int FreeArchive(archive* opened);
using Archive = CPtr<archive, FreeArchive>;
// Opens a layer for functions that read archives themselves.
Result<Archive> OpenLayer(const std::string& path);

}  // namespace pintle::host
