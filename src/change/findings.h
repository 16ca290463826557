// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the differences between a machine and its config.
//
// All differences are reported at once, since whoever mends them wants to know them all.  They are worded as by the
// Machine Config Operator where it has words for them.

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

// Findings on the OS (its image, kernel arguments, extensions and kernel) have this name.
inline constexpr std::string_view kOs = "os";

// Files that a config may have, but that others overwrite with newer contents.  There are no findings on them.
inline constexpr std::string_view kKubeletAuthorities = "/etc/kubernetes/kubelet-ca.crt";
inline constexpr std::string_view kCloudAuthorities =
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem";
inline constexpr std::string_view kInternalPullSecret = "/etc/mco/internal-registry-pull-secret.json";
inline constexpr std::array kWrittenByOthers = {kKubeletAuthorities, kCloudAuthorities, kInternalPullSecret};

struct Finding {
  std::string about;  // A path, a unit, a user or the OS.
  std::string text;   // For example 'content mismatch for file "/etc/motd"'.
  // Details that the Machine Config Operator does not report, such as `line 3: expected "a", is "b"`.  Secrets are
  // masked, but these are contents of files and must not be logged.
  std::string detail;

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &Finding::about},
      json::Required{"text", &Finding::text},
      json::Field{"detail", &Finding::detail},
  };
};

// Returns the findings in the order of the config, with all details.  They include the users whose original passwords
// are lost.  `seen` records the files that were read: files in it that were not touched since are not read again, and
// files that are read are added.
Result<std::vector<Finding>> FindingsOn(const host::Host& host, const plan::ParsedConfig& config,
                                        host::SeenFiles* seen = nullptr);

// Returns the findings on steps that were put.  It does not check that things are absent, except for links that mask
// units.
Result<std::vector<Finding>> FindingsIn(const host::Host& host, std::span<const plan::Step> steps,
                                        host::SeenFiles* seen = nullptr);

// Adds a detail to each finding on the contents of a file: the place where it first differs from the config.  For a
// private file, the detail is only that not everyone may read it.
Result<> AddDetails(const Root& root, const ignition::Config& config, std::vector<Finding>& findings);

// Joins the findings to one text: "unexpected on-disk state validating against rendered-worker-1: ...; ...".
std::string TextOf(const std::vector<Finding>& findings, std::string_view config);

}  // namespace pintle::change
