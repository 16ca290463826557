// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the differences between a machine and its config.
//
// All differences are reported at once, since whoever corrects them wants to know them all.  If the Machine Config
// Operator has a text for a difference, Pintle uses the same text.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/files/seen_files.h"
#include "host/host.h"
#include "ignition/config.h"
#include "json/field_list.h"
#include "plan/plan.h"

namespace pintle::change {

// The value of `about` in findings on the OS: its image, kernel arguments, extensions and kernel.
inline constexpr std::string_view kOs = "os";

// Files that a config may have, but that the agent or the Machine Config Operator keeps up to date from objects of the
// cluster.  Their contents need not be those of the config, so there are no findings on them.
inline constexpr std::string_view kKubeletAuthorities = "/etc/kubernetes/kubelet-ca.crt";
inline constexpr std::string_view kCloudAuthorities =
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem";
inline constexpr std::string_view kInternalPullSecret = "/etc/mco/internal-registry-pull-secret.json";
inline constexpr std::array kWrittenByOthers = {kKubeletAuthorities, kCloudAuthorities, kInternalPullSecret};

struct Finding {
  std::string about;  // A path, the name of a unit or of a user, or kOs.
  std::string text;   // For example 'content mismatch for file "/etc/motd"'.
  // A fact that the Machine Config Operator does not report, such as `line 3: expected "a", found "b"`; may be empty.
  // Secrets are masked.  A detail may hold other contents of files, so it must not be logged.
  std::string detail;

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &Finding::about},
      json::Required{"text", &Finding::text},
      json::Field{"detail", &Finding::detail},
  };
};

// Returns the findings on a machine that should have this config, with all details.  They include findings on the users
// whose original passwords are lost.  `seen` records the states of files that were read.  A file that was not touched
// since it was recorded is not read again.  Each file that is read is recorded, unless it has changed just before.
Result<std::vector<Finding>> FindingsOn(const host::Host& host, const plan::ParsedConfig& config,
                                        host::SeenFiles* seen = nullptr);

// Returns the findings on the things that these steps put, in the order of the steps.  If a step wants a path to be
// absent, only a link there that masks a unit is a finding.  Units that are to follow their presets, and steps for the
// links of units, are not checked.  Findings on the contents of files have no details yet; AddDetails() adds them.
Result<std::vector<Finding>> FindingsIn(const host::Host& host, std::span<const plan::Step> steps,
                                        host::SeenFiles* seen = nullptr);

// Adds a detail to each finding on the contents of a file: the place where they first differ from the config.  If the
// file is private, or its name suggests a secret, the detail has none of its contents.  A file that can no longer be
// read gets no detail.
Result<> AddDetails(const Root& root, const ignition::Config& config, std::vector<Finding>& findings);

// Joins the texts of the findings: "unexpected on-disk state validating against rendered-worker-1: ...; ...".  Returns
// "" if there are none.
std::string TextOf(const std::vector<Finding>& findings, std::string_view config);

}  // namespace pintle::change
