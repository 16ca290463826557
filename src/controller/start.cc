// SPDX-License-Identifier: Apache-2.0
#include "controller/start.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/version.h"
#include "controller/cluster_ignition.h"
#include "controller/cluster_page.h"
#include "controller/controller.h"
#include "controller/events.h"
#include "controller/metrics_page.h"
#include "controller/start_options.h"
#include "event/loop.h"
#include "event/notify.h"
#include "event/watches.h"
#include "kube/client.h"

namespace pintle::controller {
namespace {

// Before the program ends, it waits at most this long for the release of the leases.
constexpr auto kPatienceAtTheEnd = std::chrono::seconds(5);

// Returns an identity for the leases.  It differs at each start, although a restarted container has the same host name
// as before.  People and `takeover` recognize a lease that Pintle holds by the beginning of the identity.
std::string Identity() {
  char host_name[HOST_NAME_MAX + 1] = {};
  ::gethostname(host_name, HOST_NAME_MAX);
  std::random_device random;
  return fmt::format("{}{}_{:08x}{:08x}", kIdentityPrefix, host_name, random(), random());
}

PageGuard::Review ReviewBy(std::shared_ptr<kube::Transport> transport) {
  return [transport = std::move(transport)](std::string token, std::function<void(Result<kube::ReviewResult>)> done) {
    return kube::ReviewVisitor(transport, {.token = std::move(token), .path = kPageRightPath, .verb = kPageRightVerb},
                               std::move(done));
  };
}

Result<> RunController(StartOptions options) {
  const auto loop = TRY(event::Loop::Create());
  const SystemClock clock;
  auto client = TRY(
      kube::Client::Create(*loop, TRY(AccessTo(options.kubeconfig)), {.field_manager = "machine-config-controller"}));
  options.controller.identity = Identity();
  Controller controller(*loop, client, clock, std::move(options.controller));

  std::unique_ptr<ClusterIgnition> ignition;
  if (options.ignition) {
    ignition = TRY(ClusterIgnition::Begin(*loop, client, controller.cluster(), *std::move(options.ignition)));
  }
  std::unique_ptr<MetricsPage> metrics;
  const auto page = [&]() -> MetricsPageContents {
    Metrics current = controller.CurrentMetrics();
    if (ignition) ignition->AddTo(current);
    return {.metrics = std::make_shared<const std::string>(MetricsText(current)),
            .unread_kinds = fmt::format("{}", fmt::join(controller.cluster().UnreadKinds(), ", ")),
            .why_not_ready = ignition ? ignition->WhyUnready() : ""};
  };
  if (options.metrics.all || options.metrics.probes) {
    metrics = TRY(MetricsPage::Begin(*loop, options.metrics, page));
  }
  std::unique_ptr<ClusterPage> cluster_page;
  if (options.page.IsServed()) {
    cluster_page =
        TRY(ClusterPage::Begin(*loop, clock, controller.cluster(), options.page, ReviewBy(client.transport())));
  }
  controller.OnChange([&] {
    if (ignition) ignition->Look();
    if (metrics) metrics->RenewSoon();
    if (cluster_page) cluster_page->RenewSoon();
  });
  if (ignition && metrics) ignition->OnCount([&] { metrics->RenewSoon(); });

  event::Timer give_up(*loop, [&] { loop->Stop(); });
  const auto stop = [&](int) {
    give_up.After(kPatienceAtTheEnd);
    controller.Release([&] { loop->Stop(); });
  };
  const auto on_term = TRY(event::SignalWatch::Create(*loop, SIGTERM, stop));
  const auto on_interrupt = TRY(event::SignalWatch::Create(*loop, SIGINT, stop));
  TRY(loop->FeedWatchdog());
  TRY(event::NotifyReady());
  return loop->Run();
}

ExitStatus WrongUsage(const Error& error) {
  PrintToStderr(fmt::format("pintle-controller start: {}\n", error.message()));
  return ExitStatus::kFailure;
}

}  // namespace

ExitStatus Start(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(KnownStartOptions(), arguments);
  if (!line) return WrongUsage(line.error());
  if (line->Has("--help")) {
    Print(fmt::format("Usage: pintle-controller start [OPTION...]\n\n{}", Describe(KnownStartOptions())));
    return ExitStatus::kSuccess;
  }
  event::BlockSignals({SIGTERM, SIGINT});
  auto options = ReadStartOptions(*line);
  if (!options) return WrongUsage(options.error());
  KeepHeapSmall();
  log::Info(fmt::format("pintle-controller {} starts", kVersion));
  if (options->controller.templates.empty()) {
    log::Info(
        "No MachineConfigs are generated from KubeletConfigs, mirrors and the like, because --templates is not given");
  }
  const auto outcome = RunController(*std::move(options));
  if (outcome) return ExitStatus::kSuccess;
  log::Error(outcome.error().message(), kTrouble);
  return ExitStatus::kFailure;
}

}  // namespace pintle::controller
