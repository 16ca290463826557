// SPDX-License-Identifier: Apache-2.0
#pragma once

// The keys by which Ignition's specification identifies the elements of a list.  A merge joins elements with the same
// key; within one config, such elements are duplicates.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace pintle::ignition {

inline std::string Key(const std::string& element) { return element; }

template <typename T>
std::string Key(const T& element) {
  // The key of a partition is its number or, without one, its label.
  if constexpr (requires { element.wipe_partition_entry; }) {
    if (element.number != 0) return "number:" + std::to_string(element.number);
    return element.label ? "label:" + *element.label : "";
  } else if constexpr (requires { element.group.name; }) {  // This is a file, a directory or a link.
    return element.path;
  } else if constexpr (
      requires { element.partitions; } || requires { element.wipe_filesystem; }) {
    return element.device;
  } else if constexpr (requires { element.url; }) {
    return element.url;
  } else if constexpr (requires { element.source; }) {
    if constexpr (std::same_as<decltype(element.source), std::string>) {
      return element.source;
    } else {
      return element.source.value_or("");
    }
  } else {
    return element.name;
  }
}

// Returns whether the elements of the list in this field have no identity, so that a merge concatenates the lists.
constexpr bool IsAppendedList(std::string_view field) {
  return field == "append" || field == "options" || field == "mountOptions" || field == "openOptions";
}

// Returns the name of the key space that a list uses.  Files, directories and links share a key space, since a path can
// be only one of the three.  The two lists of kernel arguments share another one.
constexpr std::string_view KeySpace(std::string_view field) {
  if (field == "files" || field == "directories" || field == "links") return "node";
  if (field == "shouldExist" || field == "shouldNotExist") return "kernel argument";
  return field;
}

}  // namespace pintle::ignition
