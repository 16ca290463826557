// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "event/urgent_timer.h"
#include "event/watches.h"
#include "json/fields.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {
namespace {

constexpr int kMostReleases = 3;  // The most attempts to write that the lease is released.

MonotonicTime Now() { return SystemClock().Monotonic(); }

}  // namespace

class Lease::Contest final : public Work, public std::enable_shared_from_this<Contest> {
 public:
  Contest(std::shared_ptr<Transport> transport, Settings settings, Listener listener)
      : transport_(std::move(transport)),
        settings_(std::move(settings)),
        listener_(std::move(listener)),
        candidacy_(settings_.identity, settings_.times, settings_.offer),
        random_(SystemRandom()),
        next_read_(transport_->loop(),
                   [this] {
                     const auto alive = shared_from_this();
                     ReadLease();
                   }),
        deadline_(transport_->loop(), [this] {
          const auto alive = shared_from_this();
          ReportChange();
        }) {}

  void Begin() { next_read_.After(std::chrono::milliseconds(0)); }

  bool is_held() const { return has_reported_won_ && candidacy_.IsLeader(Now()); }
  std::string OtherHolder() const { return candidacy_.OtherHolder(Now()); }

  // The lease is read first, as it is unknown whether a renewal that is under way takes effect.
  void Release(std::function<void(Result<>)> done) {
    deadline_.Cancel();
    has_reported_won_ = false;
    is_leaving_ = true;
    released_ = std::move(done);
    call_ = {};
    next_read_.After(std::chrono::milliseconds(0));
  }

 private:
  using Then = void (Contest::*)(Result<json::Value>);
  struct Conflict {
    std::string version;  // The version of the lease that was to be changed.
    Error error;
  };

  void Send(ApiRequest request, Then then) {
    request.doing += fmt::format(" Lease {}", settings_.name.ToString());
    // A renewal that takes longer would come too late, so the request ends with an error.
    request.timeouts.whole = settings_.times.renew_deadline / 2;
    call_ = Fetch(transport_, std::move(request), Repeatable::kNo, {.attempts = 1, .random = random_},
                  [weak = weak_from_this(), then](Fetched fetched) {
                    if (const auto alive = weak.lock())
                      (*alive.*then)(ReadObject(alive->settings_.name, std::move(fetched)));
                  });
  }

  void ReadLease() {
    auto path = ObjectPath(kResourceKind<api::Lease>, settings_.name);
    if (!path) return Failed(path.error());
    Send({.path = *std::move(path), .doing = "reading"}, &Contest::Found);
  }

  void Found(Result<json::Value> document) {
    std::optional<api::LeaseSpec> spec;
    version_.clear();
    if (document) {
      version_ = ResourceVersionOf(*document);
      auto lease = Decode<api::Lease>(*std::move(document));
      if (!lease) return Failed(lease.error());
      spec = std::move(lease->spec);
    } else if (document.error().kind() != ErrorKind::kNotFound) {
      return Failed(document.error());
    }
    ReportConflict();
    if (is_dropped()) return;
    if (is_leaving_) return WriteRelease(spec);
    const auto wanted = candidacy_.Decide(spec, Now(), SystemClock().Wall());
    if (!wanted) return EndRound();
    sent_ = Now();
    Write(*wanted, &Contest::Written);
  }

  // After a real conflict, the lease has another version.  If it has the same one, the server refused for another
  // reason.
  void ReportConflict() {
    const auto conflict = std::exchange(conflict_, std::nullopt);
    if (conflict && conflict->version == version_) listener_.trouble(conflict->error);
  }

  void WriteRelease(const std::optional<api::LeaseSpec>& spec) {
    if (!spec || spec->holder_identity != settings_.identity) return Released(json::Value());
    Write(candidacy_.Release(SystemClock().Wall()), &Contest::Released);
  }

