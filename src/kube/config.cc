// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <fmt/core.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "api/lenient.h"
#include "base/base64.h"
#include "base/root.h"
#include "json/fields.h"
#include "machineconfig/yaml.h"
#include "net/local_address.h"

namespace pintle::kube {
namespace {

using machineconfig::ParseYaml;

// A kubeconfig has few clusters, so a file beyond these limits is not a kubeconfig.
constexpr json::ParseLimits kLimits = {.depth = 50, .bytes = 4 << 20, .values = 100'000};

struct Cluster {
  std::string server;
  std::string certificate_authority;
  std::string certificate_authority_data;
  std::string tls_server_name;
  std::string proxy_url;
  bool insecure_skip_tls_verify = false;

  static constexpr const char* kKey = "cluster";
  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"server", &Cluster::server},
      json::Field{"certificate-authority", &Cluster::certificate_authority},
      json::Field{"certificate-authority-data", &Cluster::certificate_authority_data},
      json::Field{"tls-server-name", &Cluster::tls_server_name},
      json::Field{"proxy-url", &Cluster::proxy_url},
      json::Field{"insecure-skip-tls-verify", &Cluster::insecure_skip_tls_verify},
  };
};

struct User {
  std::string client_certificate;
  std::string client_certificate_data;
  std::string client_key;
  std::string client_key_data;
  std::string token;
  std::string token_file;
  json::Value exec;
  json::Value auth_provider;
  json::Value username;
  json::Value as;
  json::Value as_groups;
  json::Value as_uid;
  json::Value as_user_extra;

  static constexpr const char* kKey = "user";
  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"client-certificate", &User::client_certificate},
      json::Field{"client-certificate-data", &User::client_certificate_data},
      json::Field{"client-key", &User::client_key},
      json::Field{"client-key-data", &User::client_key_data},
      json::Field{"token", &User::token},
      json::Field{"tokenFile", &User::token_file},
      json::Field{"exec", &User::exec},
      json::Field{"auth-provider", &User::auth_provider},
      json::Field{"username", &User::username},
      json::Field{"as", &User::as},
      json::Field{"as-groups", &User::as_groups},
      json::Field{"as-uid", &User::as_uid},
      json::Field{"as-user-extra", &User::as_user_extra},
  };
};

struct Context {
  std::string cluster;
  std::string user;
  std::string namespace_name;

  static constexpr const char* kKey = "context";
  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"cluster", &Context::cluster},
      json::Field{"user", &Context::user},
      json::Field{"namespace", &Context::namespace_name},
  };
};

// An entry of the lists of Kubeconfig: `{name: NAME, KEY: {...}}`.
template <typename T>
struct NamedEntry {
  std::string name;
  T value;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"name", &NamedEntry::name}, json::Field{T::kKey, &NamedEntry::value}};
};

struct Kubeconfig {
  std::string current_context;
  std::vector<NamedEntry<Cluster>> clusters;
  std::vector<NamedEntry<User>> users;
  std::vector<NamedEntry<Context>> contexts;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"current-context", &Kubeconfig::current_context},
      json::Field{"clusters", &Kubeconfig::clusters},
      json::Field{"users", &Kubeconfig::users},
      json::Field{"contexts", &Kubeconfig::contexts},
  };
};

