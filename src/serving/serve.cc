// SPDX-License-Identifier: Apache-2.0
#include "serving/serve.h"

#include <fmt/core.h>
#include <signal.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/command_line.h"
#include "base/log.h"
#include "base/output.h"
#include "event/loop.h"
#include "event/notify.h"
#include "event/watches.h"
#include "machineconfig/input.h"
#include "serving/events.h"
#include "serving/ignition_service.h"
#include "serving/served_bootstrap.h"
#include "serving/served_folder.h"
#include "serving/serving_options.h"

namespace pintle::serving {
namespace {

constexpr auto kServeOptions = WithServingOptions(
    std::to_array<Option>({
        {"--from", "DIR", "the folder with pool.yaml, mc.yaml, controllerconfig.yaml and kubeconfig"},
        {"--bootstrap", "DIR", "the folder that the verb bootstrap has written, in place of --from"},
        {"--bootstrap-kubeconfig", "FILE",
         "the kubeconfig for new machines, with --bootstrap [/etc/kubernetes/kubeconfig]"},
        {"--bootstrap-certs", "HOST=FILE",
         "the authorities of a registry, with --bootstrap; may be given more than once"},
        {"--listen", "ADDRESS:PORT", "where to serve over TLS"},
        {"--tls-cert", "FILE", "the certificate with its chain, PEM; read again when it changes"},
        {"--tls-key", "FILE", "the certificate's key; it must not be readable by everyone"},
        {"--listen-http", "ADDRESS:PORT", "where to serve without TLS: at a loopback address only"},
    }),
    std::to_array<Option>({{"--help", "", "print this help"}}));

constexpr const char* kUsualKubeconfig = "/etc/kubernetes/kubeconfig";

// Returns an error about the command line.
Error Misused(std::string message) { return Error(ErrorKind::kInvalid, std::move(message) + " (see --help)"); }

// Returns the address in an option, or nullopt without the option.
Result<std::optional<net::ListenAddress>> ListenOption(const CommandLine& line, std::string_view option) {
  const auto text = line.Value(option);
  if (!text) return std::optional<net::ListenAddress>();
  return std::optional(TRY(net::ParseListenAddress(*text), option));
}

Result<> CheckFolders(const CommandLine& line) {
  const bool is_bootstrap = line.Has("--bootstrap");
  if (is_bootstrap && line.Has("--from")) return Misused("--from and --bootstrap exclude each other: give one of them");
  if (!is_bootstrap && !line.Has("--from")) return Misused("--from or --bootstrap is needed");
  for (const char* option : {"--bootstrap-kubeconfig", "--bootstrap-certs"}) {
    if (!is_bootstrap && line.Has(option)) return Misused(fmt::format("{} needs --bootstrap", option));
  }
  return {};
}

Result<IgnitionSettings> ReadSettings(const CommandLine& line) {
  TRY(CheckFolders(line));
  if (!line.operands().empty()) return Misused(fmt::format("unexpected argument \"{}\"", line.operands()[0]));
  IgnitionSettings settings;
  settings.secure = TRY(ListenOption(line, "--listen"));
  settings.plain = TRY(ListenOption(line, "--listen-http"));
  if (!settings.secure && !settings.plain) return Misused("--listen or --listen-http is needed");
  settings.certificate_file = line.Value("--tls-cert").value_or("");
  settings.key_file = line.Value("--tls-key").value_or("");
  if (settings.secure && (settings.certificate_file.empty() || settings.key_file.empty())) {
    return Misused("with --listen, --tls-cert and --tls-key are needed");
  }
  TRY(ReadServingOptions(line, settings));
  const bool are_rules_given = line.Has("--tls-min-version") || line.Has("--tls-cipher-suites");
  if (const auto bootstrap = line.Value("--bootstrap"); bootstrap && settings.secure && !are_rules_given) {
    settings.tls = TRY(TlsRulesIn(*bootstrap));
  }
  return settings;
}

Result<ServedPools> PoolsFor(const CommandLine& line, const std::shared_ptr<event::TextCache>& cache) {
  const auto bootstrap = line.Value("--bootstrap");
  if (!bootstrap) return ReadServedFolder(*line.Value("--from"), cache);
  BootstrapFolder folder{.directory = *bootstrap,
                         .kubeconfig_file = line.Value("--bootstrap-kubeconfig").value_or(kUsualKubeconfig)};
  for (const std::string& text : line.Values("--bootstrap-certs")) {
    folder.registries.push_back(TRY(ParseRegistryFile(text), "--bootstrap-certs " + text));
  }
  return ServeBootstrap(std::move(folder), cache);
}

// Reads all files again.  If the folder cannot be read, nothing changes.  If the certificate or the keys cannot be
// read, the earlier ones stay in use, and everything else is replaced.
Result<> ReadAgain(const CommandLine& line, const std::shared_ptr<event::TextCache>& cache, IgnitionService& service) {
  service.Serve(TRY(PoolsFor(line, cache)));
  service.ReadFilesAgain();
  return {};
}

Result<> ServeUntilStopped(const CommandLine& line, const IgnitionSettings& settings) {
  const auto loop = TRY(event::Loop::Create());
  const auto stop = [&](int) { loop->Stop(); };
  const auto on_term = TRY(event::SignalWatch::Create(*loop, SIGTERM, stop));
  const auto on_interrupt = TRY(event::SignalWatch::Create(*loop, SIGINT, stop));
  const auto cache = MakeServedTextCache();
  const auto service = TRY(IgnitionService::Begin(*loop, settings, TRY(PoolsFor(line, cache))));
  const auto on_hangup = TRY(event::SignalWatch::Create(*loop, SIGHUP, [&](int) {
    const auto outcome = ReadAgain(line, cache, *service);
    if (!outcome) return log::Error("Nothing was changed: " + outcome.error().message(), kTrouble);
    log::Info("All files were read again");
  }));
  for (const std::string& address : service->Addresses()) log::Info("Serving at " + address);
  TRY(event::NotifyReady());
  TRY(loop->Run());
  return event::NotifyStopping();
}

}  // namespace

ExitStatus Serve(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(kServeOptions, arguments);
  if (line && line->Has("--help")) {
    Print(fmt::format(
        "Usage: pintle-controller serve --from DIR --listen ADDRESS:PORT --tls-cert FILE --tls-key FILE\n"
        "       pintle-controller serve --from DIR --listen-http 127.0.0.1:PORT\n"
        "       pintle-controller serve --bootstrap DIR --listen ADDRESS:PORT --tls-cert FILE --tls-key FILE\n\n{}",
        Describe(kServeOptions)));
    return ExitStatus::kSuccess;
  }
  event::BlockSignals({SIGTERM, SIGINT, SIGHUP});
  const auto settings = [&]() -> Result<IgnitionSettings> {
    if (!line) return line.error();
    return ReadSettings(*line);
  }();
  if (!settings) {
    PrintToStderr(fmt::format("pintle-controller serve: {}\n", settings.error().message()));
    return ExitStatus::kFailure;
  }
  const auto outcome = ServeUntilStopped(*line, *settings);
  if (outcome) return ExitStatus::kSuccess;
  log::Error(outcome.error().message(), kTrouble);
  return ExitStatus::kFailure;
}

}  // namespace pintle::serving
