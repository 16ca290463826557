// SPDX-License-Identifier: Apache-2.0
#pragma once

// A layer of an OCI image: a tar archive, packed with gzip or zstd or not at all.

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
#include "host/oci_image.h"

struct archive;  // libarchive's

namespace pintle::host {

struct LayerContents {
  std::uint64_t bytes = 0;  // Of all its files.
  // Directories that are there only because something in them is.
  std::vector<std::string> implied;
};

// Reads all of a layer before any of it is used: that it is the one that the image means, and that nothing in it can
// do harm.  A path that leads out, a link to what is not in the layer and a device are errors.
Result<LayerContents> CheckLayer(const std::string& path, const OciDescriptor& layer, const std::stop_token& stop);

// An object of an OSTree repository, as layers have them that a commit was packed into.
struct PackedObject {
  std::string checksum;
  std::string kind;  // "commit", "dirtree", "dirmeta", "file", "file-xattrs", ...
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::uint32_t permissions = 0;
  std::uint64_t size = 0;
  std::optional<std::string> target;   // Of a symlink.
  std::optional<std::string> same_as;  // It is another one, of which this is the checksum, by a second name.
};

// Fills a part of the room with what comes next; 0 is the end.
using ReadNext = std::function<Result<std::size_t>(std::span<char> room)>;
using ObjectVisitor = std::function<Result<>(const PackedObject& object, const ReadNext& read)>;

// All objects in the order in which they are there.  Of the rest of such a layer, which says the same once more for
// those who run it as a container, nothing is looked at.
Result<> ForEachObject(const std::string& path, const std::stop_token& stop, const ObjectVisitor& visit);

// That it is the one that the image means, and how many bytes its objects have.
Result<std::uint64_t> CheckPackedLayer(const std::string& path, const OciDescriptor& layer,
                                       const std::stop_token& stop);

// Unpacks what a layer, which was checked before, has below a directory, into the same place below `into`, and removes
// from there what it hides of the layers before it.  Files are all that may be there.
Result<> UnpackLayer(const std::string& path, const std::string& below, const std::string& into,
                     const std::stop_token& stop);

// The same file for someone else to read.
int FreeArchive(archive* opened);
using Archive = CPtr<archive, FreeArchive>;
Result<Archive> OpenLayer(const std::string& path);

}  // namespace pintle::host
