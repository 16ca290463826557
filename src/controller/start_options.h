// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of `pintle-controller start`.
//
// If the Machine Config Operator's controller has the same option, the option has the same name here.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/command_line.h"
#include "base/result.h"
#include "controller/cluster_ignition.h"
#include "controller/cluster_page.h"
#include "controller/controller.h"
#include "controller/metrics_page.h"
#include "kube/access.h"
#include "net/listen_address.h"

namespace pintle::controller {

struct StartOptions {
  std::string kubeconfig;  // Empty to use the pod's service account.
  MetricsAddresses metrics;
  ClusterPageSettings page;
  std::optional<IgnitionOptions> ignition;  // Set if there is an Ignition server.
  ControllerSettings controller;
};

// Returns the names and the help texts of all options.
std::span<const Option> KnownStartOptions();

// Returns the API server's address and the credentials from the file `kubeconfig`, or from the pod's service account if
// the name is empty.
Result<kube::Access> AccessTo(const std::string& kubeconfig);

// Returns the value of --keep-rendered, or its default.
Result<std::size_t> ReadKeptConfigs(const CommandLine& line);

// Returns whether the controller also does what the Machine Config Operator itself does.
bool IsOperator(const CommandLine& line);

// The options that decide what is rendered and what the ControllerConfig is made from.
struct RenderOptions {
  Versions versions;
  std::string release;
  pool::Features features;
};
RenderOptions ReadRenderOptions(const CommandLine& line);

Result<StartOptions> ReadStartOptions(const CommandLine& line);

}  // namespace pintle::controller
