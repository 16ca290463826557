// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes metrics in the text format of Prometheus.
//
//     MetricsWriter text;
//     text.Begin("mco_machine_count", MetricType::kGauge, "Nodes of a pool.");
//     text.Sample({{"pool", "worker"}}, 3);
//
// The value of a label is cut to 200 characters, and made valid UTF-8.

#include <fmt/core.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace pintle {

enum class MetricType { kGauge, kCounter };

struct MetricLabel {
  std::string_view name;
  std::string_view value;
};

class MetricsWriter {
 public:
  // Begins a metric.  The samples that follow belong to it, until the next call.  `name` must stay valid until then.
  void Begin(std::string_view name, MetricType type, std::string_view help);

  // Adds a value of the metric, with these labels.
  template <typename Number>
  void Sample(std::initializer_list<MetricLabel> labels, Number value) {
    BeginSample(labels);
    text_ += fmt::format(" {}\n", value);
  }

  // Returns the text of all metrics.
  std::string Take() && { return std::move(text_); }

 private:
  void BeginSample(std::initializer_list<MetricLabel> labels);

  std::string_view name_;
  std::string text_;
};

// Returns the seconds since the epoch, rounded down.
std::int64_t UnixTime(WallTime time);

}  // namespace pintle
