// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of `pintle-controller start`.
//
// Those that people know from the Machine Config Operator's controller have the same names here.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/command_line.h"
#include "base/result.h"
#include "controller/controller.h"
#include "controller/ignition_feed.h"
#include "controller/ignition_service.h"
#include "kube/access.h"
#include "net/listen_address.h"

namespace pintle::controller {

// The Ignition server, if there is to be one.
struct IgnitionOptions {
  IgnitionSettings service;
  IgnitionFeedSettings feed;
};

struct StartOptions {
  std::string kubeconfig;  // Empty: what a pod finds in its service account.
  std::optional<net::ListenAddress> metrics;
  std::optional<IgnitionOptions> ignition;
  ControllerSettings controller;
};

std::span<const Option> KnownStartOptions();

// By the kubeconfig, or, where it is empty, as a pod.
Result<kube::Access> AccessTo(const std::string& kubeconfig);

// What --keep-rendered says, or what holds without it.
Result<std::size_t> ReadKeptConfigs(const CommandLine& line);

Result<StartOptions> ReadStartOptions(const CommandLine& line);

}  // namespace pintle::controller
