// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps a copy of some of the cluster's objects current.
//
// Each object is stored as its struct of api/, without the fields that nobody uses.  While the API server cannot be
// reached, the mirror keeps the objects that it has; afterwards, it reports only the differences.  An object that
// cannot be decoded is set aside by its name, while its last readable state and all other objects stay.

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "kube/any_mirror.h"
#include "kube/any_object.h"
#include "kube/client.h"
#include "kube/feed.h"

namespace pintle::kube {

// The readable part of an object, and why the object could not be read as a whole.
template <Resource T>
struct Unreadable {
  const T& readable_part;
  const Error& why;
};

// A view of a map of a mirror.  `kSeen` turns the map's values into objects of one kind.
template <typename Map, auto kSeen>
class MapView {
 public:
  using Seen = decltype(kSeen(std::declval<const typename Map::mapped_type&>()));

  class Iterator {
   public:
    explicit Iterator(typename Map::const_iterator at) : at_(at) {}
    std::pair<const ObjectName&, Seen> operator*() const { return {at_->first, kSeen(at_->second)}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    typename Map::const_iterator at_;
  };

  explicit MapView(const Map& map) : map_(map) {}

  Iterator begin() const { return Iterator(map_.begin()); }
  Iterator end() const { return Iterator(map_.end()); }
  std::size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  Seen at(const ObjectName& name) const { return kSeen(map_.at(name)); }

 private:
  const Map& map_;
};

namespace internal {

template <Resource T>
const T& SeenObject(const std::unique_ptr<AnyObject>& object) {
  return As<T>(*object);
}

template <Resource T>
Unreadable<T> SeenPart(const AnyMirror::Unreadable& object) {
  return {As<T>(*object.readable_part), object.why};
}

}  // namespace internal

template <Resource T>
class Mirror {
 public:
  // Each of these callbacks may destroy the mirror.
  struct Listener {
    std::function<void(const T& object)> added = [](const T&) {};
    std::function<void(const T& before, const T& now)> changed = [](const T&, const T&) {};
    std::function<void(const T& last_known)> removed = [](const T&) {};
    // Called when a list is complete and all existing objects are in the mirror; called again after each later list.
    std::function<void()> synced = [] {};
    std::function<void(const Error& error)> trouble = [](const Error&) {};
  };

  // Values of both types are valid until the mirror changes.
  using Objects = MapView<AnyObjects, internal::SeenObject<T>>;
  using UnreadableObjects = MapView<AnyMirror::UnreadableObjects, internal::SeenPart<T>>;

  Mirror(Client& client, Selection selection, Listener listener, FeedSettings settings = {})
      : mirror_(client, kResourceKind<T>, MakeObject<T>, std::move(selection), ForAny(std::move(listener)),
                std::move(settings)) {}

  // Returns whether the objects were listed completely at least once.  The objects may be outdated while there is
  // trouble.
  bool is_synced() const { return mirror_.is_synced(); }
  Objects objects() const { return Objects(mirror_.objects()); }
  // Returns nullptr if there is no such object.
  const T* Find(const ObjectName& name) const {
    const AnyObject* const found = mirror_.Find(name);
    return found == nullptr ? nullptr : &As<T>(*found);
  }
  // Returns the objects whose present state cannot be read.
  UnreadableObjects unreadable() const { return UnreadableObjects(mirror_.unreadable()); }

 private:
  static AnyMirror::Listener ForAny(Listener listener) {
    return {.added = [added = std::move(listener.added)](const AnyObject& object) { added(As<T>(object)); },
            .changed = [changed = std::move(listener.changed)](
                           const AnyObject& before, const AnyObject& now) { changed(As<T>(before), As<T>(now)); },
            .removed = [removed = std::move(listener.removed)](const AnyObject& gone) { removed(As<T>(gone)); },
            .synced = std::move(listener.synced),
            .unreadable = [trouble = listener.trouble](const ObjectName&, const Error& why) { trouble(why); },
            .trouble = std::move(listener.trouble)};
  }

  AnyMirror mirror_;
};

}  // namespace pintle::kube
