// SPDX-License-Identifier: Apache-2.0
#include "base/metrics_writer.h"

#include <cstddef>

#include "base/first_characters.h"

namespace pintle {
namespace {

constexpr std::size_t kLongestLabel = 200;  // In characters.

void AppendEscaped(std::string_view text, std::string& to) {
  for (const char c : text) {
    if (c == '\\' || c == '"') to += '\\';
    if (c == '\n') {
      to += "\\n";
    } else {
      to += c;
    }
  }
}

}  // namespace

void MetricsWriter::Begin(std::string_view name, MetricType type, std::string_view help) {
  name_ = name;
  const std::string_view type_name = type == MetricType::kGauge ? "gauge" : "counter";
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type_name);
}

void MetricsWriter::BeginSample(std::initializer_list<MetricLabel> labels) {
  text_ += name_;
  char before = '{';
  for (const MetricLabel& label : labels) {
    text_ += before;
    text_ += label.name;
    text_ += "=\"";
    AppendEscaped(FirstCharacters(label.value, kLongestLabel), text_);
    text_ += '"';
    before = ',';
  }
  if (labels.size() != 0) text_ += '}';
}

std::int64_t UnixTime(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace pintle
