// SPDX-License-Identifier: Apache-2.0
#pragma once

// The OSImageStream: the named OS images that a cluster can choose from.

#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct OSImageStreamSet {
  std::string name;
  std::string os_image;
  std::string os_extensions_image;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &OSImageStreamSet::name},
      json::Required{"osImage", &OSImageStreamSet::os_image},
      json::Required{"osExtensionsImage", &OSImageStreamSet::os_extensions_image},
  };
};

struct OSImageStreamStatus {
  std::vector<OSImageStreamSet> available_streams;
  std::string default_stream;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"availableStreams", &OSImageStreamStatus::available_streams},
      json::Required{"defaultStream", &OSImageStreamStatus::default_stream},
  };
};

struct OSImageStream {
  static constexpr std::string_view kKind = "OSImageStream";

  ObjectMeta metadata;
  OSImageStreamStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &OSImageStream::metadata},
      json::Required{"status", &OSImageStream::status},
  };
};

}  // namespace pintle::api
