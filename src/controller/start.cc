// SPDX-License-Identifier: Apache-2.0
#include "controller/start.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/log.h"
#include "base/version.h"
#include "controller/certificate_secret.h"
#include "controller/controller.h"
#include "controller/events.h"
#include "controller/ignition_feed.h"
#include "controller/metrics_page.h"
#include "controller/start_options.h"
#include "event/loop.h"
#include "event/notify.h"
#include "event/watches.h"
#include "kube/client.h"
#include "serving/events.h"
#include "serving/ignition_service.h"
#include "serving/tls_files.h"

namespace pintle::controller {
namespace {

// At the end, the program waits no longer than this until the lease is released.
constexpr auto kPatienceAtTheEnd = std::chrono::seconds(5);
// The token for new machines' kubeconfig is renewed from time to time, so it is read again.
constexpr auto kFeedAgain = std::chrono::seconds(30);

// Returns an identity that differs from that of the previous start: a restarted container has the host name of the one
// before.  By its beginning, people and `takeover` recognize who holds a lease.
std::string Identity() {
  char host_name[HOST_NAME_MAX + 1] = {};
  ::gethostname(host_name, HOST_NAME_MAX);
  std::random_device random;
  return fmt::format("{}{}_{:08x}{:08x}", kIdentityPrefix, host_name, random(), random());
}

// The Ignition server and its feed.
class Ignition {
 public:
  static Result<std::unique_ptr<Ignition>> Begin(event::Loop& loop, const kube::Client& client,
                                                 const Controller& controller, IgnitionOptions options) {
    auto service = TRY(serving::IgnitionService::Begin(loop, options.service, {}));
    for (const std::string& address : service->Addresses()) log::Info("Serving Ignition at " + address);
    return std::unique_ptr<Ignition>(new Ignition(loop, client, controller, std::move(options), std::move(service)));
  }

  void Look() {
    later_.After(kFeedAgain);
    feed_.Look();
  }

  // `counted` is called now and then, because the counts and the certificate change without a change of the cluster.
  void OnCount(std::function<void()> counted) { counted_ = std::move(counted); }

  void AddTo(Metrics& metrics) const {
    const serving::IgnitionCounts counts = service_->Counts();
    for (const serving::RequestCount& one : counts.requests) {
      metrics.ignition_answers.push_back(
          {.pool = one.pool, .version = std::string(one.version), .code = one.status, .count = one.count});
    }
    for (const auto& [pool, count] : counts.open_hits) metrics.open_ignition_answers += count;
    if (const auto expiry = service_->CertificateExpiry()) metrics.certificate_expiries[kServedCertificate] = *expiry;
  }

 private:
  Ignition(event::Loop& loop, const kube::Client& client, const Controller& controller, IgnitionOptions options,
           std::unique_ptr<serving::IgnitionService> service)
      : service_(std::move(service)),
        later_(loop,
               [this] {
                 Look();
                 counted_();
               }),
        feed_(client, controller.cluster(), std::move(options.feed),
              {.serve = [this](serving::ServedPools pools) { service_->Serve(std::move(pools)); },
               .trouble = [](const Error& error) { log::Warning("serving Ignition: " + error.message(), kTrouble); }}) {
    if (options.certificate_secret.name.empty()) return;
    certificate_ = std::make_unique<CertificateSecret>(
        client, CertificateSecret::Settings{.secret = options.certificate_secret, .rules = options.service.tls},
        CertificateSecret::Listener{
            .use =
                [this](serving::TlsFiles::Identity identity) { return service_->UseCertificate(std::move(identity)); },
            .trouble =
                [](const Error& error) {
                  log::Warning("The Ignition server cannot use a new certificate: " + error.message(),
                               serving::kCertificateTrouble);
                }});
  }

  std::unique_ptr<serving::IgnitionService> service_;
  std::function<void()> counted_ = [] {};
  event::Timer later_;
  IgnitionFeed feed_;
  std::unique_ptr<CertificateSecret> certificate_;  // Exists if the certificate is in a Secret.
};

Result<> RunController(StartOptions options) {
  const auto loop = TRY(event::Loop::Create());
  const SystemClock clock;
  auto client = TRY(
      kube::Client::Create(*loop, TRY(AccessTo(options.kubeconfig)), {.field_manager = "machine-config-controller"}));
  options.controller.identity = Identity();
  Controller controller(*loop, client, clock, std::move(options.controller));

  std::unique_ptr<Ignition> ignition;
  if (options.ignition) ignition = TRY(Ignition::Begin(*loop, client, controller, *std::move(options.ignition)));
  std::unique_ptr<MetricsPage> metrics;
  const auto page = [&]() -> Page {
    Metrics figures = controller.CurrentMetrics();
    if (ignition) ignition->AddTo(figures);
    return {.metrics = std::make_shared<const std::string>(MetricsText(figures)),
            .unread = fmt::format("{}", fmt::join(controller.cluster().UnreadKinds(), ", "))};
  };
  if (options.metrics) metrics = TRY(MetricsPage::Begin(*loop, *options.metrics, page));
  controller.OnChange([&] {
    if (ignition) ignition->Look();
    if (metrics) metrics->Changed();
  });
  if (ignition && metrics) ignition->OnCount([&] { metrics->Changed(); });

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
  fmt::print(stderr, "pintle-controller: start: {}\n", error.message());
  return ExitStatus::kWrong;
}

}  // namespace

ExitStatus Start(const std::vector<std::string_view>& words) {
  const auto line = CommandLine::Parse(KnownStartOptions(), words);
  if (!line) return WrongUsage(line.error());
  if (line->Has("--help")) {
    fmt::print("Usage: pintle-controller start [OPTION...]\n\n{}", Describe(KnownStartOptions()));
    return ExitStatus::kFine;
  }
  event::BlockSignals({SIGTERM, SIGINT});
  auto options = ReadStartOptions(*line);
  if (!options) return WrongUsage(options.error());
  // The threads share one heap, since the free memory of each arena would add up.
  ::mallopt(M_ARENA_MAX, 1);
  log::Info(fmt::format("pintle-controller {} starts", kVersion));
  if (options->controller.templates.empty()) {
    log::Info("No MachineConfigs are generated from KubeletConfigs, mirrors and the like, as there is no --templates");
  }
  const auto outcome = RunController(*std::move(options));
  if (outcome) return ExitStatus::kFine;
  log::Error(outcome.error().message(), kTrouble);
  return ExitStatus::kWrong;
}

}  // namespace pintle::controller
