// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the admin of a machine tells the agent: pintled.conf and its drop-ins.
//
// The files are written as systemd's own are: sections, Key=value, comments that begin with "#" or ";".  The first main
// file that exists counts, /etc/pintle/pintled.conf before /usr/lib/pintle/pintled.conf; then all drop-ins in
// pintled.conf.d below /usr/lib/pintle, /run/pintle and /etc/pintle are laid over it in the order of their names.  One
// in /etc hides one of the same name in /run, and that one in /usr/lib; a link to /dev/null says nothing and only
// hides.
//
// A key that nobody knows and a value that cannot be are errors, since a typo would otherwise be a setting that
// silently does nothing.  A key without a value has its default again.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

enum class SourceChoice {
  kAuto,  // Kubernetes where there is a kubeconfig, else local.
  kKubernetes,
  kLocal,
};

struct ListenAddress {
  std::string address;  // Without brackets.
  std::uint16_t port = 0;
  bool operator==(const ListenAddress&) const = default;
};

struct Settings {
  // [Agent]
  SourceChoice source = SourceChoice::kAuto;
  std::string node_name;  // Empty: the host name, in lower case.
  std::string config_directory = "/etc/pintle/config.d";
  std::string policy_file;  // Empty: none.
  bool watch_logins = true;
  std::optional<std::chrono::milliseconds> full_check = std::chrono::hours(1);  // Nothing: never.

  // [Kubernetes]
  std::string kubeconfig = "/var/lib/kubelet/kubeconfig";
  std::chrono::milliseconds drain_timeout = std::chrono::hours(1);
  std::string kubelet_health = "http://localhost:10248/healthz";      // Empty: nobody asks.
  std::string event_namespace = "openshift-machine-config-operator";  // One that exists.

  // [Health]
  std::optional<std::vector<std::string>> health_units;  // Nothing: what the source needs.  An empty list: none.
  std::string check_directory = "/etc/pintle/check.d";
  std::chrono::milliseconds health_limit = std::chrono::minutes(10);

  // [Metrics]
  std::string metrics_file = "/var/lib/node_exporter/textfile_collector/pintle.prom";  // Empty: none.
  std::optional<ListenAddress> metrics_listen;

  bool operator==(const Settings&) const = default;
};

Result<Settings> ReadSettings(const Root& root);

// Lays what one file says over the settings.  All that is wrong with it is told at once: "FILE:LINE: Key=value: must be
// ...".
Result<> AddSettings(std::string_view text, std::string_view file, Settings& settings);

}  // namespace pintle::agent
