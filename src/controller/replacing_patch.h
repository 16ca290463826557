// SPDX-License-Identifier: Apache-2.0
#pragma once

// A JSON patch that replaces some values of an object.  The API server refuses the patch with a conflict if the object
// no longer has the version that the caller has read.
//
// A merge patch cannot replace a JSON object: it would keep members that the new value does not have, and it would
// remove members that the new value sets to null.

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta.h"
#include "json/value.h"

namespace pintle::controller {

class ReplacingPatch {
 public:
  // `known` is the metadata of the object as it was read.
  explicit ReplacingPatch(const api::ObjectMeta& known);

  // Sets or replaces the value at a path such as "/spec/replicas".  The path is a JSON Pointer, and everything but its
  // last part must exist.
  void Set(std::string_view path, json::Value value);
  // These two set the given annotations or labels, and keep all others, also those that an earlier call has set.
  void SetAnnotations(const api::Annotations& annotations);
  void SetLabels(const api::Labels& labels);

  json::Value operations() && { return std::move(operations_); }

 private:
  // `exists` is whether the object has the map at the path, and becomes true when the patch creates the map.
  void SetEach(std::string_view path, const std::map<std::string, std::string>& values, bool& exists);

  json::Value operations_ = json::Value::array();
  bool has_annotations_;
  bool has_labels_;
};

}  // namespace pintle::controller
