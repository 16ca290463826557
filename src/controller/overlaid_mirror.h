// SPDX-License-Identifier: Apache-2.0
#pragma once

// Mirrors one kind, overlaid with the answers to our own writes, and reports changes that matter.
//
// A node's heartbeat makes a new version of the Node every few minutes, without any change that matters.

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/complaints.h"
#include "controller/write_answers.h"
#include "json/field_list.h"
#include "kube/mirror.h"

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

// States whether every cluster has a kind, or only some clusters do.
enum class Need { kAlways, kIfServed };

template <kube::Resource T>
class OverlaidMirror {
 public:
  struct Listener {
    std::function<void()> changed;  // Called for changes that matter, and when all objects have been read.
    std::function<void(const T& before, const T& now)> replaced = [](const T&, const T&) {};
    std::function<void(const Error& error)> trouble;
  };

  OverlaidMirror(kube::Client& client, Need need, Listener listener, kube::Selection selection = {})
      : need_(need),
        listener_(std::move(listener)),
        namespace_name_(selection.namespace_name),
        mirror_(client, std::move(selection),
                {.added =
                     [this](const T& object) {
                       expected_.erase(object.metadata.name);
                       answers_.Mirrored(object);
                       Changed();
                     },
                 .changed = [this](const T& before, const T& now) { Replaced(before, now); },
                 .removed =
                     [this](const T& gone) {
                       expected_.erase(gone.metadata.name);
                       answers_.Gone(gone.metadata.name);
                       Changed();
                     },
                 .synced = [this] { Synced(); },
                 .trouble = [this](const Error& error) { InTrouble(error); }},
                FeedSettingsFor(need)) {}

  // Returns whether the API server has the kind and all objects have been read.
  bool is_served() const { return mirror_.is_synced(); }
  // Returns whether all objects have been read, or the kind does not exist.
  bool is_ready() const { return mirror_.is_synced() || is_known_to_be_missing_; }

  // Returns whether the API server does not have the kind.
  bool is_missing() const { return is_known_to_be_missing_; }

  // Finds an object without a namespace, or one of the selected namespace.
  const T* Find(const std::string& name) const {
    const T* found = mirror_.Find({namespace_name_, name});
    return found == nullptr ? nullptr : &answers_.LatestOf(*found);
  }
  // Visits all objects, in the order of their names.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, object] : mirror_.objects()) visit(answers_.LatestOf(object));
  }

  // Visits the objects whose latest version cannot be read, in the order of their names.
  template <typename Visit>
  void ForEachUnreadable(Visit&& visit) const {
    for (const auto& [name, object] : mirror_.unreadable()) visit(object.readable_part, object.why);
  }
  // Returns the server's error if the server refuses to list the kind or has repeatedly failed to, or else an empty
  // text.
  const std::string& refusal() const { return refusal_; }

  // Stores the server's answer to a write.  An answer that is older than the known version is ignored.
  void Put(T answered) {
    const T* known = Find(answered.metadata.name);
    if (known == nullptr || !IsLater(answered.metadata.resource_version, known->metadata.resource_version)) return;
    answers_.Put(std::move(answered));
  }

  // Stores an answer that is older than the known version.  The answer is right nevertheless, since the server's
  // database was restored from a backup.
  void PutBack(T answered) {
    if (Find(answered.metadata.name) != nullptr) answers_.Put(std::move(answered));
  }

  // Marks an object as expected, until the mirror has it or has seen its deletion.  The object is about to be created,
  // or it may exist on the server and is about to be read.  This function has to be called before the request to the
  // API server, since the mirror may be faster than the answer.
  void Expect(const std::string& name) {
    if (Find(name) == nullptr) expected_.insert(name);
  }
  void ExpectNoMore(const std::string& name) { expected_.erase(name); }
  bool IsExpected(const std::string& name) const { return expected_.contains(name); }

 private:
  static kube::FeedSettings FeedSettingsFor(Need need) {
    kube::FeedSettings settings;
    // A kind that is not served now may be served later, so it is requested again, but rarely.
    if (need == Need::kIfServed) settings.backoff.longest = std::chrono::minutes(5);
    return settings;
  }

  void Changed() {
    if (is_ready()) listener_.changed();
  }

  void Replaced(const T& before, const T& now) {
    answers_.Mirrored(now);
    // An object that was unreadable for a while may be readable again without a change.
    const std::size_t unreadable_count = mirror_.unreadable().size();
    const bool is_read_again = unreadable_count < std::exchange(unreadable_count_, unreadable_count);
    if (HasSameContent(before, now) && !is_read_again) return;
    listener_.replaced(before, now);
    Changed();
  }

  void Synced() {
    expected_.clear();
    refusal_.clear();
    failures_ = 0;
    is_known_to_be_missing_ = false;
    listener_.changed();
  }

  void InTrouble(const Error& error) {
    const bool is_missing = need_ == Need::kIfServed && error.kind() == ErrorKind::kNotFound;
    if (!is_missing) {
      unreadable_count_ = mirror_.unreadable().size();
      // A failure that may pass is reported only when it repeats.
      const bool is_to_be_reported = error.kind() == ErrorKind::kInvalid || ++failures_ > kFailuresBeforeReport;
      if (!mirror_.is_synced() && is_to_be_reported) refusal_ = error.message();
      listener_.trouble(error);
      // The number of unreadable objects may have changed.
      return listener_.changed();
    }
    if (!std::exchange(is_known_to_be_missing_, true)) listener_.changed();
  }

  Need need_;
  Listener listener_;
  const std::string namespace_name_;
  bool is_known_to_be_missing_ = false;
  std::size_t unreadable_count_ = 0;
  int failures_ = 0;  // Failures to list since the last success.
  std::set<std::string> expected_;
  std::string refusal_;
  WriteAnswers<T> answers_;
  kube::Mirror<T> mirror_;
};

}  // namespace pintle::controller
