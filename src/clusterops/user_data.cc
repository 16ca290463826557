// SPDX-License-Identifier: Apache-2.0
#include "clusterops/user_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "clusterops/empty_members.h"
#include "json/parse.h"
#include "net/url.h"

namespace pintle::clusterops {
namespace {

constexpr int kServerPort = 22623;  // The port of the Ignition server.
constexpr const char* kPointerVersion = "3.5.0";
constexpr std::string_view kScheme = "Bearer ";

// The platforms for which the Infrastructure lists addresses of the control plane.
constexpr auto kWithAddresses =
    std::to_array<std::string_view>({"baremetal", "openstack", "ovirt", "vsphere", "nutanix"});

std::string WithoutBrackets(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host;
}

// Returns the host in the internal URL of the API server, or "".
std::string HostOfApiServer(const json::Value& infrastructure) {
  const auto url = net::Url::Parse(infrastructure.TextAt({"status", "apiServerInternalURI"}));
  return url ? WithoutBrackets(url->host()) : "";
}

// Returns the internal addresses of the control plane.
std::vector<std::string> Addresses(const json::Value& infrastructure) {
  std::vector<std::string> addresses;
  for (const std::string_view platform : kWithAddresses) {
    const json::Value* const status = infrastructure.Find({"status", "platformStatus", platform});
    if (status == nullptr) continue;
    for (const json::Value& address : (*status)["apiServerInternalIPs"]) {
      if (address.is_string() && !address.text().empty()) addresses.push_back(address.text());
    }
    // Older clusters have a single address.
    const std::string& single = status->TextAt({"apiServerInternalIP"});
    if (addresses.empty() && !single.empty()) addresses.push_back(single);
  }
  return addresses;
}

}  // namespace

std::string HostOfServer(const json::Value& infrastructure) {
  // On Nutanix, machines use the name, although there are addresses.
  const std::string& platform = infrastructure.TextAt({"status", "platformStatus", "type"});
  const std::vector<std::string> addresses = Addresses(infrastructure);
  if (!addresses.empty() && platform != "Nutanix") return addresses.front();
  return HostOfApiServer(infrastructure);
}

std::vector<std::string> HostsOfServer(const json::Value& infrastructure) {
  std::vector<std::string> hosts = Addresses(infrastructure);
  if (std::string host = HostOfApiServer(infrastructure); !host.empty()) hosts.push_back(std::move(host));
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

json::Value PointerConfig(const PointerInputs& inputs) {
  const bool is_ipv6 = inputs.host.find(':') != std::string::npos;
  json::Value merged;
  merged["source"] =
      fmt::format("https://{}:{}/config/{}", is_ipv6 ? "[" + inputs.host + "]" : inputs.host, kServerPort, inputs.pool);
  if (!inputs.token.empty()) {
    const json::Value header = {{"name", "Authorization"}, {"value", std::string(kScheme) + inputs.token}};
    merged["httpHeaders"] = json::Value::array({header});
  }
  json::Value authority;
  authority["source"] = "data:text/plain;charset=utf-8;base64," + inputs.authority;
  json::Value config;
  json::Value& ignition = config["ignition"];
  ignition["config"]["merge"] = json::Value::array({merged});
  ignition["security"]["tls"]["certificateAuthorities"] = json::Value::array({authority});
  ignition["version"] = kPointerVersion;
  return config;
}

std::string TokenIn(const json::Value& pointer) {
  const json::Value* const merged = pointer.Find({"ignition", "config", "merge"});
  if (merged == nullptr) return "";
  for (const json::Value& source : *merged) {
    for (const json::Value& header : source["httpHeaders"]) {
      const std::string& value = header.TextAt({"value"});
      if (header.TextAt({"name"}) == "Authorization" && value.starts_with(kScheme)) return value.substr(kScheme.size());
    }
  }
  return "";
}

bool IsSamePointer(const std::string& text, const json::Value& pointer) {
  const auto known = json::Parse(text);
  return known && WithoutEmptyMembers(*known) == WithoutEmptyMembers(pointer);
}

}  // namespace pintle::clusterops