Error Invalid(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

// Makes an error from the parser's error.  The parser's message may quote the text around the problem, which may be a
// token, so only the number of the line is kept.  A message without a line is usually about kLimits.
Error NotReadable(const Error& error) {
  const std::string& message = error.message();
  const std::size_t line = message.find("line ");
  if (line == std::string::npos)
    return Invalid("the file is neither YAML nor JSON, or is larger than a kubeconfig can be");
  return Invalid("the file is neither YAML nor JSON: " + message.substr(line, message.find(": ", line) - line));
}

Result<Kubeconfig> DecodeKubeconfig(std::string_view text) {
  auto parsed = ParseYaml(text, nullptr, kLimits);
  if (!parsed) return NotReadable(parsed.error());
  std::vector<json::Value> documents = *std::move(parsed);
  if (documents.size() != 1)
    return Invalid(fmt::format("the file has {} YAML documents, but must have exactly one", documents.size()));
  json::Report report;
  Kubeconfig kubeconfig = json::Decode<Kubeconfig>(std::move(documents[0]), report);
  TRY(report.ToResult());
  return kubeconfig;
}

// Like kubectl, returns the first of several entries with the same name.
template <typename T>
Result<const T*> Find(const std::vector<NamedEntry<T>>& entries, const std::string& name) {
  for (const NamedEntry<T>& entry : entries) {
    if (entry.name == name) return &entry.value;
  }
  return Invalid(fmt::format("the file has no {} \"{}\"", T::kKey, name));
}

std::string FilePath(const std::string& directory, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : directory + "/" + path;
}

// YAML turns the line breaks of a plain or folded text into spaces.
std::optional<std::string> DecodeFoldedBase64(std::string text) {
  std::erase(text, ' ');
  return DecodeBase64(text);
}

// Data in the kubeconfig itself takes precedence over a file.
Result<std::optional<net::Pem>> ReadPem(const std::string& data, std::string_view field, const std::string& file,
                                        const std::string& directory) {
  if (data.empty() && file.empty()) return std::optional<net::Pem>();
  if (data.empty()) return std::optional<net::Pem>(net::PemFile{FilePath(directory, file)});
  auto text = DecodeFoldedBase64(data);
  if (!text) return Invalid(fmt::format("{}: not base64", field));
  return std::optional<net::Pem>(net::PemText{*std::move(text)});
}

// Makes the error about a field that Pintle does not support.
Error Refused(std::string_view field, std::string_view remedy) {
  return Invalid(fmt::format("{}: is not supported; {}", field, remedy));
}

bool HasContent(const json::Value& value) {
  if (value.is_string()) return !value.text().empty();
  return value.is_structured() ? !value.empty() : !value.is_null();
}

Result<> RefuseUnsupportedCredentials(const User& user) {
  constexpr std::string_view kUseOthers =
      "use a token, a tokenFile, or a client-certificate with its client-key, such as those of a service account";
  if (HasContent(user.exec)) return Refused("exec", kUseOthers);
  if (HasContent(user.auth_provider)) return Refused("auth-provider", kUseOthers);
  if (HasContent(user.username)) return Refused("username", kUseOthers);
  for (const auto& [field, value] :
       {std::pair{"as", &user.as}, std::pair{"as-groups", &user.as_groups}, std::pair{"as-uid", &user.as_uid},
        std::pair{"as-user-extra", &user.as_user_extra}}) {
    if (HasContent(*value)) return Refused(field, "use the credentials of that user");
  }
  return {};
}

Result<net::Url> ReadServer(const Cluster& cluster) {
  if (cluster.server.empty()) return Invalid("server: is required");
  net::Url server = TRY(net::Url::Parse(cluster.server), "server");
  // Without TLS, others could read the token on the network.  A server on the loopback interface needs no TLS; it may
  // be `kubectl proxy`.
  if (!server.is_https() && !net::IsLoopbackHost(server.host())) return Invalid("server: must be an https URL");
  if (server.text().find('?') != std::string::npos) return Invalid("server: must not have a query");
  return server;
}

Result<Config> ReadCluster(const Cluster& cluster, const std::string& directory) {
  net::Url server = TRY(ReadServer(cluster));
  Config config = {.server = std::move(server)};
  if (cluster.insecure_skip_tls_verify) {
    return Refused("insecure-skip-tls-verify",
                   "give the CA that signed the server's certificate as certificate-authority-data");
  }
  if (!cluster.tls_server_name.empty()) {
    return Refused("tls-server-name", "give the server a certificate for the host of `server`");
  }
  config.tls.authorities = TRY(ReadPem(cluster.certificate_authority_data, "certificate-authority-data",
                                       cluster.certificate_authority, directory));
  config.proxy = cluster.proxy_url;
  return config;
}

Result<> ReadUser(const User& user, const std::string& directory, Config& config) {
  TRY(RefuseUnsupportedCredentials(user));
  auto certificate =
      TRY(ReadPem(user.client_certificate_data, "client-certificate-data", user.client_certificate, directory));
  auto key = TRY(ReadPem(user.client_key_data, "client-key-data", user.client_key, directory));
  if (certificate && !key) return Invalid("client-key: is required beside a client-certificate");
  if (key && !certificate) return Invalid("client-certificate: is required beside a client-key");
  if (certificate) config.tls.client = net::ClientCertificate{*std::move(certificate), *std::move(key)};
  config.token = user.token;
  config.token_file = FilePath(directory, user.token_file);
  return {};
}

}  // namespace

Result<Config> ParseKubeconfig(std::string_view text, const std::string& directory, const std::string& context) {
  const Kubeconfig kubeconfig = TRY(DecodeKubeconfig(text));
  const std::string& context_name = context.empty() ? kubeconfig.current_context : context;
  if (context_name.empty()) return Invalid("current-context: is required");
  const Context& selected = *TRY(Find(kubeconfig.contexts, context_name));
  const auto doing = [](std::string_view kind, const std::string& name) {
    return fmt::format("{} \"{}\"", kind, name);
  };
  const Cluster& cluster = *TRY(Find(kubeconfig.clusters, selected.cluster), doing("context", context_name));
  Config config = TRY(ReadCluster(cluster, directory), doing("cluster", selected.cluster));
  config.namespace_name = selected.namespace_name.empty() ? "default" : selected.namespace_name;
  if (selected.user.empty()) return config;
  const User& user = *TRY(Find(kubeconfig.users, selected.user), doing("context", context_name));
  TRY(ReadUser(user, directory, config), doing("user", selected.user));
  return config;
}

PodSurroundings PodSurroundings::FromEnvironment() {
  const auto variable = [](const char* name) {
    const char* value = ::secure_getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  PodSurroundings surroundings;
  surroundings.host = variable("KUBERNETES_SERVICE_HOST");
  surroundings.port = variable("KUBERNETES_SERVICE_PORT");
  return surroundings;
}

Result<Config> InCluster(const PodSurroundings& surroundings) {
  if (surroundings.host.empty() || surroundings.port.empty()) {
    return Invalid("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this process is not in a pod");
  }
  const bool is_ipv6 = surroundings.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + surroundings.host + "]" : surroundings.host;
  const std::string& directory = surroundings.directory;
  const Root root = TRY(Root::Open("/"));
  net::Url server =
      TRY(net::Url::Parse(fmt::format("https://{}:{}", host, surroundings.port)), "the API server's address");
  Config config = {.server = std::move(server)};
  config.tls.authorities = net::PemFile{directory + "/ca.crt"};
  config.token_file = directory + "/token";
  config.namespace_name = TRY(root.ReadFile(directory + "/namespace", 1 << 10), "reading our namespace");
  return config;
}

}  // namespace pintle::kube
