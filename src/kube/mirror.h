// SPDX-License-Identifier: Apache-2.0
#pragma once

// A copy of some of the cluster's objects that is kept current.
//
// Each object is stored as its struct of api/, and so without fields that nobody uses.  While the API server cannot be
// reached, the mirror keeps the objects that it has; afterwards, it reports only the differences.  An object that
// cannot be decoded is set aside by its name, while its last readable state and all other objects stay.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "kube/client.h"
#include "kube/decode.h"
#include "kube/feed.h"

namespace pintle::kube {

template <Resource T>
class Mirror {
 public:
  // Each of these may destroy the mirror.
  struct Listener {
    std::function<void(const T& object)> added = [](const T&) {};
    std::function<void(const T& before, const T& now)> changed = [](const T&, const T&) {};
    std::function<void(const T& last_known)> removed = [](const T&) {};
    // Called when a list is complete and all existing objects are in the mirror; called again after each later list.
    std::function<void()> synced = [] {};
    std::function<void(const Error& error)> trouble = [](const Error&) {};
  };

  Mirror(Client& client, Selection selection, Listener listener, FeedSettings settings = {});

  // Returns whether a list has been complete.  The objects may be outdated while there is trouble.
  bool is_synced() const;
  const std::map<ObjectName, T>& objects() const;
  // Returns nullptr if there is no such object.
  const T* Find(const ObjectName& name) const;
  // Returns the objects whose present state cannot be read.
  const std::map<ObjectName, Unreadable<T>>& unreadable() const;

 private:
  class State;

  std::shared_ptr<State> state_;
  Call call_;
};

template <Resource T>
class Mirror<T>::State final : public Work, public std::enable_shared_from_this<State> {
 public:
  explicit State(Listener listener) : listener_(std::move(listener)) {}

  void Begin(std::shared_ptr<Transport> transport, Selection selection, FeedSettings settings) {
    const auto weak = this->weak_from_this();
    // Each callback keeps the state alive while it runs, even if the listener destroys the mirror.
    const auto with = [weak](auto act) {
      return [weak, act](auto&&... happening) {
        if (const auto alive = weak.lock()) act(*alive, std::forward<decltype(happening)>(happening)...);
      };
    };
    feed_ = Follow(std::move(transport), kResourceKind<T>, std::move(selection), std::move(settings),
                   {.list_begins = with([](State& self) { self.seen_.clear(); }),
                    .listed = with([](State& self, json::Value object, const std::optional<Error>& why) {
                      self.TakeListed(std::move(object), why);
                    }),
                    .list_ends = with([](State& self) { self.ForgetUnseen(); }),
                    .event = with([](State& self, WatchEvent event) { self.Take(std::move(event)); }),
                    .trouble = with([](State& self, const Error& error) { self.listener_.trouble(error); })});
  }

  bool is_synced() const { return is_synced_; }
  const std::map<ObjectName, T>& objects() const { return objects_; }
  const std::map<ObjectName, Unreadable<T>>& unreadable() const { return unreadable_; }

 private:
  void TakeListed(json::Value document, const std::optional<Error>& why) {
    seen_.insert(NameIn(document));
    Store(std::move(document), why);
  }

  void ForgetUnseen() {
    std::erase_if(unreadable_, [this](const auto& object) { return !seen_.contains(object.first); });
    for (auto object = objects_.begin(); object != objects_.end();) {
      const auto current = object++;
      if (seen_.contains(current->first)) continue;
      const auto gone = objects_.extract(current);
      listener_.removed(gone.mapped());
      if (this->is_dropped()) return;
    }
    seen_.clear();
    is_synced_ = true;
    listener_.synced();
  }

  void Take(WatchEvent event) {
    if (event.type != WatchEventType::kDeleted) return Store(std::move(event.object), event.why_incomplete);
    const ObjectName name = NameIn(event.object);
    const auto unread = unreadable_.extract(name);
    const auto gone = objects_.extract(name);
    if (!gone.empty()) return listener_.removed(gone.mapped());
    if (!unread.empty()) listener_.removed(unread.mapped().readable_part);
  }

  void Store(json::Value document, const std::optional<Error>& why_incomplete) {
    const ObjectName name = NameIn(document);
    T readable_part;
    Result<T> object = Decode<T>(std::move(document), &readable_part);
    if (object && why_incomplete) {
      readable_part = *std::move(object);
      object = ReadingError<T>(*why_incomplete);
    }
    // The last readable state of the object stays: it may still be right, and is better than none.
    if (!object) {
      const Error why = std::move(object).error().While(name.ToString());
      unreadable_.insert_or_assign(name, Unreadable<T>{std::move(readable_part), why});
      return listener_.trouble(why);
    }
    unreadable_.erase(name);
    const auto known = objects_.find(name);
    if (known != objects_.end()) return Replace(known->second, *std::move(object));
    listener_.added(objects_.emplace(name, *std::move(object)).first->second);
  }

  void Replace(T& known, T now) {
    const bool is_same = known.metadata.uid == now.metadata.uid;
    if (is_same && known.metadata.resource_version == now.metadata.resource_version) return;
    const T before = std::exchange(known, std::move(now));
    if (is_same) return listener_.changed(before, known);
    listener_.removed(before);
    if (!this->is_dropped()) listener_.added(known);
  }

  Listener listener_;
  std::map<ObjectName, T> objects_;
  std::map<ObjectName, Unreadable<T>> unreadable_;
  std::set<ObjectName> seen_;  // The objects in the list that is arriving.
  bool is_synced_ = false;
  Call feed_;
};

template <Resource T>
Mirror<T>::Mirror(Client& client, Selection selection, Listener listener, FeedSettings settings)
    : state_(std::make_shared<State>(std::move(listener))), call_(state_) {
  state_->Begin(client.transport(), std::move(selection), std::move(settings));
}

template <Resource T>
bool Mirror<T>::is_synced() const {
  return state_->is_synced();
}

template <Resource T>
const std::map<ObjectName, T>& Mirror<T>::objects() const {
  return state_->objects();
}

template <Resource T>
const std::map<ObjectName, Unreadable<T>>& Mirror<T>::unreadable() const {
  return state_->unreadable();
}

template <Resource T>
const T* Mirror<T>::Find(const ObjectName& name) const {
  const auto found = objects().find(name);
  return found == objects().end() ? nullptr : &found->second;
}

}  // namespace pintle::kube
