// SPDX-License-Identifier: Apache-2.0
#pragma once

// A layer of an OCI image: a tar archive, packed with gzip or zstd or not at all.

#include <cstdint>
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

// Unpacks what a layer, which was checked before, has below a directory, into the same place below `into`, and removes
// from there what it hides of the layers before it.  Files are all that may be there.
Result<> UnpackLayer(const std::string& path, const std::string& below, const std::string& into,
                     const std::stop_token& stop);

// The same file for someone else to read.
int FreeArchive(archive* opened);
using Archive = CPtr<archive, FreeArchive>;
Result<Archive> OpenLayer(const std::string& path);

}  // namespace pintle::host
