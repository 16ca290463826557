// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records that the machine may have an image that was fetched for a later change, so that the image can be removed if
// this change is never made.
//
// The agent writes the record before it fetches the first byte, and removes it when a deployment has the image or when
// the image is removed.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "change/format.h"
#include "json/field_list.h"

namespace pintle::change {

inline constexpr const char* kStagedImage = format::kStagedImage.path;

// The goal whose image was fetched.
struct StagedImage {
  std::string config;
  std::string image;  // The image that was built for the config; empty if the config names the image.

  static constexpr auto kFields = json::FieldList{
      json::Required{"config", &StagedImage::config},
      json::Field{"image", &StagedImage::image},
  };
};

// Returns nullopt if there is no record.
Result<std::optional<StagedImage>> ReadStagedImage(const Root& root);

// Stores the record.  Nullopt removes it.
Result<> KeepStagedImage(const Root& root, const std::optional<StagedImage>& staged);

}  // namespace pintle::change
