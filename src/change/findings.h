// SPDX-License-Identifier: Apache-2.0
#pragma once

// What on a machine is not as its config says.
//
// All differences are told at once, since whoever mends them wants to know them all; where the Machine Config Operator
// has words for one, these are its words.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/host.h"
#include "host/seen_files.h"
#include "ignition/config.h"
#include "json/fields.h"
#include "plan/plan.h"

namespace pintle::change {

// What findings on the image and its kernel arguments are about.
inline constexpr std::string_view kOs = "os";

// Files that a config may have, but that others write, with what they know to be right: no finding is about them.
inline constexpr std::string_view kKubeletAuthorities = "/etc/kubernetes/kubelet-ca.crt";
inline constexpr std::string_view kCloudAuthorities =
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem";
inline constexpr std::string_view kInternalPullSecret = "/etc/mco/internal-registry-pull-secret.json";
inline constexpr std::array kWrittenByOthers = {kKubeletAuthorities, kCloudAuthorities, kInternalPullSecret};

struct Finding {
  std::string about;  // A path, a unit, a user, the OS.
  std::string text;   // 'content mismatch for file "/etc/motd"'
  // More than the Machine Config Operator says: `line 3: expected "a", is "b"`.  Secrets are masked, but these are
  // contents of files, which belong into no log.
  std::string detail;

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &Finding::about},
      json::Required{"text", &Finding::text},
      json::Field{"detail", &Finding::detail},
  };
};

// In the order of the config, with all details; and those users whose original passwords are not known any more.  Files
// that were seen and have not been touched since are not read, and those that are read have been seen.
Result<std::vector<Finding>> FindingsOn(const host::Host& host, const plan::ParsedConfig& config,
                                        host::SeenFiles* seen = nullptr);

// The same for steps that were put.  What is to be absent is not looked for, except for links that mask units.
Result<std::vector<Finding>> FindingsIn(const host::Host& host, std::span<const plan::Step> steps,
                                        host::SeenFiles* seen = nullptr);

// Says of files where they first differ from the contents that the config has for them.
Result<> AddDetails(const Root& root, const ignition::Config& config, std::vector<Finding>& findings);

// All of them as one text: "unexpected on-disk state validating against rendered-worker-1: ...; ...".
std::string TextOf(const std::vector<Finding>& findings, std::string_view config);

}  // namespace pintle::change
