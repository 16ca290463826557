// SPDX-License-Identifier: Apache-2.0
#include "controller/start_options.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <initializer_list>
#include <vector>

#include "base/time_span.h"
#include "net/local_address.h"
#include "net/url.h"
#include "serving/serving_options.h"

namespace pintle::controller {
namespace {

constexpr auto kStartOptions = serving::WithServingOptions(
    std::to_array<Option>({
        {"--kubeconfig", "FILE", "the kubeconfig of the cluster; without it, the pod's service account"},
        {"--resourcelock-namespace", "NAMESPACE",
         "the namespace of the lease and the events [openshift-machine-config-operator]"},
        {"--payload-version", "VERSION",
         "render only from a ControllerConfig that this version of the operator has written [any version]"},
        {"--controller-version", "VERSION", "the version that generated configs must have [that of the first config]"},
        {"--templates", "DIR",
         "the operator's templates, from which MachineConfigs are generated [none are generated]"},
        {"--operator", "yes|no",
         "do what the Machine Config Operator itself does: ControllerConfig, ClusterOperator [yes with --templates]"},
        {"--release-version", "VERSION",
         "the release that the ControllerConfig is made for [that of machine-config-operator-images]"},
        {"--feature-gates", "NAME,...", "the gates that are on: ImageModeStatusReporting, OSStreams [none]"},
        {"--keep-rendered", "COUNT", "how many rendered configs that nobody needs are kept for each pool [10]"},
        {"--metrics-listen-address", "ADDRESS:PORT", "where to serve /metrics; empty: nowhere [127.0.0.1:8797]"},
        {"--probe-listen-address", "ADDRESS:PORT", "a further address, for /healthz and /readyz only [none]"},
        {"--page", "ADDRESS:PORT", "where to serve the read-only page, at a loopback address [nowhere]"},
        {"--page-listen", "ADDRESS:PORT", "where to serve the page over TLS to those who have a token [nowhere]"},
        {"--page-cert", "FILE", "the certificate of --page-listen with its chain"},
        {"--page-key", "FILE", "the certificate's key, not readable by everyone"},
        {"--gate-addresses", "remote|all",
         "what gates of RolloutPolicies may ask; remote: neither loopback nor link-local addresses [remote]"},
        {"--notify-url", "URL", "where the leader sends notices about rollouts, nodes and pauses [nowhere]"},
        {"--notify-key-file", "FILE", "the key that signs notices, 32 bytes or more, not readable by everyone"},
        {"--notify-ca-file", "FILE", "the authorities of the receiver of notices [the system's]"},
        {"--notify-source", "URI", "the source in notices, to tell clusters apart [/pintle-controller]"},
        {"--notify-http", "loopback|all", "where notices may be sent without TLS [loopback]"},
        {"--ignition-listen", "ADDRESS:PORT", "where to serve Ignition over TLS, such as :22623 [nowhere]"},
        {"--ignition-health-listen", "ADDRESS:PORT", "where to answer /healthz without TLS, such as :22624 [nowhere]"},
        {"--tls-cert", "FILE", "the Ignition server's certificate with its chain; or --cert [/etc/ssl/mcs/tls.crt]"},
        {"--tls-key", "FILE", "the certificate's key, not readable by everyone; or --key [/etc/ssl/mcs/tls.key]"},
        {"--cert", "FILE", "the same as --tls-cert"},
        {"--key", "FILE", "the same as --tls-key"},
        {"--tls-secret", "NAMESPACE/NAME", "the Secret with tls.crt and tls.key, in place of these files"},
        {"--apiserver-url", "URL", "the API server's URL for new machines [that of the ControllerConfig]"},
        {"--bootstrap-token", "DIR", "the folder with the files token and ca.crt [/etc/mcs/bootstrap-token]"},
        {"--bootstrap-token-secret", "NAMESPACE/NAME", "the Secret with token and ca.crt, in place of the folder"},
    }),
    std::to_array<Option>({
        {"--leader-elect-lease-duration", "TIME", "how long others leave an unrenewed lease alone [137s]"},
        {"--leader-elect-renew-deadline", "TIME", "how long a leader tries to renew its lease [107s]"},
        {"--leader-elect-retry-period", "TIME", "the time between two tries to get or renew the lease [26s]"},
        {"--help", "", "print this help"},
    }));

Result<std::size_t> ReadCount(std::string_view option, const std::string& text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size()) return count;
  return Error(ErrorKind::kInvalid, fmt::format("{} {}: must be a whole number, such as 10", option, text));
}

Result<> ReadTime(const CommandLine& line, std::string_view option, std::chrono::milliseconds& time) {
  const auto text = line.Value(option);
  if (text) time = TRY(ParseTimeSpan(*text), fmt::format("{} {}", option, *text));
  return {};
}

Result<> ReadLeaseTimes(const CommandLine& line, kube::LeaseTimes& times) {
  TRY(ReadTime(line, "--leader-elect-lease-duration", times.duration));
  TRY(ReadTime(line, "--leader-elect-renew-deadline", times.renew_deadline));
  TRY(ReadTime(line, "--leader-elect-retry-period", times.retry));
  if (times.retry < times.renew_deadline && times.renew_deadline < times.duration) return {};
  return Error(ErrorKind::kInvalid,
               "--leader-elect-retry-period must be shorter than --leader-elect-renew-deadline, which must be shorter "
               "than --leader-elect-lease-duration; otherwise two replicas could lead at once");
}

// Reads an option that has another name in the Machine Config Operator's server; both names work.
Result<std::optional<std::string>> ReadEither(const CommandLine& line, std::string_view name, std::string_view other) {
  if (line.Has(name) && line.Has(other)) {
    return Error(ErrorKind::kInvalid, fmt::format("{} and {} are the same option: give only one of them", name, other));
  }
  return line.Has(name) ? line.Value(name) : line.Value(other);
}

// Returns the Secret that the option names, or an empty name if the option is not given.  The Secret takes the place of
// the options `others`, so giving one of them as well is an error.
Result<kube::ObjectName> ReadSecretName(const CommandLine& line, std::string_view option,
                                        std::initializer_list<std::string_view> others) {
  const auto text = line.Value(option);
  if (!text) return kube::ObjectName();
  for (const std::string_view other : others) {
    if (!line.Has(other)) continue;
    return Error(ErrorKind::kInvalid, fmt::format("{} and {} exclude each other: give one of them", option, other));
  }
  const std::size_t slash = text->find('/');
  const bool has_both = slash != std::string::npos && slash > 0 && slash + 1 < text->size();
  if (!has_both || text->find('/', slash + 1) != std::string::npos) {
    return Error(ErrorKind::kInvalid, fmt::format("{} {}: must be the namespace and the name of a Secret, such as "
                                                  "pintle/machine-config-server-tls",
                                                  option, *text));
  }
  return kube::ObjectName{.namespace_name = text->substr(0, slash), .name = text->substr(slash + 1)};
}

Result<net::Peers> ReadGatePeers(const CommandLine& line) {
  const std::string text = line.Value("--gate-addresses").value_or("remote");
  if (text == "remote") return net::Peers::kRemote;
  if (text == "all") return net::Peers::kAll;
  return Error(ErrorKind::kInvalid, fmt::format("--gate-addresses {}: must be remote or all", text));
}

constexpr auto kNotifyOptions =
    std::to_array<std::string_view>({"--notify-key-file", "--notify-ca-file", "--notify-source", "--notify-http"});

// Messages do not contain the URL, since its path may be a secret.
Result<net::Url> ReadNotifyUrl(const CommandLine& line, const std::string& text) {
  net::Url url = TRY(net::Url::Parse(text), "--notify-url");
  const bool may_be_http = line.Value("--notify-http") == "all";
  if (url.is_https() || may_be_http || net::IsLoopbackHost(url.host())) return url;
  return Error(ErrorKind::kInvalid,
               fmt::format("--notify-url: {} is not a loopback address, so others could read the notices; give an "
                           "https URL, or --notify-http=all",
                           url.HostAndPort()));
}

Result<std::string> ReadAbsolutePath(const CommandLine& line, std::string_view option) {
  const std::string path = line.Value(option).value_or("");
  if (path.starts_with('/') || !line.Has(option)) return path;
  return Error(ErrorKind::kInvalid, fmt::format("{} {}: must be an absolute path", option, path));
}

Result<std::optional<WebhookSettings>> ReadWebhook(const CommandLine& line) {
  const auto text = line.Value("--notify-url");
  if (!text) {
    for (const std::string_view option : kNotifyOptions) {
      if (line.Has(option)) return Error(ErrorKind::kInvalid, fmt::format("{} needs --notify-url", option));
    }
    return std::optional<WebhookSettings>();
  }
  if (!line.Has("--notify-key-file")) {
    return Error(ErrorKind::kInvalid, "--notify-url needs --notify-key-file, the key that signs the notices");
  }
  // Within braces, a TRY that returns would leak the members before it.
  net::Url url = TRY(ReadNotifyUrl(line, *text));
  WebhookSettings settings{.url = std::move(url),
                           .key_file = "",
                           .authorities_file = "",
                           .source = line.Value("--notify-source").value_or("/pintle-controller")};
  settings.key_file = TRY(ReadAbsolutePath(line, "--notify-key-file"));
  settings.authorities_file = TRY(ReadAbsolutePath(line, "--notify-ca-file"));
  if (settings.source.empty()) return Error(ErrorKind::kInvalid, "--notify-source must not be empty");
  return std::optional(std::move(settings));
}

Result<ClusterPageSettings> ReadPage(const CommandLine& line) {
  ClusterPageSettings page;
  if (const auto loopback = line.Value("--page")) page.loopback = TRY(net::ParseListenAddress(*loopback), "--page");
  const auto listen = line.Value("--page-listen");
  for (const std::string_view option : {"--page-cert", "--page-key"}) {
    if (listen && line.Value(option).value_or("").empty()) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("--page-listen needs {}, since tokens must not be sent without TLS", option));
    }
    if (!listen && line.Has(option)) return Error(ErrorKind::kInvalid, fmt::format("{} needs --page-listen", option));
  }
  if (!listen) return page;
  const auto address = TRY(net::ParseListenAddress(*listen), "--page-listen");
  page.guarded = GuardedPageSettings{.address = address,
                                     .certificate_file = line.Value("--page-cert").value_or(""),
                                     .key_file = line.Value("--page-key").value_or("")};
  return page;
}

