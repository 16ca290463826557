// SPDX-License-Identifier: Apache-2.0
#pragma once

// What makes two elements of a list the same thing, by the specification: it decides what is merged and what is a
// duplicate.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace pintle::ignition {

inline std::string Key(const std::string& element) { return element; }

template <typename T>
std::string Key(const T& element) {
  if constexpr (requires { element.wipe_partition_entry; }) {  // A partition has its number or, without one, its label.
    if (element.number != 0) return "number:" + std::to_string(element.number);
    return element.label ? "label:" + *element.label : "";
  } else if constexpr (requires { element.group.name; }) {  // A file, a directory or a link.
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

// Whether the elements of the list in this field have no identity: a merge puts them all behind one another.
constexpr bool IsPlainSequence(std::string_view field) {
  return field == "append" || field == "options" || field == "mountOptions" || field == "openOptions";
}

// Lists with the same name here share one space of keys: a path is a file, a directory or a link.
constexpr std::string_view KeySpace(std::string_view field) {
  if (field == "files" || field == "directories" || field == "links") return "node";
  if (field == "shouldExist" || field == "shouldNotExist") return "kernel argument";
  return field;
}

}  // namespace pintle::ignition
