// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's settings, which an administrator writes to pintled.conf and its drop-ins.
//
// The files have the syntax of systemd's configuration files: sections, Key=value, comments that begin with "#" or ";".
// The main file is /etc/pintle/pintled.conf, or /usr/lib/pintle/pintled.conf if there is no such file in /etc.  All
// drop-ins in pintled.conf.d below /usr/lib/pintle, /run/pintle and /etc/pintle override it, in the order of their
// names.  A drop-in in /etc hides drop-ins of the same name in /run and /usr/lib, and a drop-in in /run hides one in
// /usr/lib.  A drop-in that is a link to /dev/null has no settings and only hides others.
//
// An unknown key and an invalid value are errors.  Otherwise, a setting with a typo would silently do nothing.  A key
// without a value resets the setting to its default, except that Units=, KubeletHealth= and TextFile= become empty.

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
  kAuto,  // Kubernetes if there is a kubeconfig, and local otherwise.
  kKubernetes,
  kLocal,
};

struct ListenAddress {
  std::string address;  // An IPv6 address has no brackets here.
  std::uint16_t port = 0;
  bool operator==(const ListenAddress&) const = default;
};

struct Settings {
  // [Agent]
  SourceChoice source = SourceChoice::kAuto;
  std::string node_name;  // If it is empty, the host name in lower case is used.
  std::string config_directory = "/etc/pintle/config.d";
  std::string policy_file;  // Empty if there is none.
  bool watch_logins = true;
  std::optional<std::chrono::milliseconds> full_check = std::chrono::hours(1);  // How often to look; nullopt is never.

  // [Kubernetes]
  std::string kubeconfig = "/var/lib/kubelet/kubeconfig";
  std::chrono::milliseconds drain_timeout = std::chrono::hours(1);
  std::string kubelet_health = "http://localhost:10248/healthz";      // If it is empty, the kubelet is not asked.
  std::string event_namespace = "openshift-machine-config-operator";  // This namespace must exist.
  bool wait_for_handover = false;  // Stand by until the Node has the label that gives it to this agent.

  // [Health]
  std::optional<std::vector<std::string>> health_units;  // Nullopt: kubelet.service in a cluster, else none.
  std::string check_directory = "/etc/pintle/check.d";
  std::chrono::milliseconds health_limit = std::chrono::minutes(10);

  // [Metrics]
  std::string metrics_file = "/var/lib/node_exporter/textfile_collector/pintle.prom";  // May be empty, for no file.
  std::optional<ListenAddress> metrics_listen;

  bool operator==(const Settings&) const = default;
};

// Reads all files.  The error lists everything that is wrong with them.
Result<Settings> ReadSettings(const Root& root);

// Applies one file to the settings.  The error lists everything that is wrong with it, as "FILE:LINE: Key=: must be
// ...".  It does not quote the values.
Result<> AddSettings(std::string_view text, std::string_view file, Settings& settings);

}  // namespace pintle::agent
