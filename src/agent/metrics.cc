// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics.h"

#include <fmt/core.h>

#include <initializer_list>
#include <string_view>

#include "agent/first_characters.h"

namespace pintle::agent {
namespace {

constexpr std::size_t kLongestLabel = 200;  // In characters.
constexpr std::size_t kReadLimit = 1 << 20;

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? "\\n" : std::string(1, c);
  }
  return escaped;
}

struct Label {
  std::string_view name;
  std::string_view value;
};

std::string LabelsText(std::initializer_list<Label> labels) {
  std::string text;
  for (const Label& label : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", label.name,
                        Escaped(FirstCharacters(label.value, kLongestLabel)));
  }
  return text.empty() ? text : text + "}";
}

std::int64_t UnixTime(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

class Text {
 public:
  // What follows are samples of this one.
  void Begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  template <typename Number>
  void Sample(std::initializer_list<Label> labels, Number value) {
    text_ += fmt::format("{}{} {}\n", name_, LabelsText(labels), value);
  }

  std::string Take() && { return std::move(text_); }

 private:
  std::string_view name_;
  std::string text_;
};

}  // namespace

std::string MetricsText(const Metrics& metrics) {
  Text text;
  text.Begin("mcd_host_os_and_version", "gauge", "The OS that this host runs, and its version.");
  text.Sample({{"os", metrics.os}, {"version", metrics.os_version}}, 1);
  text.Begin("mcd_pivot_errors_total", "gauge", "Changes of the OS that failed since the last one that went well.");
  text.Sample({}, metrics.pivot_errors);
  text.Begin("mcd_state", "gauge", "The state of the agent on this node, and since when, as Unix time.");
  text.Sample({{"state", metrics.state}, {"reason", metrics.state_reason}}, UnixTime(metrics.state_since));
  text.Begin("mcd_kubelet_state", "gauge", "How often in a row the kubelet was found unwell.");
  text.Sample({}, metrics.kubelet_failures);
  text.Begin("mcd_reboots_failed_total", "counter", "Reboots that could not be begun.");
  text.Sample({}, metrics.reboots_failed);
  text.Begin("mcd_update_state", "gauge", "The config of the last update or its error, and when, as Unix time.");
  if (metrics.update) {
    text.Sample({{"config", metrics.update->config}, {"err", metrics.update->error}}, UnixTime(metrics.update->at));
  }
  text.Begin("mcd_config_drift", "gauge", "When drift from the config was last seen, as Unix time; 0 if never.");
  text.Sample({}, metrics.config_drift ? UnixTime(*metrics.config_drift) : 0);
  text.Begin("mcd_local_unsupported_packages", "gauge",
             "Packages changed on this node that no extension accounts for.");
  text.Sample({{"node", metrics.node}}, metrics.unsupported_packages);
  return std::move(text).Take();
}

Result<> WriteMetrics(const Root& root, const std::string& path, const Metrics& metrics) {
  if (path.empty()) return {};
  const std::string text = MetricsText(metrics);
  const auto present = root.ReadFile(path, kReadLimit);
  if (present && *present == text) return {};
  Result<> written = root.WriteFile(path, text, {.permissions = 0644, .owner = {}});
  if (!written && written.error().errno_value() == ENOENT) return {};
  return written;
}

}  // namespace pintle::agent
