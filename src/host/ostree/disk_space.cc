// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/disk_space.h"

#include <fmt/core.h>

#include <limits>

namespace pintle::host {
namespace {

// Returns the largest number if the sum overflows: the sizes come from a registry, which may send any number.
std::uint64_t Sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

std::uint64_t Mebibytes(std::uint64_t bytes) { return Sum(bytes, (1 << 20) - 1) >> 20; }

}  // namespace

std::uint64_t SpaceFor(std::span<const OciDescriptor> layers) {
  // While layers are unpacked, the disk also holds their packed forms.  So each layer counts twice, since its unpacked
  // form is at least as large as the packed one.
  std::uint64_t needed = 0;
  for (const OciDescriptor& layer : layers) needed = Sum(needed, Sum(layer.size, layer.size));
  return needed;
}

Result<> AddSize(std::uint64_t& sum, std::uint64_t size) {
  const bool overflows = size > std::numeric_limits<std::uint64_t>::max() - sum;
  if (overflows) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("its size of {} bytes and the {} bytes before it are more than any disk has", size, sum));
  }
  sum += size;
  return {};
}

Result<> ExpectSpace(std::uint64_t needed, const DiskSpace& space) {
  const std::uint64_t usable = space.free > space.reserved ? space.free - space.reserved : 0;
  if (needed <= usable) return {};
  return Error(ErrorKind::kSystem, fmt::format("there is too little space: {} MiB are needed, and {} MiB are free, of "
                                               "which {} MiB must stay free",
                                               Mebibytes(needed), space.free >> 20, Mebibytes(space.reserved)));
}

}  // namespace pintle::host
