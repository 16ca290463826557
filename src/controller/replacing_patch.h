// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON patches that replace parts of an object as a whole, if it still has the version that is known.
//
// A merge patch would keep the members that are no longer wanted, and remove those that are null.

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta.h"
#include "json/value.h"

namespace pintle::controller {

class ReplacingPatch {
 public:
  explicit ReplacingPatch(const api::ObjectMeta& known);

  void Set(std::string_view path, json::Value value);
  // Sets these annotations and labels, and keeps the others.
  void SetAnnotations(const api::Annotations& annotations);
  void SetLabels(const api::Labels& labels);

  json::Value operations() && { return std::move(operations_); }

 private:
  void SetEach(std::string_view path, const std::map<std::string, std::string>& known,
               const std::map<std::string, std::string>& values);

  const api::ObjectMeta& known_;
  json::Value operations_ = json::Value::array();
};

}  // namespace pintle::controller
