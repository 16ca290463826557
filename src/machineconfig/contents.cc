// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/contents.h"

#include <fmt/core.h>

#include <string_view>

#include "ignition/compression.h"
#include "ignition/data_url.h"

namespace pintle::machineconfig {

Result<> WalkContents(const ignition::Resource& resource, const TakePiece& take, std::size_t limit) {
  if (!resource.source || resource.source->empty()) return {};
  if (!ignition::IsDataUrl(*resource.source))
    return Error(ErrorKind::kInvalid, "the contents are not in the config, since their source is not a data: URL");
  const std::string_view compression = resource.compression ? std::string_view(*resource.compression) : "";
  if (compression.empty()) {
    std::size_t left = limit;
    return ignition::WalkDataUrl(*resource.source, [&](std::string_view piece) -> Result<bool> {
      if (piece.size() > left) return Error(ErrorKind::kInvalid, fmt::format("has more than {} bytes", limit));
      left -= piece.size();
      return take(piece);
    });
  }
  if (compression != "gzip") {
    return Error(ErrorKind::kInvalid, fmt::format("unsupported compression type \"{}\"", compression));
  }
  bool is_wanted = true;
  ignition::Gunzipper gunzipper(take, limit);
  TRY(ignition::WalkDataUrl(*resource.source, [&](std::string_view piece) -> Result<bool> {
    is_wanted = TRY(gunzipper.Take(piece));
    return is_wanted;
  }));
  return is_wanted ? gunzipper.End() : Result<>();
}

Result<std::string> ContentsOf(const ignition::Resource& resource, std::size_t limit) {
  std::string contents;
  TRY(WalkContents(
      resource,
      [&](std::string_view piece) {
        contents += piece;
        return true;
      },
      limit));
  return contents;
}

}  // namespace pintle::machineconfig
