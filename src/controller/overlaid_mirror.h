// SPDX-License-Identifier: Apache-2.0
#pragma once

// Mirrors one kind, overlaid with the answers to our own writes, and reports changes that matter.
//
// Most changes do not matter: a node's heartbeat makes a new version of the Node every few minutes.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "api/meta.h"
#include "controller/overlaid_objects.h"
#include "json/field_list.h"
#include "kube/any_object.h"
#include "kube/client.h"

namespace pintle::controller {

// Compares two objects, except for their resourceVersion.
template <json::Described T>
bool HasSameContent(const T& a, const T& b) {
  bool same = true;
  json::ForEachField<T>([&](const auto& field) {
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(field)>::Member, api::ObjectMeta>) {
      same = same && HasSameContent(a.*field.member, b.*field.member);
    } else {
      same = same && (field.name == "resourceVersion" || json::Equal(a.*field.member, b.*field.member));
    }
  });
  return same;
}

template <kube::Resource T>
class OverlaidMirror : public OverlaidObjects {
 public:
  using Object = T;

  OverlaidMirror(kube::Client& client, Need need, Listener listener, kube::Selection selection = {})
      : OverlaidObjects(client,
                        {.kind = kube::kResourceKind<T>,
                         .make = kube::MakeObject<T>,
                         .has_same_content =
                             [](const kube::AnyObject& a, const kube::AnyObject& b) {
                               return HasSameContent(kube::As<T>(a), kube::As<T>(b));
                             }},
                        need, std::move(listener), std::move(selection)) {}

  // Finds an object by its name.  If the kind has namespaces, the mirror must be of one namespace.  Returns nullptr if
  // there is no such object.  The object is valid until the mirror or an answer replaces it.
  const T* Find(const std::string& name) const {
    const kube::AnyObject* const found = FindAny(name);
    return found == nullptr ? nullptr : &kube::As<T>(*found);
  }
  // Visits all objects, in the order of their names.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    VisitAll([&](const kube::AnyObject& object) { visit(kube::As<T>(object)); });
  }

  // Visits the objects whose latest version cannot be read, in the order of their names.
  template <typename Visit>
  void ForEachUnreadable(Visit&& visit) const {
    VisitUnreadable(
        [&](const kube::AnyObject& readable_part, const Error& why) { visit(kube::As<T>(readable_part), why); });
  }

  // Stores the server's answer to a write.  Ignores an answer that is not newer than the known version, and an answer
  // about an object that the mirror does not have yet.
  void StoreAnswer(T answered) { StoreAnyAnswer(std::make_unique<kube::ObjectOf<T>>(std::move(answered))); }

  // Stores an answer although it is older than the known version.  A caller may do so with an object that it has just
  // read: if this object is older, the server's database was restored from a backup.
  void StoreOlderAnswer(T answered) { StoreAnyOlderAnswer(std::make_unique<kube::ObjectOf<T>>(std::move(answered))); }
};

}  // namespace pintle::controller
