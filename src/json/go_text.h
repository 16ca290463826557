// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a struct as JSON with its members in the order of its fields, as Go does; Encode() sorts them by their keys.
// As in Encode(), members with their default values are left out.

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "json/field_list.h"
#include "json/go_json.h"

namespace pintle::json {

namespace internal {

template <typename T>
void AppendGoText(const T& value, std::string& text);

// Writes elements or members with commas between them.
class GoList {
 public:
  GoList(std::string& text, char open) : text_(text) { text_ += open; }
  template <typename T>
  void Add(const T& element) {
    Separate();
    AppendGoText(element, text_);
  }
  template <typename T>
  void Add(std::string_view key, const T& value) {
    Separate();
    text_ += GoJson(std::string(key)) + ":";
    AppendGoText(value, text_);
  }

 private:
  void Separate() {
    if (!std::exchange(is_first_, false)) text_ += ',';
  }

  std::string& text_;
  bool is_first_ = true;
};

template <typename T>
void AppendGoText(const T& value, std::string& text) {
  if constexpr (Described<T>) {
    static const T kDefault{};
    GoList members(text, '{');
    ForEachField<T>([&](const auto& field) {
      const bool is_written =
          std::decay_t<decltype(field)>::kIsRequired || !Equal(value.*field.member, kDefault.*field.member);
      if (is_written) members.Add(field.name, value.*field.member);
    });
    text += '}';
  } else if constexpr (kIsOptional<T>) {
    if (!value) {
      text += "null";
      return;
    }
    AppendGoText(*value, text);
  } else if constexpr (kIsVector<T>) {
    GoList elements(text, '[');
    for (const auto& element : value) elements.Add(element);
    text += ']';
  } else if constexpr (kIsMap<T>) {
    GoList members(text, '{');
    for (const auto& [key, member] : value) members.Add(key, member);
    text += '}';
  } else {
    text += GoJson(Encode(value));
  }
}

}  // namespace internal

// Returns the JSON of a struct.
template <typename T>
std::string GoText(const T& value) {
  std::string text;
  internal::AppendGoText(value, text);
  return text;
}

// Indents JSON that is on one line as Go does, by `spaces` for each level.  Empty lists and objects stay on one line.
std::string Indented(std::string_view json, std::size_t spaces);

}  // namespace pintle::json
