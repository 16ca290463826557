// SPDX-License-Identifier: Apache-2.0
#include "dashboard/updates.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <utility>

#include "json/parse.h"
#include "json/value.h"

namespace pintle::dashboard {
namespace {

constexpr std::size_t kMostKeptEvents = 64;
// Without this limit, the changes of a minute could take more memory than everything else if a large cluster is in
// trouble.
constexpr std::size_t kMostKeptBytes = 4 << 20;
// After a browser has requested the page, changes are kept for it until this many have been added.  At most one change
// is added each second.
constexpr int kExpectedFor = 30;
// A browser tries again after this time, in milliseconds, when the connection is lost.
constexpr const char* kRetry = "retry: 2000\n";
constexpr const char* kReload = "event: reload\ndata: 1\n\n";
constexpr const char* kComment = ": nothing has changed\n\n";

std::string EventDataOf(const std::vector<Piece>& changes) {
  json::Value list = json::Value::array();
  for (const Piece& piece : changes) list.push_back(json::Value::array({piece.id, piece.html}));
  return json::ToText(list);
}

}  // namespace

class Updates::Stream final : public net::HttpStream {
 public:
  // `position` is the version that the browser shows; nullopt if that version is of another replica.
  Stream(Updates& updates, std::optional<std::uint64_t> position) : updates_(updates), position_(position) {}
  ~Stream() override {
    const std::lock_guard lock(updates_.mutex_);
    updates_.wakes_.erase(this);
  }

  std::shared_ptr<const std::string> Next(std::function<void()> wake) override {
    return updates_.NextFor(*this, std::move(wake));
  }

 private:
  friend class Updates;

  Updates& updates_;
  std::optional<std::uint64_t> position_;
  std::uint64_t comments_ = 0;  // The number of comments that this stream has sent or skipped.
  bool has_begun_ = false;
};

std::string Updates::Version() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}-{}", identity_, latest_);
}

bool Updates::HasFollowers() const {
  const std::lock_guard lock(mutex_);
  return HasFollowersLocked();
}

void Updates::ExpectFollower() {
  const std::lock_guard lock(mutex_);
  expected_for_ = kExpectedFor;
}

void Updates::Add(const std::vector<Piece>& changes) { AddEvent("data: " + EventDataOf(changes) + "\n\n"); }

void Updates::AddReload() { AddEvent(kReload); }

void Updates::AddEvent(std::string text) {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    ++latest_;
    events_.push_back(
        std::make_shared<const std::string>(fmt::format("id: {}-{}\n{}", identity_, latest_, std::move(text))));
    kept_bytes_ += events_.back()->size();
    // The newest event is kept in any case: it may be longer than the limit.
    while (events_.size() > kMostKeptEvents || (events_.size() > 1 && kept_bytes_ > kMostKeptBytes)) {
      kept_bytes_ -= events_.front()->size();
      events_.pop_front();
    }
    if (expected_for_ > 0) --expected_for_;
    if (!HasFollowersLocked()) {
      events_.clear();
      kept_bytes_ = 0;
    }
    wakes = TakeWakesLocked();
  }
  for (const auto& wake : wakes) wake();
}

void Updates::KeepAlive() {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    ++comments_;
    wakes = TakeWakesLocked();
  }
  for (const auto& wake : wakes) wake();
}

std::vector<std::function<void()>> Updates::TakeWakesLocked() {
  std::vector<std::function<void()>> wakes;
  for (auto& [stream, wake] : wakes_) {
    if (wake) wakes.push_back(std::exchange(wake, nullptr));
  }
  return wakes;
}

std::shared_ptr<net::HttpStream> Updates::StreamFrom(std::string_view version) {
  std::optional<std::uint64_t> position;
  if (version.starts_with(identity_ + "-")) {
    std::uint64_t number = 0;
    const char* const end = version.data() + version.size();
    const auto [after, error] = std::from_chars(version.data() + identity_.size() + 1, end, number);
    if (error == std::errc() && after == end) position = number;
  }
  auto stream = std::make_shared<Stream>(*this, position);
  const std::lock_guard lock(mutex_);
  stream->comments_ = comments_;
  wakes_.emplace(stream.get(), nullptr);
  return stream;
}

std::shared_ptr<const std::string> Updates::NextFor(Stream& stream, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(stream.has_begun_, true)) return std::make_shared<const std::string>(kRetry + std::string("\n"));
  const bool is_known =
      stream.position_ && *stream.position_ <= latest_ && latest_ - *stream.position_ <= events_.size();
  if (!is_known) {
    stream.position_ = latest_;
    return std::make_shared<const std::string>(kReload);
  }
  const bool has_comment = std::exchange(stream.comments_, comments_) != comments_;
  if (*stream.position_ == latest_) {
    if (has_comment) return std::make_shared<const std::string>(kComment);
    wakes_[&stream] = std::move(wake);
    return nullptr;
  }
  const std::size_t missed = static_cast<std::size_t>(latest_ - *stream.position_);
  ++*stream.position_;
  return events_[events_.size() - missed];
}

}  // namespace pintle::dashboard
