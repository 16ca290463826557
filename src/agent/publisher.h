// SPDX-License-Identifier: Apache-2.0
#pragma once

// Publishes what the agent knows and does: its status on the bus, its metrics, and a file with the findings.
//
// The agent decides nothing by what is published here.  Reports to a cluster go through the Source.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/bus.h"
#include "agent/host_facts.h"
#include "agent/kubelet_watch.h"
#include "agent/metrics.h"
#include "agent/metrics_listener.h"
#include "agent/settings.h"
#include "agent/state.h"
#include "agent/survey.h"
#include "agent/warnings.h"
#include "base/clock.h"
#include "base/root.h"
#include "event/loop.h"
#include "host/agent_dbus.h"

namespace pintle::agent {

class Publisher {
 public:
  struct Subject {
    host::AgentSource source;
    std::string node;
  };

  // The loop, the clock, the root and the settings must outlive this object.
  Publisher(event::Loop& loop, const Clock& clock, const Root& root, const Settings& settings, Subject subject,
            Bus::Handlers handlers);
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Begins to watch the kubelet and to serve the metrics, as far as the settings ask for that.
  void Begin();

  // Publishes everything.  `held` is a sentence about the change that waits until the machine may be changed; empty if
  // none waits.
  void Publish(const State& state, const std::optional<Goal>& current, const std::string& held);
  // Publishes the progress of the current activity on the bus alone, so it causes no write to a disk.
  void PublishProgress(const std::string& doing);
  void PublishFacts(const HostFacts& facts);

  // These take effect with the next call of Publish().
  void SetActivity(std::string_view doing, std::string_view next);
  void SetDoing(std::string doing) { status_.doing = std::move(doing); }
  void SetNext(std::string next) { status_.next = std::move(next); }
  void SetState(host::AgentState state, const std::string& reason);
  // Returns whether SetState() was last called with this reason.
  bool HasReason(const std::string& reason) const;
  // Takes the findings of a look, and writes them to the file at once.
  void SetFindings(const Survey& survey);
  // Forgets the number of findings.  The file keeps the findings of the last look.
  void ClearFindings() { status_.findings = 0; }
  // Returns false if the warnings are the same as before.
  bool SetWarnings(Warnings::Origin origin, std::vector<std::string> texts);
  void SetUpdate(const std::string& config) { metrics_.update = Metrics::Update{config, "", clock_.Wall()}; }
  void SetFailedUpdate(const std::string& why);
  void CountFailedOsChange() { ++metrics_.pivot_errors; }
  void ClearFailedOsChanges() { metrics_.pivot_errors = 0; }
  void CountFailedReboot() { ++metrics_.reboots_failed; }

 private:
  void WatchKubelet();
  void ServeMetrics();
  void PublishOnBus();
  void PublishMetrics();
  void WriteFindings(const std::string& text);

  event::Loop& loop_;
  const Clock& clock_;
  const Root& root_;
  const Settings& settings_;
  host::AgentStatus status_;
  std::string held_;
  Metrics metrics_;
  Warnings warnings_;
  std::string findings_text_;  // The text that was written last.
  Bus bus_;
  std::unique_ptr<KubeletWatch> kubelet_;
  std::unique_ptr<MetricsListener> metrics_listener_;
};

}  // namespace pintle::agent
