// SPDX-License-Identifier: Apache-2.0
#pragma once

// A point in time with microseconds, which Kubernetes uses for leases and series of events.

#include <chrono>
#include <string>

#include "api/lenient.h"
#include "base/clock.h"
#include "json/field_list.h"

namespace pintle::api {

struct MicroTime {
  WallTime at;
  auto operator<=>(const MicroTime&) const = default;
};

}  // namespace pintle::api

namespace pintle::json {

template <>
struct Codec<api::MicroTime> {
  static void Decode(Value&& from, api::MicroTime& to, const Path& path, Report& report) {
    if (!from.is_string()) return report.Error(path, "must be a time such as \"2026-11-21T05:41:43.000000Z\"");
    const auto time = FromRfc3339(from.text());
    if (!time) return report.Error(path, time.error().message());
    to.at = *time;
  }
  // The API server requires six digits after the point.
  static Value Encode(const api::MicroTime& from) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(from.at);
    const auto fraction = std::chrono::duration_cast<std::chrono::microseconds>(from.at - whole);
    std::string text = ToRfc3339(whole);
    text.pop_back();  // The "Z".
    return text + "." + std::to_string(1'000'000 + fraction.count()).substr(1) + "Z";
  }
};

}  // namespace pintle::json
