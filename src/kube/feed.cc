// SPDX-License-Identifier: Apache-2.0
#include "kube/feed.h"

#include <fmt/core.h>

#include <utility>

#include "base/clock.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/resource_version.h"

namespace pintle::kube {
namespace {

using std::chrono::milliseconds;

// A watch that lasted this long has not failed, even if it had no events.
constexpr auto kSteady = std::chrono::seconds(10);
// After this many silent watches in a row, the objects are listed: perhaps the server has not reached our version yet.
constexpr int kSilentWatches = 2;

class Follower final : public Work, public std::enable_shared_from_this<Follower> {
 public:
  Follower(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, FeedSettings settings,
           FeedReceiver receiver)
      : transport_(std::move(transport)),
        kind_(kind),
        selection_(std::move(selection)),
        settings_(std::move(settings)),
        receiver_(std::move(receiver)),
        backoff_(settings_.backoff, settings_.random),
        missing_backoff_(settings_.missing_backoff, settings_.random),
        again_(
            transport_->loop(), [this] { GoOn(); }, kRetrySlack) {}

  // A watch needs a resourceVersion to start from.
  void GoOn() { resource_version_.empty() ? BeginList() : BeginWatch(); }

 private:
  void BeginList() {
    const auto weak = weak_from_this();
    Patience page = settings_.page;
    if (has_list_failed_) page.attempts = 1;  // The list starts over anyway.
    call_ = List(transport_, kind_, selection_, page,
                 {.begin =
                      [weak] {
                        if (const auto alive = weak.lock()) alive->receiver_.list_begins();
                      },
                  .item = [weak](json::Value object) -> Result<> {
                    if (const auto alive = weak.lock()) alive->receiver_.listed(std::move(object), std::nullopt);
                    return {};
                  },
                  .end =
                      [weak](std::variant<std::string, Failure> outcome) {
                        if (const auto alive = weak.lock()) alive->ListEnded(std::move(outcome));
                      },
                  .part = [weak](json::Value object, const Error& why) -> Result<> {
                    if (const auto alive = weak.lock()) alive->receiver_.listed(std::move(object), why);
                    return {};
                  }},
                 FirstPage::kOnce);
  }

  void ListEnded(std::variant<std::string, Failure> outcome) {
    if (is_dropped()) return;
    const auto* const failure = std::get_if<Failure>(&outcome);
    has_list_failed_ = failure != nullptr;
    if (failure != nullptr) return TryAgain(*failure);
    missing_backoff_.Reset();
    resource_version_ = std::move(std::get<std::string>(outcome));
    receiver_.list_ends();
    if (!is_dropped()) BeginWatch();
  }

  void BeginWatch() {
    has_new_event_ = has_received_ = false;
    watching_since_ = std::chrono::steady_clock::now();
    const auto weak = weak_from_this();
    call_ = Watch(transport_, kind_, selection_, resource_version_, settings_.watch, settings_.random,
                  {.event =
                       [weak](WatchEvent event) {
                         if (const auto alive = weak.lock()) alive->Take(std::move(event));
                       },
                   .end =
                       [weak](std::optional<Failure> failure) {
                         if (const auto alive = weak.lock()) alive->WatchEnded(failure);
                       }});
  }

  void Take(WatchEvent event) {
    std::string version = ResourceVersionOf(event.object);
    if (IsLater(version, "") && IsLater(resource_version_, version)) return GoBack(version);
    has_received_ = true;
    if (event.type != WatchEventType::kBookmark) {
      // An event that was delivered before is not new.  Otherwise, a server that ends each watch after the same event
      // would reset the back-off each time.
      if (IsLater(version, newest_)) {
        has_new_event_ = true;
        newest_ = version;
      }
      receiver_.event(std::move(event));
    }
    if (!version.empty()) resource_version_ = std::move(version);
  }

  // Lists the objects again because the version has gone back: either the store was restored from a backup, or the
  // server has a defect.
  void GoBack(const std::string& version) {
    call_ = {};
    newest_ = version;
    const Error error(
        ErrorKind::kInvalid,
        fmt::format("the server sent version {} after {}, as if its store had been restored; {} are listed again",
                    version, resource_version_, kind_.plural));
    WatchEnded(While(Failure{.error = error}, fmt::format("watching {}", kind_.plural)));
  }

  // Counts silent watches, and returns true after kSilentWatches of them in a row.  A server sends bookmarks on a watch
  // once it has reached the version from which the watch starts.
  bool WereSilent(const std::optional<Failure>& failure, std::chrono::steady_clock::duration lasted) {
    if (!failure || failure->status != 0 || has_received_ || lasted < settings_.watch.silence) {
      silent_watches_ = 0;
      return false;
    }
    if (++silent_watches_ < kSilentWatches) return false;
    silent_watches_ = 0;
    return true;
  }

  void WatchEnded(const std::optional<Failure>& failure) {
    if (is_dropped()) return;
    const auto lasted = std::chrono::steady_clock::now() - watching_since_;
    const bool was_steady = lasted >= kSteady;
    const bool is_expired = failure && failure->IsExpired();
    const bool is_bad = failure && failure->error.kind() != ErrorKind::kUnavailable && !is_expired;
    if (was_steady || (has_new_event_ && !is_bad)) backoff_.Reset();
    const bool may_go_on = !is_bad && !is_expired && !WereSilent(failure, lasted);
    if (!may_go_on) resource_version_.clear();
    if (failure && !is_expired) return TryAgain(*failure);
    again_.After(was_steady ? milliseconds(0) : backoff_.Next());
  }

  void TryAgain(const Failure& failure) {
    const bool is_missing = failure.error.kind() == ErrorKind::kNotFound;
    again_.After(DelayBefore(failure, is_missing ? missing_backoff_ : backoff_));
    receiver_.trouble(failure.error);
  }

  std::shared_ptr<Transport> transport_;
  ResourceKind kind_;
  Selection selection_;
  FeedSettings settings_;
  FeedReceiver receiver_;
  Backoff backoff_;
  Backoff missing_backoff_;
  std::string resource_version_;
  std::string newest_;          // The newest version of all events so far.
  bool has_new_event_ = false;  // Whether this watch has delivered a new event.
  bool has_received_ = false;   // Whether this watch has delivered an event or a bookmark.
  int silent_watches_ = 0;      // The number of silent watches in a row.
  bool has_list_failed_ = false;
  MonotonicTime watching_since_;
  event::Timer again_;
  Call call_;
};

}  // namespace

Call Follow(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, FeedSettings settings,
            FeedReceiver receiver) {
  const auto follower = std::make_shared<Follower>(std::move(transport), kind, std::move(selection),
                                                   std::move(settings), std::move(receiver));
  follower->GoOn();
  return Call(follower);
}

}  // namespace pintle::kube
