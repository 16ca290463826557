// SPDX-License-Identifier: Apache-2.0

// The node agent, `pintled`.

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/events.h"
#include "agent/handover.h"
#include "agent/kubernetes_source.h"
#include "agent/local_rollout.h"
#include "agent/local_source.h"
#include "agent/settings.h"
#include "agent/state.h"
#include "api/annotations.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/version.h"
#include "event/loop.h"
#include "event/notify.h"
#include "event/watches.h"
#include "host/pause.h"
#include "host/this_machine.h"

namespace pintle::agent {
namespace {

Result<std::string> NodeName(const Settings& settings) {
  if (!settings.node_name.empty()) return settings.node_name;
  char host_name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(host_name, HOST_NAME_MAX) != 0) return Error::FromErrno("gethostname");
  return InLowerCase(host_name);
}

Result<host::AgentSource> SourceKindFor(const Settings& settings, const Root& root) {
  if (settings.source == SourceChoice::kKubernetes) return host::AgentSource::kKubernetes;
  if (settings.source == SourceChoice::kLocal) return host::AgentSource::kLocal;
  // An agent that waits for a handover belongs to a cluster, even if the kubeconfig does not exist yet.
  if (settings.wait_for_handover) return host::AgentSource::kKubernetes;
  return TRY(root.Status(settings.kubeconfig)) ? host::AgentSource::kKubernetes : host::AgentSource::kLocal;
}

Result<std::unique_ptr<Source>> SourceFor(host::AgentSource kind, event::Loop& loop, const Root& root,
                                          const Clock& clock, const std::string& node, const Settings& settings) {
  if (kind == host::AgentSource::kLocal) {
    return TRY(LocalSource::Create(
        loop, root, clock,
        {.directory = settings.config_directory, .policy_file = settings.policy_file, .rollout_file = kRolloutFile}));
  }
  return std::make_unique<KubernetesSource>(loop, root, clock,
                                            KubernetesSettings{.node = node,
                                                               .kubeconfig = settings.kubeconfig,
                                                               .event_namespace = settings.event_namespace,
                                                               .drain_timeout = settings.drain_timeout});
}

// Returns the handler of the order to pause or resume.  `put_file` writes or removes the pause file, which the source
// watches.
std::function<Result<>()> PauseOrderHandler(host::AgentSource kind, const host::ThisMachine& machine,
                                            Result<> put_file(const Root& root)) {
  if (kind == host::AgentSource::kLocal) return [&machine, put_file] { return put_file(machine.root()); };
  return
      []() -> Result<> { return Error(ErrorKind::kInvalid, "a pool of a cluster is paused in its MachineConfigPool"); };
}

// Runs the loop until the node is handed over to this agent, or until a signal comes.
Result<> StandBy(event::Loop& loop, const std::string& node) {
  const std::string status =
      fmt::format("stands by until the Node {} has the label {}={}", node, api::kAgentLabel, api::kAgentActs);
  log::Info(fmt::format("This agent {}", status));
  // SIGHUP is ignored, since there is nothing to look at yet.  Without a handler, it would stay pending until the agent
  // acts.
  const auto on_hangup = TRY(event::SignalWatch::Create(loop, SIGHUP, [](int) {}));
  TRY(event::NotifyStatus(status));
  TRY(event::NotifyReady());
  TRY(loop.Run());
  return event::NotifyStatus("");
}

Result<> Run() {
  event::BlockSignals({SIGTERM, SIGINT, SIGHUP});
  if (::geteuid() != 0) return Error(ErrorKind::kInvalid, "only root may change a machine; run it as root");
  const auto loop = TRY(event::Loop::Create());
  const auto stop = [&](int) { loop->Stop(); };
  const auto on_term = TRY(event::SignalWatch::Create(*loop, SIGTERM, stop));
  const auto on_interrupt = TRY(event::SignalWatch::Create(*loop, SIGINT, stop));
  TRY(loop->FeedWatchdog());

  const SystemClock clock;
  const std::shared_ptr<const host::ThisMachine> machine = TRY(host::ThisMachine::Open());
  Settings settings = TRY(ReadSettings(machine->root()));
  const std::string node = TRY(NodeName(settings));
  const host::AgentSource kind = TRY(SourceKindFor(settings, machine->root()));

  std::unique_ptr<Handover> handover;
  if (settings.wait_for_handover && kind == host::AgentSource::kKubernetes) {
    handover = TRY(Handover::Begin(*loop, machine->root(), node, settings.kubeconfig, [&loop] { loop->Stop(); }));
    if (!handover->is_active()) TRY(StandBy(*loop, node));
    // If the node is still not handed over, StandBy() has returned because of a signal.
    if (!handover->is_active()) return event::NotifyStopping();
  }

  auto source = TRY(SourceFor(kind, *loop, machine->root(), clock, node, settings));
  const auto agent = TRY(Agent::Create({.loop = *loop,
                                        .clock = clock,
                                        .machine = machine,
                                        .settings = std::move(settings),
                                        .kind = kind,
                                        .node = node,
                                        .source = std::move(source),
                                        .pause = PauseOrderHandler(kind, *machine, host::Pause),
                                        .resume = PauseOrderHandler(kind, *machine, host::Resume),
                                        .entered = [&handover](const Phase& phase) {
                                          if (handover) handover->AgentEntered(phase);
                                        }}));
  const auto on_hangup = TRY(event::SignalWatch::Create(*loop, SIGHUP, [&](int) { agent->Check(); }));
  agent->Begin();
  log::Info(fmt::format("Starting to manage node: {}", node));
  TRY(event::NotifyReady());
  TRY(loop->Run());
  // The job that is under way may take some time to end.  If the node was given back, systemd starts the agent again,
  // which then stands by.
  return event::NotifyStopping();
}

ExitStatus Main(const std::vector<std::string_view>& arguments) {
  if (arguments.size() == 1 && arguments[0] == "--version") {
    std::puts(fmt::format("pintled {}", kVersion).c_str());
    return ExitStatus::kSuccess;
  }
  if (arguments.size() == 1 && arguments[0] == "--help") {
    std::puts(
        "pintled: applies the config of its cluster, or of /etc/pintle/config.d, to this node; see pintled.service(8)");
    return ExitStatus::kSuccess;
  }
  if (!arguments.empty()) {
    std::fputs("pintled: the only arguments are --version and --help; pintled.conf(5) describes the settings\n",
               stderr);
    return ExitStatus::kFailure;
  }
  const auto outcome = Run();
  if (outcome) return ExitStatus::kSuccess;
  log::Error(outcome.error().message(), kTrouble);
  return ExitStatus::kFailure;
}

}  // namespace
}  // namespace pintle::agent

int main(int argc, char** argv) {
  // With the signal ignored, a write beyond the limit on the size of files fails with EFBIG.
  ::signal(SIGXFSZ, SIG_IGN);
  pintle::KeepHeapSmall();
  return static_cast<int>(pintle::agent::Main({argv + 1, argv + argc}));
}
