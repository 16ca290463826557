// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether an image fits on the disk, before its first byte is fetched and before it is unpacked.

#include <cstdint>
#include <span>

#include "base/result.h"
#include "host/ostree/oci_image.h"

namespace pintle::host {

struct DiskSpace {
  std::uint64_t free = 0;      // Bytes that are free.
  std::uint64_t reserved = 0;  // The part of these bytes that must stay free.
};

// Returns a lower bound of the space for fetching and unpacking these layers.  Most images need more, since layers grow
// when they are unpacked.  So the check refuses only images that cannot fit.
std::uint64_t SpaceFor(std::span<const OciDescriptor> layers);

// Adds a size to a sum.  An archive can name any size for a file without contents, so an overflow is an error: a sum
// that has wrapped around would seem to fit on the disk.
Result<> AddSize(std::uint64_t& sum, std::uint64_t size);

// Returns an error if less than `needed` bytes can be used.
Result<> ExpectSpace(std::uint64_t needed, const DiskSpace& space);

}  // namespace pintle::host
