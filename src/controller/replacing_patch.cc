// SPDX-License-Identifier: Apache-2.0
#include "controller/replacing_patch.h"

#include <utility>

#include "json/fields.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kVersionPath = "/metadata/resourceVersion";

// Returns the key as a part of a path in a JSON patch, where "~" and "/" have other meanings.
std::string EscapedForPath(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

ReplacingPatch::ReplacingPatch(const api::ObjectMeta& known)
    : annotations_(known.annotations.size()),
      labels_(known.labels.size()),
      has_annotations_(annotations_ > 0),
      has_labels_(labels_ > 0) {
  // The API server answers with a conflict if the object has another version.
  operations_.push_back({{"op", "replace"}, {"path", kVersionPath}, {"value", known.resource_version}});
}

void ReplacingPatch::Set(std::string_view path, json::Value value) {
  operations_.push_back({{"op", "add"}, {"path", path}, {"value", std::move(value)}});
}

void ReplacingPatch::SetAnnotations(const api::Annotations& annotations) {
  SetEach("/metadata/annotations", annotations, has_annotations_);
}

void ReplacingPatch::SetLabels(const api::Labels& labels) { SetEach("/metadata/labels", labels, has_labels_); }

void ReplacingPatch::SetEach(std::string_view path, const std::map<std::string, std::string>& values, bool& exists) {
  if (values.empty()) return;
  if (!std::exchange(exists, true)) return Set(path, json::Encode(values));
  for (const auto& [key, value] : values) Set(std::string(path) + "/" + EscapedForPath(key), value);
}

void ReplacingPatch::Remove(std::string_view path) { operations_.push_back({{"op", "remove"}, {"path", path}}); }

void ReplacingPatch::RemoveAnnotations(const std::vector<std::string_view>& keys) {
  RemoveEach("/metadata/annotations", keys, annotations_);
}

void ReplacingPatch::RemoveLabels(const std::vector<std::string_view>& keys) {
  RemoveEach("/metadata/labels", keys, labels_);
}

void ReplacingPatch::RemoveEach(std::string_view path, const std::vector<std::string_view>& keys, std::size_t size) {
  if (keys.size() == size) return Remove(path);
  for (const std::string_view key : keys) Remove(std::string(path) + "/" + EscapedForPath(key));
}

std::string ContentsText(const json::Value& operations) {
  std::string text;
  for (const json::Value& operation : operations) {
    if (operation.TextAt({"path"}) != kVersionPath) text += json::ToText(operation);
  }
  return text;
}

}  // namespace pintle::controller