  // The write is refused if somebody else has changed the lease since it was read.
  void Write(const api::LeaseSpec& spec, Then then) {
    api::Lease lease;
    lease.metadata.name = settings_.name.name;
    lease.metadata.namespace_name = settings_.name.namespace_name;
    lease.spec = spec;
    if (version_.empty()) {
      auto path = CollectionPath(kResourceKind<api::Lease>, settings_.name.namespace_name);
      if (!path) return Failed(path.error());
      return Send({.method = "POST",
                   .path = *std::move(path),
                   .content_type = "application/json",
                   .body = json::ToText(json::Encode(lease)),
                   .doing = "creating"},
                  then);
    }
    const MergePatch patch = {{{"metadata", {{"resourceVersion", version_}}}, {"spec", json::Encode(lease.spec)}}};
    auto request = PatchRequest(kResourceKind<api::Lease>, settings_.name, patch, Part::kObject, "pintle");
    if (!request) return Failed(request.error());
    request->doing = "renewing";
    Send(*std::move(request), then);
  }

  void Written(Result<json::Value> lease) {
    if (!lease && lease.error().kind() != ErrorKind::kConflict) return Failed(lease.error());
    if (lease) {
      version_ = ResourceVersionOf(*lease);
      candidacy_.Wrote(sent_);
    } else {
      conflict_ = Conflict{version_, lease.error()};
    }
    EndRound();
  }

  void Failed(const Error& error) {
    if (is_leaving_) return Released(error);
    listener_.trouble(error);
    if (!is_dropped()) EndRound();
  }

  // After a conflict, the lease is read again: a renewal that was under way has taken effect meanwhile.
  void Released(Result<json::Value> outcome) {
    const bool is_conflict = !outcome && outcome.error().kind() == ErrorKind::kConflict;
    if (is_conflict && ++release_conflicts_ < kMostReleases) return next_read_.After(std::chrono::milliseconds(0));
    const auto done = std::exchange(released_, {});
    if (!outcome) return done(std::move(outcome).error());
    done({});
  }

  // Reports a change of leadership, and schedules the next read of the lease.
  void EndRound() {
    ReportChange();
    if (is_dropped() || is_leaving_) return;
    ReportHolder();
    if (is_dropped() || is_leaving_) return;
    if (const auto until = candidacy_.LeaderUntil()) deadline_.At(*until);
    // The next reads of waiting candidates are spread, so that they do not all come at the same moment.
    const double spread = has_reported_won_ ? 1 : 1 + random_();
    next_read_.After(std::chrono::duration_cast<std::chrono::nanoseconds>(settings_.times.retry * spread));
  }

  void ReportChange() {
    const bool holds = candidacy_.IsLeader(Now());
    if (holds == std::exchange(has_reported_won_, holds)) return;
    holds ? listener_.won() : listener_.lost();
  }

  void ReportHolder() {
    std::string holder = OtherHolder();
    if (std::exchange(reported_holder_, holder) != holder) listener_.holder_changed();
  }

  std::shared_ptr<Transport> transport_;
  Settings settings_;
  Listener listener_;
  Candidacy candidacy_;
  Random random_;
  std::string version_;               // The version of the lease that we know; empty if there is none.
  std::optional<Conflict> conflict_;  // The conflict of the last write.
  MonotonicTime sent_;
  bool has_reported_won_ = false;  // Whether `won` was called, and `lost` was not called since.
  bool is_leaving_ = false;
  int release_conflicts_ = 0;
  std::string reported_holder_;
  std::function<void(Result<>)> released_;
  event::Timer next_read_;
  event::UrgentTimer deadline_;  // Calls `lost` before anything else that is due, even if the process was suspended.
  Call call_;
};

Lease::Lease(Client& client, Settings settings, Listener listener)
    : contest_(std::make_shared<Contest>(client.transport(), std::move(settings), std::move(listener))),
      call_(contest_) {
  contest_->Begin();
}

bool Lease::is_held() const { return contest_->is_held(); }

std::string Lease::OtherHolder() const { return contest_->OtherHolder(); }

void Lease::Release(std::function<void(Result<>)> done) { contest_->Release(std::move(done)); }

}  // namespace pintle::kube
