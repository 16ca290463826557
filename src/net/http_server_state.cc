// SPDX-License-Identifier: Apache-2.0
#include "net/http_server_state.h"

#include <chrono>
#include <utility>

namespace pintle::net {

HttpServerState::HttpServerState(const HttpServerLimits& limits, HttpHandler handler,
                                 std::shared_ptr<const TlsIdentity> identity)
    : limits_(limits),
      handler_(std::make_shared<const HttpHandler>(std::move(handler))),
      identity_(std::move(identity)),
      rate_(limits.rate) {}

std::shared_ptr<const HttpHandler> HttpServerState::handler() const {
  const std::lock_guard lock(mutex_);
  return handler_;
}

std::shared_ptr<const TlsIdentity> HttpServerState::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

void HttpServerState::SetHandler(HttpHandler handler) {
  auto next = std::make_shared<const HttpHandler>(std::move(handler));
  const std::lock_guard lock(mutex_);
  handler_.swap(next);  // The old handler may be large; it is freed after the lock is released.
}

void HttpServerState::SetIdentity(std::shared_ptr<const TlsIdentity> identity) {
  const std::lock_guard lock(mutex_);
  if (identity_ && identity) identity_.swap(identity);
}

bool HttpServerState::AddConnection(const std::string& client_key) {
  if (limits_.connections_per_address > 0) {
    const std::lock_guard lock(mutex_);
    std::size_t& others = connections_of_[client_key];
    if (others >= limits_.connections_per_address) return false;
    ++others;
  }
  ++connections_;
  return true;
}

void HttpServerState::RemoveConnection(const std::string& client_key) {
  if (limits_.connections_per_address > 0) {
    const std::lock_guard lock(mutex_);
    const auto own = connections_of_.find(client_key);
    if (--own->second == 0) connections_of_.erase(own);
  }
  --connections_;
}

bool HttpServerState::AllowsRequest(std::string_view client_key) {
  if (limits_.rate.per_second <= 0) return true;
  const std::lock_guard lock(mutex_);
  return rate_.Allow(client_key, std::chrono::steady_clock::now());
}

LaterCounter::Count HttpServerState::AddLater(const std::string& client_key) const {
  return later_->Add(client_key, limits_.later_answers_per_address);
}

}  // namespace pintle::net
