// SPDX-License-Identifier: Apache-2.0
#pragma once

// Mirrors a kind in its present version, or in an older version while the cluster does not serve the present version.
//
// A cluster of an older release may have the kind in the older version only.

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "controller/overlaid_mirror.h"
#include "kube/client.h"

namespace pintle::controller {

// `T` and `Old` are the types of the two versions.
template <kube::Resource T, kube::Resource Old>
requires std::derived_from<Old, T>
class VersionedMirror {
 public:
  using Object = T;
  using Listener = typename OverlaidMirror<T>::Listener;

  VersionedMirror(const kube::Client& client, Listener listener)
      : client_(client),
        listener_(std::move(listener)),
        present_(client_, Need::kIfServed,
                 {.changed =
                      [this] {
                        FollowOld();
                        listener_.changed();
                      },
                  .replaced = listener_.replaced,
                  .trouble = listener_.trouble,
                  .unreadable = listener_.unreadable}) {}
  VersionedMirror(const VersionedMirror&) = delete;
  VersionedMirror& operator=(const VersionedMirror&) = delete;

  // Returns true if all objects have been read, or if the API server has neither version.
  bool is_ready() const { return present_.is_ready() && (!old_ || old_->is_ready()); }
  // Returns whether the API server has neither version.
  bool is_missing() const { return present_.is_missing() && (!old_ || old_->is_missing()); }
  // Returns whether the objects are those of the older version.
  bool uses_old() const { return old_ && old_->is_served(); }

  // Returns the objects of the version that is in use.
  const OverlaidObjects& in_use() const {
    if (uses_old()) return *old_;
    return present_;
  }

  // These functions are like those of OverlaidMirror, for the version that is in use.
  const T* Find(const std::string& name) const { return uses_old() ? old_->Find(name) : present_.Find(name); }
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    uses_old() ? old_->ForEach(visit) : present_.ForEach(visit);
  }
  template <typename Visit>
  void ForEachUnreadable(Visit&& visit) const {
    uses_old() ? old_->ForEachUnreadable(visit) : present_.ForEachUnreadable(visit);
  }
  void StoreAnswer(T answered) { present_.StoreAnswer(std::move(answered)); }
  void StoreAnswer(Old answered) {
    if (old_) old_->StoreAnswer(std::move(answered));
  }

 private:
  // Mirrors the older version while the API server does not have the present one.
  void FollowOld() {
    if (!present_.is_missing()) return old_.reset();
    if (old_) return;
    old_ = std::make_unique<OverlaidMirror<Old>>(
        client_, Need::kIfServed,
        typename OverlaidMirror<Old>::Listener{.changed = listener_.changed,
                                               .replaced = listener_.replaced,
                                               .trouble = listener_.trouble,
                                               .unreadable = listener_.unreadable});
  }

  kube::Client client_;
  const Listener listener_;
  std::unique_ptr<OverlaidMirror<Old>> old_;  // Exists while the API server lacks the present version.
  OverlaidMirror<T> present_;
};

}  // namespace pintle::controller
