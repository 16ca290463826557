// SPDX-License-Identifier: Apache-2.0
#pragma once

// A current copy of one object, which is followed by its name.
//
// A client needs fewer rights for this copy than for a mirror of the whole kind: if a rule of a role names objects, a
// client may list and watch each of these objects by its name.

#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>

#include "controller/overlaid_mirror.h"

namespace pintle::controller {

template <kube::Resource T>
class FollowedObject {
 public:
  using Listener = typename OverlaidMirror<T>::Listener;

  // An empty name stands for no object.
  FollowedObject(kube::Client client, Listener listener, kube::ObjectName name = {})
      : client_(std::move(client)), listener_(std::move(listener)) {
    Follow(std::move(name));
  }
  FollowedObject(const FollowedObject&) = delete;
  FollowedObject& operator=(const FollowedObject&) = delete;

  // Follows another object from now on.
  void Follow(kube::ObjectName name) {
    if (name == name_) return;
    name_ = std::move(name);
    mirror_.reset();
    if (name_.name.empty()) return;
    mirror_ = std::make_unique<OverlaidMirror<T>>(
        client_, Need::kAlways, listener_,
        kube::Selection{.namespace_name = name_.namespace_name,
                        .field_selector = fmt::format("metadata.name={}", name_.name)});
  }

  const kube::ObjectName& name() const { return name_; }

  // Returns true if the object has been read or is known to be missing, if the API server refuses or repeatedly fails
  // to list it, or if there is no name.
  bool is_ready() const { return !mirror_ || mirror_->is_ready() || !mirror_->refusal().empty(); }

  // Returns nullptr if there is no object.
  const T* Find() const {
    const T* found = nullptr;
    if (!mirror_) return found;
    mirror_->ForEach([&](const T& object) {
      if (object.metadata.name == name_.name) found = &object;
    });
    return found;
  }

  // Returns why the object cannot be read, or "".
  std::string WhyUnreadable() const {
    if (!mirror_) return "";
    std::string why = mirror_->refusal();
    mirror_->ForEachUnreadable([&](const T& object, const Error& error) {
      if (object.metadata.name == name_.name) why = error.message();
    });
    return why;
  }

  // Returns a text that changes whenever the version of the object changes, or the reason why it cannot be read.
  std::string VersionsText() const {
    if (!mirror_) return "";
    std::string text = WhyUnreadable();
    mirror_->ForEach([&](const T& object) { text += " " + object.metadata.resource_version; });
    return text;
  }

  // Stores the API server's answer to a write.
  void StoreAnswer(T answered) {
    if (mirror_) mirror_->StoreAnswer(std::move(answered));
  }

 private:
  kube::Client client_;
  const Listener listener_;
  kube::ObjectName name_;
  std::unique_ptr<OverlaidMirror<T>> mirror_;  // Exists if there is a name.
};

}  // namespace pintle::controller
