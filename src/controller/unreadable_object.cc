// SPDX-License-Identifier: Apache-2.0
#include "controller/unreadable_object.h"

#include <fmt/core.h>

#include <set>

namespace pintle::controller {

std::string TextAbout(const UnreadableObject& object) {
  const std::string dot = object.kind.group.empty() ? "" : ".";
  const std::string in_namespace =
      object.name.namespace_name.empty() ? "" : fmt::format("-n {} ", object.name.namespace_name);
  return fmt::format("{}; correct this object with `kubectl edit {}{}{}{} {}`, or delete it if nobody needs it",
                     object.why, in_namespace, object.kind.plural, dot, object.kind.group, object.name.name);
}

std::vector<std::string> TextsAbout(const std::vector<UnreadableObject>& objects) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  for (const UnreadableObject& object : objects) {
    const auto [text, is_new] = known.insert(TextAbout(object));
    if (is_new) texts.push_back(*text);
  }
  return texts;
}

UnreadableListener AddUnreadableTo(std::vector<UnreadableObject>& objects) {
  return [&objects](const kube::ResourceKind& kind, const kube::ObjectName& name, const Error& why) {
    objects.push_back({.kind = kind, .name = name, .why = why.message()});
  };
}

}  // namespace pintle::controller
