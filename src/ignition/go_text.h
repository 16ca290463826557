// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a config as the JSON of Ignition's own Go types: members in their order, structs even if they are empty, no
// absent members and no empty lists.  Errors of the Machine Config Operator name places in that text.

#include <fmt/core.h>

#include <string>
#include <utility>

#include "json/fields.h"
#include "json/go_json.h"

namespace pintle::ignition {

template <typename T>
void WriteGoText(const T& value, std::string& text);

namespace internal {

template <typename T>
bool IsWritten(const T& value) {
  if constexpr (json::internal::kIsOptional<T>) {
    return value.has_value();
  } else if constexpr (json::internal::kIsVector<T>) {
    return !value.empty();
  } else {
    return true;
  }
}

}  // namespace internal

template <typename T>
void WriteGoText(const T& value, std::string& text) {
  auto begin_next = [&, is_first = true]() mutable {
    if (!std::exchange(is_first, false)) text += ',';
  };
  if constexpr (json::internal::kIsOptional<T>) {
    WriteGoText(*value, text);
  } else if constexpr (json::internal::kIsVector<T>) {
    text += '[';
    for (const auto& element : value) {
      begin_next();
      WriteGoText(element, text);
    }
    text += ']';
  } else if constexpr (json::Described<T>) {
    text += '{';
    json::ForEachField<T>([&](const auto& field) {
      if (!internal::IsWritten(value.*field.member)) return;
      begin_next();
      text += fmt::format("\"{}\":", field.name);
      WriteGoText(value.*field.member, text);
    });
    text += '}';
  } else {
    text += json::GoJson(json::Encode(value));
  }
}

}  // namespace pintle::ignition
