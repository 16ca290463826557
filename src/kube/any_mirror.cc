// SPDX-License-Identifier: Apache-2.0
#include "kube/any_mirror.h"

#include <optional>
#include <set>
#include <utility>

#include "json/report.h"
#include "kube/decode.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {

class AnyMirror::State final : public Work, public std::enable_shared_from_this<State> {
 public:
  State(const ResourceKind& kind, ObjectMaker make, Listener listener)
      : kind_(kind), make_(make), listener_(std::move(listener)) {}

  void Begin(std::shared_ptr<Transport> transport, Selection selection, FeedSettings settings) {
    const auto weak = weak_from_this();
    // Each callback keeps the state alive while it runs, even if the listener destroys the mirror.
    const auto with = [weak](auto act) {
      return [weak, act](auto&&... happening) {
        if (const auto alive = weak.lock()) act(*alive, std::forward<decltype(happening)>(happening)...);
      };
    };
    feed_ = Follow(std::move(transport), kind_, std::move(selection), std::move(settings),
                   {.list_begins = with([](State& self) { self.seen_.clear(); }),
                    .listed = with([](State& self, json::Value object, const std::optional<Error>& why) {
                      self.TakeListed(std::move(object), why);
                    }),
                    .list_ends = with([](State& self) { self.ForgetUnseen(); }),
                    .event = with([](State& self, WatchEvent event) { self.Take(std::move(event)); }),
                    .trouble = with([](State& self, const Error& error) { self.listener_.trouble(error); })});
  }

  bool is_synced() const { return is_synced_; }
  const AnyObjects& objects() const { return objects_; }
  const UnreadableObjects& unreadable() const { return unreadable_; }

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
      listener_.removed(*gone.mapped());
      if (is_dropped()) return;
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
    if (!gone.empty()) return listener_.removed(*gone.mapped());
    if (!unread.empty()) listener_.removed(*unread.mapped().readable_part);
  }

  void Store(json::Value document, const std::optional<Error>& why_incomplete) {
    const ObjectName name = NameIn(document);
    auto object = make_();
    json::Report report;
    object->Decode(std::move(document), report);
    Result<> outcome = DecodingOutcome(kind_, report);
    if (outcome && why_incomplete) outcome = DecodingError(kind_, *why_incomplete);
    // The last readable state of the object stays: it may still be right, and is better than none.
    if (!outcome) {
      const Error why = std::move(outcome).error().While(name.ToString());
      unreadable_.insert_or_assign(name, Unreadable{std::move(object), why});
      return listener_.unreadable(name, why);
    }
    unreadable_.erase(name);
    const auto known = objects_.find(name);
    if (known != objects_.end()) return Replace(known->second, std::move(object));
    listener_.added(*objects_.emplace(name, std::move(object)).first->second);
  }

  void Replace(std::unique_ptr<AnyObject>& known, std::unique_ptr<AnyObject> now) {
    const bool is_same = known->metadata().uid == now->metadata().uid;
    if (is_same && known->metadata().resource_version == now->metadata().resource_version) return;
    const auto before = std::exchange(known, std::move(now));
    if (is_same) return listener_.changed(*before, *known);
    listener_.removed(*before);
    if (!is_dropped()) listener_.added(*known);
  }

  const ResourceKind& kind_;
  const ObjectMaker make_;
  Listener listener_;
  AnyObjects objects_;
  UnreadableObjects unreadable_;
  std::set<ObjectName> seen_;  // The objects in the list that is arriving.
  bool is_synced_ = false;
  Call feed_;
};

AnyMirror::AnyMirror(Client& client, const ResourceKind& kind, ObjectMaker make, Selection selection, Listener listener,
                     FeedSettings settings)
    : state_(std::make_shared<State>(kind, make, std::move(listener))), call_(state_) {
  state_->Begin(client.transport(), std::move(selection), std::move(settings));
}

bool AnyMirror::is_synced() const { return state_->is_synced(); }

const AnyObjects& AnyMirror::objects() const { return state_->objects(); }

const AnyMirror::UnreadableObjects& AnyMirror::unreadable() const { return state_->unreadable(); }

const AnyObject* AnyMirror::Find(const ObjectName& name) const {
  const auto found = objects().find(name);
  return found == objects().end() ? nullptr : found->second.get();
}

}  // namespace pintle::kube
