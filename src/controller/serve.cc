// SPDX-License-Identifier: Apache-2.0
#include "controller/serve.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/command_line.h"
#include "base/log.h"
#include "controller/events.h"
#include "controller/ignition_service.h"
#include "controller/served_folder.h"
#include "event/loop.h"
#include "event/notify.h"
#include "event/watches.h"
#include "machineconfig/input.h"

namespace pintle::controller {
namespace {

constexpr double kBurstSeconds = kUsualRate.burst / kUsualRate.per_second;

constexpr std::array kOptions = {
    Option{"--from", "DIR", "the folder with pool.yaml, mc.yaml, controllerconfig.yaml and kubeconfig"},
    Option{"--listen", "ADDRESS:PORT", "where to serve over TLS"},
    Option{"--tls-cert", "FILE", "the certificate with its chain, PEM; read again when it changes"},
    Option{"--tls-key", "FILE", "the key that belongs to it"},
    Option{"--tls-min-version", "VERSION", "VersionTLS12 (the default) or VersionTLS13"},
    Option{"--tls-cipher-suites", "LIST", "for TLS 1.2, with commas between them"},
    Option{"--listen-http", "ADDRESS:PORT", "where to serve without TLS: at a loopback address only"},
    Option{"--access", "MODE", "open (the default), grace or required: whether a token is needed"},
    Option{"--token-keys", "FILE", "the keys that tokens are signed with"},
    Option{"--rate", "NUMBER", "of requests a second from one address; 0: any (the default: 200)"},
    Option{"--threads", "NUMBER", "that answer requests (the default: 2)"},
    Option{"--help", "", "show this"},
};

Error Misused(std::string message) { return Error(ErrorKind::kInvalid, std::move(message) + " (see --help)"); }

Result<int> Number(const CommandLine& line, std::string_view option, int least, int usual) {
  const auto text = line.Value(option);
  if (!text) return usual;
  int number = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failed != std::errc() || end != text->data() + text->size() || number < least || number > 1'000'000) {
    return Misused(fmt::format("{}: \"{}\" is no number from {} on", option, *text, least));
  }
  return number;
}

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start < list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    if (end > start) parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

Result<std::optional<net::ListenAddress>> Listen(const CommandLine& line, std::string_view option) {
  const auto text = line.Value(option);
  if (!text) return std::optional<net::ListenAddress>();
  return std::optional(TRY(net::ParseListenAddress(*text), option));
}

Result<IgnitionSettings> ReadSettings(const CommandLine& line) {
  if (!line.words().empty()) return Misused(fmt::format("\"{}\" is one word too many", line.words()[0]));
  IgnitionSettings settings;
  settings.secure = TRY(Listen(line, "--listen"));
  settings.plain = TRY(Listen(line, "--listen-http"));
  if (!settings.secure && !settings.plain) return Misused("--listen or --listen-http is needed");
  settings.certificate_file = line.Value("--tls-cert").value_or("");
  settings.key_file = line.Value("--tls-key").value_or("");
  if (settings.secure && (settings.certificate_file.empty() || settings.key_file.empty())) {
    return Misused("with --listen, --tls-cert and --tls-key are needed");
  }
  if (const auto version = line.Value("--tls-min-version")) {
    settings.tls.oldest = TRY(net::ParseTlsVersion(*version), "--tls-min-version");
  }
  settings.tls.ciphers = Split(line.Value("--tls-cipher-suites").value_or(""));
  settings.threads = TRY(Number(line, "--threads", 1, settings.threads));
  const double rate = TRY(Number(line, "--rate", 0, static_cast<int>(kUsualRate.per_second)));
  settings.rate = {.per_second = rate, .burst = rate * kBurstSeconds};
  settings.access = TRY(ParseAccessMode(line.Value("--access").value_or("open")), "--access");
  settings.token_keys_file = line.Value("--token-keys").value_or("");
  if (settings.access != AccessMode::kOpen && settings.token_keys_file.empty()) {
    return Misused("with --access grace or required, --token-keys is needed");
  }
  return settings;
}

// Reads everything again; what cannot be read leaves things as they were.
Result<> ReadAgain(const CommandLine& line, IgnitionService& service) {
  service.Serve(TRY(ReadServedFolder(*line.Value("--from"))));
  service.LookAtFiles();
  return {};
}

Result<> Run(const CommandLine& line, const IgnitionSettings& settings) {
  const auto loop = TRY(event::Loop::Create());
  const auto stop = [&](int) { loop->Stop(); };
  const auto on_term = TRY(event::SignalWatch::Create(*loop, SIGTERM, stop));
  const auto on_interrupt = TRY(event::SignalWatch::Create(*loop, SIGINT, stop));
  const auto service = TRY(IgnitionService::Begin(*loop, settings, TRY(ReadServedFolder(*line.Value("--from")))));
  const auto on_hangup = TRY(event::SignalWatch::Create(*loop, SIGHUP, [&](int) {
    const auto outcome = ReadAgain(line, *service);
    if (!outcome) return log::Error("Nothing was changed: " + outcome.error().message(), kTrouble);
    log::Info("All was read again");
  }));
  for (const std::string& address : service->Addresses()) log::Info("Serving at " + address);
  TRY(event::NotifyReady());
  TRY(loop->Run());
  return event::NotifyStopping();
}

}  // namespace

ExitStatus Serve(const std::vector<std::string_view>& words) {
  const auto line = CommandLine::Parse(kOptions, words);
  if (line && line->Has("--help")) {
    fmt::print(
        "usage: pintle-controller serve --from DIR --listen ADDRESS:PORT --tls-cert FILE --tls-key FILE\n"
        "       pintle-controller serve --from DIR --listen-http 127.0.0.1:PORT\n\n{}",
        Describe(kOptions));
    return ExitStatus::kFine;
  }
  const auto settings = [&]() -> Result<IgnitionSettings> {
    if (!line) return line.error();
    TRY(line->Needed("--from"));
    return ReadSettings(*line);
  }();
  if (!settings) {
    fmt::print(stderr, "pintle-controller serve: {}\n", settings.error().message());
    return ExitStatus::kWrong;
  }
  const auto outcome = Run(*line, *settings);
  if (outcome) return ExitStatus::kFine;
  log::Error(outcome.error().message(), kTrouble);
  return ExitStatus::kWrong;
}

}  // namespace pintle::controller
