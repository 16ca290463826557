// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes metrics in the text format of Prometheus.
//
//     MetricsWriter text;
//     text.Begin("mco_machine_count", MetricType::kGauge, "Nodes of a pool.");
//     text.Sample({{"pool", "worker"}}, 3);
//
// The value of a label is cut to a fixed length and made valid UTF-8.

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
  // Begins a metric; the samples that follow belong to it.
  void Begin(std::string_view name, MetricType type, std::string_view help);

  template <typename Number>
  void Sample(std::initializer_list<MetricLabel> labels, Number value) {
    BeginSample(labels);
    text_ += fmt::format(" {}\n", value);
  }

  std::string Take() && { return std::move(text_); }

 private:
  void BeginSample(std::initializer_list<MetricLabel> labels);

  std::string_view name_;
  std::string text_;
};

// Returns whole seconds since the epoch.
std::int64_t UnixTime(WallTime time);

}  // namespace pintle
