// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ignition/config.h"
#include "ignition/keys.h"
#include "json/field_list.h"

namespace pintle::ignition {
namespace {

// The place of an element in the child: the list and the index in it.  If several elements have the same key, in one
// list or in lists that share a key space, this is the place of the last one.
struct Place {
  std::string_view field;
  std::size_t index;
};
using Places = std::unordered_map<std::string, Place>;

template <typename T>
void MergeStruct(T& parent, T child);

template <typename T>
void MergeElement(T& parent, T child) {
  if constexpr (json::Described<T>) {
    MergeStruct(parent, std::move(child));
  } else {
    parent = std::move(child);
  }
}

// A header without a value removes the header of that name in the parent.
template <typename T>
bool RemovesParentElement(const T& child) {
  if constexpr (std::same_as<T, HttpHeader>) {
    return !child.value;
  } else {
    return false;
  }
}

template <typename T>
void MergeLists(std::vector<T>& parent, std::vector<T> child, std::string_view field, const Places& places) {
  std::vector<T> merged;
  merged.reserve(parent.size() + child.size());
  std::unordered_set<std::string> known;
  for (T& element : parent) {
    std::string key = Key(element);
    const auto place = places.find(key);
    known.insert(std::move(key));
    if (place == places.end()) {
      merged.push_back(std::move(element));
      continue;
    }
    // In the child, this key is in another list, so the parent's element is dropped.
    if (place->second.field != field) continue;
    T& child_element = child[place->second.index];
    if (RemovesParentElement(child_element)) continue;
    T& target = merged.emplace_back(std::move(element));
    T copy = child_element;  // It is not moved, because the parent may have the key twice.
    MergeElement(target, std::move(copy));
  }
  for (T& element : child) {
    if (!known.contains(Key(element))) merged.push_back(std::move(element));
  }
  parent = std::move(merged);
}

template <typename T>
void MergeField(T& parent, T child, std::string_view field, const std::map<std::string_view, Places>& spaces) {
  if constexpr (json::Described<T>) {
    MergeStruct(parent, std::move(child));
  } else if constexpr (json::internal::kIsOptional<T>) {
    if (child) parent = std::move(child);
  } else if constexpr (json::internal::kIsVector<T>) {
    if (child.empty() && !spaces.contains(KeySpace(field))) return;
    if (parent.empty()) {
      parent = std::move(child);
    } else if (IsAppendedList(field)) {
      std::move(child.begin(), child.end(), std::back_inserter(parent));
    } else {
      MergeLists(parent, std::move(child), field, spaces.at(KeySpace(field)));
    }
  } else {
    parent = std::move(child);
  }
}

template <typename T>
void MergeStruct(T& parent, T child) {
  std::map<std::string_view, Places> spaces;
  json::ForEachField<T>([&](const auto& field) {
    const auto& list = child.*field.member;
    if constexpr (json::internal::kIsVector<std::remove_cvref_t<decltype(list)>>) {
      if (list.empty() || IsAppendedList(field.name)) return;
      Places& places = spaces[KeySpace(field.name)];
      for (std::size_t i = 0; i < list.size(); ++i) places.insert_or_assign(Key(list[i]), Place{field.name, i});
    }
  });
  json::ForEachField<T>(
      [&](const auto& field) { MergeField(parent.*field.member, std::move(child.*field.member), field.name, spaces); });
}

}  // namespace

Config Merge(Config parent, Config child) {
  MergeStruct(parent, std::move(child));
  return parent;
}

}  // namespace pintle::ignition
