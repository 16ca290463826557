// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ConfigMap: named texts that configure programs.

#include <map>
#include <string>
#include <string_view>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct ConfigMap {
  static constexpr std::string_view kKind = "ConfigMap";

  ObjectMeta metadata;
  std::map<std::string, std::string> data;
  std::map<std::string, std::string> binary_data;  // The values are in base64.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ConfigMap::metadata},
      json::Field{"data", &ConfigMap::data},
      json::Field{"binaryData", &ConfigMap::binary_data},
  };
};

}  // namespace pintle::api
