// SPDX-License-Identifier: Apache-2.0
#include "change/staged_image.h"

#include <utility>

#include "change/state_directory.h"
#include "change/way_out.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {

Result<std::optional<StagedImage>> ReadStagedImage(const Root& root) {
  const auto read = [&]() -> Result<std::optional<StagedImage>> {
    if (!TRY(root.Status(kStagedImage))) return std::nullopt;
    json::Report report;
    auto document = TRY(WithoutVersion(format::kStagedImage, TRY(json::Parse(TRY(root.ReadFile(kStagedImage))))));
    auto staged = json::Decode<StagedImage>(std::move(document), report);
    TRY(report.ToResult());
    return staged;
  };
  return WithWayOut(kStagedImage, read());
}

Result<> KeepStagedImage(const Root& root, const std::optional<StagedImage>& staged) {
  TRY(ExpectKnownVersion(root, format::kStagedImage));
  if (!staged) return root.Remove(kStagedImage);
  TRY(root.MakeDirectories(kStateDirectory, kPrivateDirectory));
  return root.WriteFile(kStagedImage, TextWithVersion(format::kStagedImage, json::Encode(*staged)));
}

}  // namespace pintle::change
