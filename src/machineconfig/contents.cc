// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/contents.h"

#include <utility>

#include "ignition/data_url.h"

namespace pintle::machineconfig {

Result<std::string> ContentsOf(const ignition::Resource& resource, std::size_t limit) {
  if (!resource.source || resource.source->empty()) return std::string();
  if (!ignition::IsDataUrl(*resource.source)) return Error(ErrorKind::kInvalid, "the contents are not in the config");
  std::string bytes = TRY(ignition::DecodeDataUrl(*resource.source));
  const std::string compression = resource.compression.value_or("");
  if (compression.empty()) return bytes;
  if (compression != "gzip") return Error(ErrorKind::kInvalid, "unsupported compression type \"" + compression + "\"");
  return ignition::Gunzip(bytes, limit);
}

}  // namespace pintle::machineconfig
