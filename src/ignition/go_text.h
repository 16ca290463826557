// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a config as the JSON of Ignition's own Go types: the members have the order of the types' fields, and absent
// members and empty lists are left out.
//
// There are two forms of this JSON.  Go's library writes empty structs, and errors of the Machine Config Operator name
// places in the text with empty structs.  Most configs that the operator makes leave empty structs out.

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>

#include "ignition/empty_structs.h"
#include "json/fields.h"
#include "json/go_json.h"

namespace pintle::ignition {

template <typename T>
void WriteGoText(const T& value, std::string& text, EmptyStructs empty_structs = EmptyStructs::kWritten);

namespace internal {

template <typename T>
bool IsWritten(const T& value, EmptyStructs empty_structs) {
  if constexpr (json::internal::kIsOptional<T>) {
    return value.has_value();
  } else if constexpr (json::internal::kIsVector<T>) {
    return !value.empty();
  } else if constexpr (json::Described<T>) {
    bool is_written = empty_structs == EmptyStructs::kWritten;
    json::ForEachField<T>([&](const auto& field) {
      is_written = is_written || field.kIsRequired || IsWritten(value.*field.member, empty_structs);
    });
    return is_written;
  } else {
    return true;
  }
}

// Most strings are data URLs, in which nothing has to be escaped.
inline void WriteString(const std::string& value, std::string& text) {
  const auto is_plain = [](char c) {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  };
  if (!std::all_of(value.begin(), value.end(), is_plain)) {
    text += json::GoJson(value);
    return;
  }
  text += '"';
  text += value;
  text += '"';
}

}  // namespace internal

template <typename T>
void WriteGoText(const T& value, std::string& text, EmptyStructs empty_structs) {
  auto begin_next = [&, is_first = true]() mutable {
    if (!std::exchange(is_first, false)) text += ',';
  };
  if constexpr (json::internal::kIsOptional<T>) {
    WriteGoText(*value, text, empty_structs);
  } else if constexpr (json::internal::kIsVector<T>) {
    text += '[';
    for (const auto& element : value) {
      begin_next();
      WriteGoText(element, text, empty_structs);
    }
    text += ']';
  } else if constexpr (json::Described<T>) {
    text += '{';
    json::ForEachField<T>([&](const auto& field) {
      if (!internal::IsWritten(value.*field.member, empty_structs)) return;
      begin_next();
      text += fmt::format("\"{}\":", field.name);
      WriteGoText(value.*field.member, text, empty_structs);
    });
    text += '}';
  } else if constexpr (std::same_as<T, std::string>) {
    internal::WriteString(value, text);
  } else {
    text += json::GoJson(json::Encode(value));
  }
}

}  // namespace pintle::ignition
