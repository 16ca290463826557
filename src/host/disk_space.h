// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether an image fits on the disk, worked out before its first byte is fetched.

#include <cstdint>
#include <span>

#include "base/result.h"
#include "host/oci_image.h"

namespace pintle::host {

struct DiskSpace {
  std::uint64_t free = 0;      // Bytes that are free.
  std::uint64_t reserved = 0;  // Of them, those that have to stay free.
};

// What it takes to fetch these layers and keep them unpacked.  How much they grow is not told before, so this is less
// than most will need: it finds what cannot work, and never refuses what can.
std::uint64_t SpaceFor(std::span<const OciDescriptor> layers);

Result<> ExpectSpace(std::uint64_t needed, const DiskSpace& space);

}  // namespace pintle::host
