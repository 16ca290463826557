// SPDX-License-Identifier: Apache-2.0
#include "net/http_answer.h"

#include <fmt/core.h>

#include <array>
#include <ctime>
#include <utility>

#include "base/ascii.h"

namespace pintle::net {
namespace {

std::string HttpDate() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                     kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                     utc.tm_sec);
}

}  // namespace

std::optional<std::string_view> IncomingRequest::Find(std::string_view name) const {
  for (const Field& field : headers) {
    if (SameIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

void LaterAnswer::Complete(Make make) {
  std::shared_ptr<const void> ended;  // Released after the lock.
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_completed_, true)) return;
  ended.swap(count_);
  if (is_abandoned_) return;
  make_ = std::move(make);
  // The lock is held during this call, so that Abandon() returns only when the call has ended.
  if (const auto wake = std::exchange(wake_, nullptr)) wake();
}

bool LaterAnswer::IsAwaited() const {
  const std::lock_guard lock(mutex_);
  return !is_abandoned_;
}

void LaterAnswer::CountAs(std::shared_ptr<const void> count) {
  const std::lock_guard lock(mutex_);
  if (!is_completed_) count_.swap(count);
}

LaterAnswer::Make LaterAnswer::Take(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (!make_) wake_ = std::move(wake);
  return std::exchange(make_, nullptr);
}

void LaterAnswer::Abandon() {
  Make unused;  // What it owns is destroyed after the lock is released.
  const std::lock_guard lock(mutex_);
  is_abandoned_ = true;
  wake_ = nullptr;
  unused.swap(make_);
}

KeptRequest::KeptRequest(const IncomingRequest& request)
    : method_(request.method), target_(request.target), peer_(request.peer) {
  for (const IncomingRequest::Field& field : request.headers) {
    headers_.push_back({std::string(field.name), std::string(field.value)});
  }
}

IncomingRequest KeptRequest::View() const {
  IncomingRequest request = {method_, target_, peer_, {}};
  for (const Header& header : headers_) request.headers.push_back({header.name, header.value});
  return request;
}

std::string HeadOf(const HttpAnswer& answer, std::string_view reason, AfterAnswer after) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", answer.status, reason, HttpDate());
  // The end of a stream is the end of its connection.
  if (!answer.stream) head += fmt::format("Content-Length: {}\r\n", answer.body ? answer.body->size() : 0);
  for (const Header& header : answer.headers) head += header.name + ": " + header.value + "\r\n";
  if (after == AfterAnswer::kKeepAsAsked) head += "Connection: keep-alive\r\n";
  if (after == AfterAnswer::kClose) head += "Connection: close\r\n";
  return head + "\r\n";
}

}  // namespace pintle::net
