// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Secret: confidential values, such as passwords.

#include <map>
#include <string>
#include <string_view>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct Secret {
  static constexpr std::string_view kKind = "Secret";

  ObjectMeta metadata;
  std::string type;
  std::map<std::string, std::string> data;  // The values are in base64.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &Secret::metadata},
      json::Field{"type", &Secret::type},
      json::Field{"data", &Secret::data},
  };
};

}  // namespace pintle::api
