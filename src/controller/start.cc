// SPDX-License-Identifier: Apache-2.0
#include "controller/start.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/log.h"
#include "base/version.h"
#include "controller/certificate_secret.h"
#include "controller/cluster_page.h"
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

// At the end, the program waits at most this long for the release of the lease.
constexpr auto kPatienceAtTheEnd = std::chrono::seconds(5);
// The token for new machines' kubeconfig is renewed from time to time, so it is read again.
constexpr auto kFeedAgain = std::chrono::seconds(30);
// While another program listens at the address of the Ignition server, the address is tried again after this time.  So
// when that program ends, new machines are without a server for this long at most.
constexpr auto kAddressAgain = std::chrono::seconds(1);

// Returns an identity that differs from that of the previous start: a restarted container has the host name of the one
// before.  People and `takeover` recognize a lease that Pintle holds by the beginning of the identity.
std::string Identity() {
  char host_name[HOST_NAME_MAX + 1] = {};
  ::gethostname(host_name, HOST_NAME_MAX);
  std::random_device random;
  return fmt::format("{}{}_{:08x}{:08x}", kIdentityPrefix, host_name, random(), random());
}

// The Ignition server and its feed.
//
// Another program may listen at the server's address: before a takeover, the Machine Config Operator's server does.
// The replica then does everything else, and serves as soon as the address is free.
class Ignition {
 public:
  static Result<std::unique_ptr<Ignition>> Begin(event::Loop& loop, const kube::Client& client,
                                                 const Controller& controller, IgnitionOptions options) {
    std::unique_ptr<Ignition> ignition(new Ignition(loop, client, controller, std::move(options)));
    const auto opened = ignition->Open();
    if (!opened && opened.error().errno_value() != EADDRINUSE) return opened.error();
    if (!opened) ignition->Await(opened.error());
    return ignition;
  }

  void Look() {
    if (!service_) return;
    later_.After(kFeedAgain);
    feed_->Look();
  }

  // `counted` is called now and then, because the counts and the certificate change without a change of the cluster.
  void OnCount(std::function<void()> counted) { counted_ = std::move(counted); }

  void AddTo(Metrics& metrics) const {
    if (!service_) return;
    const serving::IgnitionCounts counts = service_->Counts();
    for (const serving::RequestCount& one : counts.requests) {
      metrics.ignition_answers.push_back(
          {.pool = one.pool, .version = std::string(one.version), .code = one.status, .count = one.count});
    }
    for (const auto& [pool, count] : counts.served_without_token) metrics.open_ignition_answers += count;
    const auto expiry = certificate_ ? certificate_->expiry() : service_->CertificateExpiry();
    if (expiry) metrics.certificate_expiries[kServedCertificate] = *expiry;
  }

 private:
  Ignition(event::Loop& loop, kube::Client client, const Controller& controller, IgnitionOptions options)
      : loop_(loop),
        client_(std::move(client)),
        controller_(controller),
        options_(std::move(options)),
        later_(loop,
               [this] {
                 Look();
                 counted_();
               }),
        open_again_(loop, [this] { OpenAgain(); }) {}

  Result<> Open() {
    service_ = TRY(serving::IgnitionService::Begin(loop_, options_.service, {}));
    for (const std::string& address : service_->Addresses()) log::Info("Serving Ignition at " + address);
    feed_.emplace(
        client_, controller_.cluster(), options_.feed,
        IgnitionFeed::Listener{
            .serve = [this](serving::ServedPools pools) { service_->Serve(std::move(pools)); },
            .trouble = [](const Error& error) { log::Warning("serving Ignition: " + error.message(), kTrouble); }});
    if (options_.certificate_secret.name.empty()) return {};
    certificate_ = std::make_unique<CertificateSecret>(
        client_, CertificateSecret::Settings{.secret = options_.certificate_secret, .rules = options_.service.tls},
        CertificateSecret::Listener{
            .use =
                [this](serving::TlsFiles::Identity identity) { return service_->UseCertificate(std::move(identity)); },
            .trouble =
                [](const Error& error) {
                  log::Warning("The Ignition server cannot use a new certificate: " + error.message(),
                               serving::kCertificateTrouble);
                }});
    return {};
  }

  void Await(const Error& error) {
    open_again_.After(kAddressAgain);
    if (std::exchange(trouble_, error.message()) == error.message()) return;
    log::Warning(error.message() + "; the Ignition server starts when the address is free", kTrouble);
  }

  void OpenAgain() {
    if (const auto opened = Open(); !opened) return Await(opened.error());
    Look();
  }

  event::Loop& loop_;
  kube::Client client_;
  const Controller& controller_;
  const IgnitionOptions options_;
  std::string trouble_;  // Why the server does not listen yet; it is logged once.
  std::function<void()> counted_ = [] {};
  event::Timer later_;
  event::Timer open_again_;
  std::unique_ptr<serving::IgnitionService> service_;  // Exists once the server listens, as do the next two.
  std::optional<IgnitionFeed> feed_;
  std::unique_ptr<CertificateSecret> certificate_;  // Exists if the certificate is in a Secret.
};

PageGuard::Review ReviewBy(std::shared_ptr<kube::Transport> transport) {
  return [transport = std::move(transport)](std::string token, std::function<void(Result<kube::Admission>)> done) {
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
  std::unique_ptr<ClusterPage> cluster_page;
  if (options.page.IsServed()) {
    cluster_page =
        TRY(ClusterPage::Begin(*loop, clock, controller.cluster(), options.page, ReviewBy(client.transport())));
  }
  controller.OnChange([&] {
    if (ignition) ignition->Look();
    if (metrics) metrics->Changed();
    if (cluster_page) cluster_page->Changed();
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
