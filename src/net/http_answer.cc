// SPDX-License-Identifier: Apache-2.0
#include "net/http_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

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

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char left, char right) { return lower(left) == lower(right); });
}

std::optional<std::string_view> IncomingRequest::Find(std::string_view name) const {
  for (const Field& field : headers) {
    if (SameIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
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