Result<> ReadCertificate(const CommandLine& line, IgnitionOptions& options) {
  options.certificate_secret =
      TRY(ReadSecretName(line, "--tls-secret", {"--tls-cert", "--cert", "--tls-key", "--key"}));
  if (!options.certificate_secret.name.empty()) {
    options.service.certificate_from = serving::CertificateFrom::kCaller;
    return {};
  }
  options.service.certificate_file = TRY(ReadEither(line, "--tls-cert", "--cert")).value_or("/etc/ssl/mcs/tls.crt");
  options.service.key_file = TRY(ReadEither(line, "--tls-key", "--key")).value_or("/etc/ssl/mcs/tls.key");
  return {};
}

Result<std::optional<IgnitionOptions>> ReadIgnition(const CommandLine& line) {
  const auto listen = line.Value("--ignition-listen");
  if (!listen) return std::optional<IgnitionOptions>();
  IgnitionOptions options;
  options.service.secure = TRY(net::ParseListenAddress(*listen), "--ignition-listen");
  if (const auto health = line.Value("--ignition-health-listen")) {
    options.service.health = TRY(net::ParseListenAddress(*health), "--ignition-health-listen");
  }
  TRY(ReadCertificate(line, options));
  TRY(serving::ReadServingOptions(line, options.service));
  options.follows_tls_profile =
      !options.certificate_secret.name.empty() && !line.Has("--tls-min-version") && !line.Has("--tls-cipher-suites");
  options.feed.server = line.Value("--apiserver-url").value_or("");
  options.feed.token_secret = TRY(ReadSecretName(line, "--bootstrap-token-secret", {"--bootstrap-token"}));
  options.feed.token_directory = line.Value("--bootstrap-token").value_or("/etc/mcs/bootstrap-token");
  return std::optional(std::move(options));
}

}  // namespace

