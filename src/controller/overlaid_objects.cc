// SPDX-License-Identifier: Apache-2.0
#include "controller/overlaid_objects.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "controller/complaints.h"
#include "kube/feed.h"

namespace pintle::controller {

kube::Backoff::Settings PausesWhileMissing(Need need) {
  switch (need) {
    case Need::kAlways:
      return {};
    case Need::kIfServed:
      // An upgrade of the cluster may add the kind, so it is requested again, but rarely.
      return {.longest = std::chrono::minutes(5)};
    case Need::kIfInstalled:
      // The kind is requested often, because its objects have no effect until they have been read: a RolloutPolicy
      // would hold no node back.
      return {.longest = std::chrono::seconds(10), .jitter = 0.25};
  }
  return {};
}

OverlaidObjects::Listener OverlaidObjects::ListenerFor(
    const kube::ResourceKind& kind, const std::function<void()>& changed,
    const std::function<void(std::string_view kind, const Error& error)>& trouble,
    const UnreadableListener& unreadable) {
  return {.changed = changed,
          .trouble = [trouble, plural = kind.plural](const Error& error) { trouble(plural, error); },
          .unreadable = unreadable};
}

OverlaidObjects::OverlaidObjects(kube::Client& client, Type type, Need need, Listener listener,
                                 kube::Selection selection)
    : type_(type),
      need_(need),
      listener_(std::move(listener)),
      namespace_name_(selection.namespace_name),
      mirror_(client, type.kind, type.make, std::move(selection),
              {.added =
                   [this](const kube::AnyObject& object) {
                     expected_.erase(object.metadata().name);
                     answers_.Mirrored(object);
                     Changed();
                   },
               .changed = [this](const kube::AnyObject& before, const kube::AnyObject& now) { Replaced(before, now); },
               .removed =
                   [this](const kube::AnyObject& gone) {
                     expected_.erase(gone.metadata().name);
                     answers_.Gone(kube::NameOf(gone.metadata()));
                     Changed();
                   },
               .synced = [this] { Synced(); },
               .unreadable = [this](const kube::ObjectName& name, const Error& why) { NoteUnreadable(name, why); },
               .trouble = [this](const Error& error) { NoteTrouble(error); }},
              {.missing_backoff = PausesWhileMissing(need)}) {}

void OverlaidObjects::Expect(const std::string& name) {
  if (FindAny(name) == nullptr) expected_.insert(name);
}

const kube::AnyObject* OverlaidObjects::FindAny(const std::string& name) const {
  const kube::AnyObject* const found = mirror_.Find({namespace_name_, name});
  return found == nullptr ? nullptr : &LatestOf(*found);
}

void OverlaidObjects::StoreAnyAnswer(std::unique_ptr<kube::AnyObject> answered) {
  const kube::AnyObject* const mirrored = mirror_.Find(kube::NameOf(answered->metadata()));
  if (mirrored == nullptr) return;
  if (IsLater(answered->metadata().resource_version, LatestOf(*mirrored).metadata().resource_version)) {
    answers_.Put(std::move(answered));
  }
}

void OverlaidObjects::StoreAnyOlderAnswer(std::unique_ptr<kube::AnyObject> answered) {
  if (mirror_.Find(kube::NameOf(answered->metadata())) != nullptr) answers_.Put(std::move(answered));
}

const kube::AnyObject& OverlaidObjects::LatestOf(const kube::AnyObject& mirrored) const {
  return answers_.LatestOf(mirrored);
}

void OverlaidObjects::Changed() {
  if (is_ready()) listener_.changed();
}

void OverlaidObjects::Replaced(const kube::AnyObject& before, const kube::AnyObject& now) {
  answers_.Mirrored(now);
  // An object that was unreadable for a while may be readable again without a change.
  const std::size_t unreadable_count = mirror_.unreadable().size();
  const bool is_read_again = unreadable_count < std::exchange(unreadable_count_, unreadable_count);
  if (type_.has_same_content(before, now) && !is_read_again) return;
  listener_.replaced(before, now);
  Changed();
}

void OverlaidObjects::Synced() {
  expected_.clear();
  refusal_.clear();
  failures_ = 0;
  is_known_to_be_missing_ = false;
  listener_.changed();
}

void OverlaidObjects::NoteUnreadable(const kube::ObjectName& name, const Error& why) {
  unreadable_count_ = mirror_.unreadable().size();
  listener_.unreadable ? listener_.unreadable(type_.kind, name, why) : listener_.trouble(why);
  listener_.changed();
}

void OverlaidObjects::NoteTrouble(const Error& error) {
  const bool is_missing = need_ != Need::kAlways && error.kind() == ErrorKind::kNotFound;
  if (!is_missing) {
    // A failure that may pass is reported only when it is repeated.
    const bool is_to_be_reported = error.kind() == ErrorKind::kInvalid || ++failures_ > kFailuresBeforeReport;
    if (!mirror_.is_synced() && is_to_be_reported) refusal_ = error.message();
    listener_.trouble(error);
    return listener_.changed();
  }
  if (!std::exchange(is_known_to_be_missing_, true)) NoteMissing();
}

void OverlaidObjects::NoteMissing() {
  if (need_ == Need::kIfInstalled) {
    log::Info(fmt::format("The cluster does not have the kind {}.{}; its objects count as soon as it is added",
                          type_.kind.plural, type_.kind.group));
  }
  listener_.changed();
}

}  // namespace pintle::controller
