// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of OverlaidMirror that is the same for all kinds.

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "controller/write_answers.h"
#include "kube/any_mirror.h"
#include "kube/any_object.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "kube/list.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// States which clusters have a kind.
enum class Need {
  kAlways,
  kIfServed,     // Some clusters have the kind, from their installation on.
  kIfInstalled,  // An administrator may add the kind at any time, and its objects count within seconds.
};

// Returns how long to wait between two requests for a kind that the API server does not have.
kube::Backoff::Settings PausesWhileMissing(Need need);

// Receives an object that cannot be read, and the reason, which contains its kind and its name.
using UnreadableListener =
    std::function<void(const kube::ResourceKind& kind, const kube::ObjectName& name, const Error& why)>;

class OverlaidObjects {
 public:
  struct Listener {
    std::function<void()> changed;  // Called for changes that matter, and when all objects have been read.
    // Called before `changed` for each object that has other contents, or that can be read again.
    std::function<void(const kube::AnyObject& before, const kube::AnyObject& now)> replaced =
        [](const kube::AnyObject&, const kube::AnyObject&) {};
    std::function<void(const Error& error)> trouble;
    UnreadableListener unreadable = {};  // Without it, `trouble` is called for objects that cannot be read.
  };

  // Makes a listener that passes the name of the kind to `trouble`, in the plural: "nodes".
  static Listener ListenerFor(const kube::ResourceKind& kind, const std::function<void()>& changed,
                              const std::function<void(std::string_view kind, const Error& error)>& trouble,
                              const UnreadableListener& unreadable = {});

  OverlaidObjects(const OverlaidObjects&) = delete;
  OverlaidObjects& operator=(const OverlaidObjects&) = delete;

  const kube::ResourceKind& kind() const { return type_.kind; }
  Need need() const { return need_; }

  // Returns whether the API server has the kind and all objects have been read.
  bool is_served() const { return mirror_.is_synced(); }
  // Returns whether all objects have been read, or the kind does not exist.
  bool is_ready() const { return mirror_.is_synced() || is_known_to_be_missing_; }
  // Returns whether the API server does not have the kind.
  bool is_missing() const { return is_known_to_be_missing_; }
  // Returns the server's error if listing the kind is refused or fails again and again, or else an empty text.
  const std::string& refusal() const { return refusal_; }

  // Calls `visit` with each object, in the order of their names.
  template <typename Visit>
  void VisitAll(Visit&& visit) const {
    for (const auto& [name, object] : mirror_.objects()) visit(LatestOf(*object));
  }
  // Calls `visit` with each object whose latest version cannot be read, in the order of their names.
  template <typename Visit>
  void VisitUnreadable(Visit&& visit) const {
    for (const auto& [name, object] : mirror_.unreadable()) visit(std::as_const(*object.readable_part), object.why);
  }

  // Marks an object as expected, until the mirror has it or has seen its deletion.  The object is about to be created,
  // or it may exist on the server and is about to be read.  This function has to be called before the request to the
  // API server, since the mirror may be faster than the answer.
  void Expect(const std::string& name);
  void ExpectNoMore(const std::string& name) { expected_.erase(name); }
  bool IsExpected(const std::string& name) const { return expected_.contains(name); }

 protected:
  // The values that differ between the kinds.
  struct Type {
    const kube::ResourceKind& kind;
    kube::ObjectMaker make;
    // Compares two objects, except for their resourceVersion.
    bool (*has_same_content)(const kube::AnyObject& a, const kube::AnyObject& b);
  };

  OverlaidObjects(kube::Client& client, Type type, Need need, Listener listener, kube::Selection selection);
  ~OverlaidObjects() = default;

  // These functions are for OverlaidMirror, which has the same functions without "Any".
  const kube::AnyObject* FindAny(const std::string& name) const;
  void StoreAnyAnswer(std::unique_ptr<kube::AnyObject> answered);
  void StoreAnyOlderAnswer(std::unique_ptr<kube::AnyObject> answered);

 private:
  const kube::AnyObject& LatestOf(const kube::AnyObject& mirrored) const;
  void Changed();
  void Replaced(const kube::AnyObject& before, const kube::AnyObject& now);
  void Synced();
  void NoteUnreadable(const kube::ObjectName& name, const Error& why);
  void NoteTrouble(const Error& error);
  void NoteMissing();

  const Type type_;
  const Need need_;
  Listener listener_;
  const std::string namespace_name_;
  bool is_known_to_be_missing_ = false;
  std::size_t unreadable_count_ = 0;
  int failures_ = 0;                // Failures to list since the last success.
  std::set<std::string> expected_;  // The names for which IsExpected() returns true.
  std::string refusal_;
  WriteAnswers answers_;
  kube::AnyMirror mirror_;
};

}  // namespace pintle::controller
