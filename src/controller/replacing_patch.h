// SPDX-License-Identifier: Apache-2.0
#pragma once

// A JSON patch that replaces or removes some values of an object.  The API server refuses the patch with a conflict if
// the object no longer has the version that the caller has read.
//
// A merge patch cannot replace a JSON object: it would keep members that the new value does not have, and it would
// remove members that the new value sets to null.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

  // Removes the value at a path, which must exist.
  void Remove(std::string_view path);
  // These two remove the given annotations or labels.  The object must have all of them.  If it has no others, the
  // whole map is removed, so that no empty map is left.
  void RemoveAnnotations(const std::vector<std::string_view>& keys);
  void RemoveLabels(const std::vector<std::string_view>& keys);

  json::Value operations() && { return std::move(operations_); }

 private:
  // `exists` is whether the object has the map at the path, and becomes true when the patch creates the map.
  void SetEach(std::string_view path, const std::map<std::string, std::string>& values, bool& exists);
  // `size` is the number of entries that the object has in the map at the path.
  void RemoveEach(std::string_view path, const std::vector<std::string_view>& keys, std::size_t size);

  json::Value operations_ = json::Value::array();
  const std::size_t annotations_;  // The number of annotations that the object has.
  const std::size_t labels_;       // The number of labels that the object has.
  bool has_annotations_;
  bool has_labels_;
};

// Returns a text of what the operations write, without the version of the object.
std::string ContentsText(const json::Value& operations);

}  // namespace pintle::controller
