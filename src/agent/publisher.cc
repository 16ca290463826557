// SPDX-License-Identifier: Apache-2.0
#include "agent/publisher.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "agent/events.h"
#include "agent/state_words.h"
#include "base/log.h"
#include "base/printable.h"

namespace pintle::agent {
namespace {

constexpr const char* kRunDirectory = "/run/pintle";
constexpr const char* kFindings = "/run/pintle/findings.json";

// Makes a reason printable, and shortens it to 2000 bytes: the Machine Config Operator limits its annotation to 2000
// characters.
std::string ShownReason(const std::string& reason) {
  constexpr std::size_t kLongest = 2000;
  return Shortened(PrintableLines(reason), kLongest);
}

std::optional<std::string> OrNothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

Publisher::Publisher(event::Loop& loop, const Clock& clock, const Root& root, const Settings& settings, Subject subject,
                     Bus::Handlers handlers)
    : loop_(loop), clock_(clock), root_(root), settings_(settings), bus_(loop, std::move(handlers)) {
  status_.source = subject.source;
  status_.node = subject.node;
  metrics_.node = std::move(subject.node);
}

void Publisher::Begin() {
  WatchKubelet();
  ServeMetrics();
}

void Publisher::WatchKubelet() {
  if (status_.source != host::AgentSource::kKubernetes || settings_.kubelet_health.empty()) return;
  auto watch = KubeletWatch::Begin(loop_, settings_.kubelet_health, [this](std::uint64_t failures) {
    metrics_.kubelet_failures = failures;
    PublishMetrics();
  });
  if (!watch) return log::Warning(watch.error().message(), kTrouble);
  kubelet_ = *std::move(watch);
}

void Publisher::ServeMetrics() {
  if (!settings_.metrics_listen) return;
  auto listener = MetricsListener::Begin(loop_, *settings_.metrics_listen, [this] { return MetricsText(metrics_); });
  if (!listener) return log::Warning(listener.error().message(), kTrouble);
  metrics_listener_ = *std::move(listener);
}

void Publisher::Publish(const State& state, const std::optional<Goal>& current, const std::string& held) {
  held_ = held;
  const host::AgentPhase phase = PublishedPhase(state, !held.empty());
  if (std::exchange(status_.phase, phase) != phase || status_.since.empty()) status_.since = ToRfc3339(clock_.Wall());
  status_.current = current ? current->config : "";
  status_.current_image = current ? OrNothing(current->image) : std::nullopt;
  status_.desired = state.wanted ? state.wanted->config : "";
  status_.desired_image = state.wanted ? OrNothing(state.wanted->image) : std::nullopt;
  PublishOnBus();
  PublishMetrics();
}

void Publisher::PublishOnBus() {
  host::AgentStatus shown = status_;
  if (shown.phase == host::AgentPhase::kPaused) {
    shown.doing = "";
    shown.next = held_;
  }
  bus_.Publish(std::move(shown));
}

void Publisher::PublishMetrics() {
  if (const auto written = WriteMetrics(root_, settings_.metrics_file, metrics_); !written) {
    log::Debug(written.error().message());
  }
}

void Publisher::PublishProgress(const std::string& doing) {
  SetDoing(doing);
  PublishOnBus();
}

void Publisher::PublishFacts(const HostFacts& facts) {
  metrics_.os = facts.os;
  metrics_.os_version = facts.os_version;
  metrics_.unsupported_packages = facts.unsupported_packages;
  PublishMetrics();
}

void Publisher::SetActivity(std::string_view doing, std::string_view next) {
  status_.doing = doing;
  status_.next = next;
}

void Publisher::SetState(host::AgentState state, const std::string& reason) {
  static constexpr const char* kNames[] = {"Done", "Working", "Degraded", "Unreconcilable"};
  status_.state = state;
  status_.reason = ShownReason(reason);
  metrics_.state = kNames[static_cast<std::size_t>(state)];
  metrics_.state_reason = status_.reason;
  metrics_.state_since = clock_.Wall();
}

bool Publisher::HasReason(const std::string& reason) const { return status_.reason == ShownReason(reason); }

void Publisher::SetFindings(const Survey& survey) {
  status_.findings = static_cast<std::uint32_t>(survey.findings);
  if (std::exchange(status_.left_aside, survey.left_aside) != survey.left_aside && !survey.left_aside.empty()) {
    log::Notice(survey.left_aside, kLeftAside);
  }
  metrics_.drift_since = DriftSince(metrics_.drift_since, !survey.outlook.drift.empty(), clock_.Wall());
  WriteFindings(survey.findings_text);
}

void Publisher::WriteFindings(const std::string& text) {
  if (text == findings_text_) return;
  const auto write = [&]() -> Result<> {
    TRY(root_.MakeDirectories(kRunDirectory));
    return root_.WriteFile(kFindings, text, {.permissions = 0600, .owner = {}});
  };
  if (const auto written = write(); !written) return log::Warning(written.error().message(), kTrouble);
  findings_text_ = text;
}

bool Publisher::SetWarnings(Warnings::Origin origin, std::vector<std::string> texts) {
  if (!warnings_.Replace(origin, std::move(texts))) return false;
  status_.warnings = warnings_.All();
  return true;
}

void Publisher::SetFailedUpdate(const std::string& why) {
  metrics_.update = Metrics::Update{"", ShownReason(why), clock_.Wall()};
}

}  // namespace pintle::agent