std::span<const Option> KnownStartOptions() { return kStartOptions; }

Result<kube::Access> AccessTo(const std::string& kubeconfig) {
  if (!kubeconfig.empty()) return kube::Access::FromKubeconfig(kubeconfig);
  return kube::Access::Fixed(TRY(kube::InCluster(), "without --kubeconfig, as a pod"));
}

Result<std::size_t> ReadKeptConfigs(const CommandLine& line) {
  const auto count = line.Value("--keep-rendered");
  if (!count) return ControllerSettings().kept_configs;
  return ReadCount("--keep-rendered", *count);
}

bool IsOperator(const CommandLine& line) {
  const bool has_templates = !line.Value("--templates").value_or("").empty();
  return line.Value("--operator").value_or(has_templates ? "yes" : "no") == "yes";
}

RenderOptions ReadRenderOptions(const CommandLine& line) {
  return {.versions = {.controller = line.Value("--controller-version").value_or(""),
                       .operator_version = line.Value("--payload-version").value_or("")},
          .release = line.Value("--release-version").value_or(""),
          .features = pool::Features::Named(SplitAtCommas(line.Value("--feature-gates").value_or("")))};
}

Result<StartOptions> ReadStartOptions(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not an option (see --help)", line.operands().front()));
  }
  StartOptions options;
  ControllerSettings& settings = options.controller;
  options.kubeconfig = line.Value("--kubeconfig").value_or("");
  settings.namespace_name = line.Value("--resourcelock-namespace").value_or(settings.namespace_name);
  RenderOptions rendering = ReadRenderOptions(line);
  settings.versions = std::move(rendering.versions);
  settings.release = std::move(rendering.release);
  settings.features = rendering.features;
  settings.templates = line.Value("--templates").value_or("");
  settings.is_operator = IsOperator(line);
  settings.kept_configs = TRY(ReadKeptConfigs(line));
  const std::string metrics = line.Value("--metrics-listen-address").value_or("127.0.0.1:8797");
  if (!metrics.empty()) options.metrics.all = TRY(net::ParseListenAddress(metrics), "--metrics-listen-address");
  if (const auto probes = line.Value("--probe-listen-address")) {
    options.metrics.probes = TRY(net::ParseListenAddress(*probes), "--probe-listen-address");
  }
  settings.gate_peers = TRY(ReadGatePeers(line));
  settings.webhook = TRY(ReadWebhook(line));
  options.page = TRY(ReadPage(line));
  options.ignition = TRY(ReadIgnition(line));
  if (options.ignition) {
    options.ignition->feed.namespace_name = settings.namespace_name;
    const bool needs_tokens = options.ignition->service.access != serving::AccessMode::kOpen;
    if (needs_tokens) settings.token_keys_file = options.ignition->service.token_keys_file;
  }
  TRY(ReadLeaseTimes(line, settings.lease));
  return options;
}

}  // namespace pintle::controller
