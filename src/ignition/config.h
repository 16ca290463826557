// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ignition configs in the form that the whole program uses.
//
// A config of any accepted version is translated to the newest version when it is read.  The versions are in the
// folders beside this file.  Each version 3.x uses only the version before it; spec 2 uses 3.0 and 3.2.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ignition/v3_5/types.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

using v3_5::Clevis;
using v3_5::Config;
using v3_5::Directory;
using v3_5::Disk;
using v3_5::Dropin;
using v3_5::File;
using v3_5::Filesystem;
using v3_5::HttpHeader;
using v3_5::KernelArguments;
using v3_5::Link;
using v3_5::Luks;
using v3_5::NodeOwner;
using v3_5::Partition;
using v3_5::Passwd;
using v3_5::PasswdGroup;
using v3_5::PasswdUser;
using v3_5::Raid;
using v3_5::Resource;
using v3_5::Storage;
using v3_5::Systemd;
using v3_5::Unit;
using v3_5::Verification;

inline constexpr std::string_view kNewestVersion = "3.5.0";

// Reads a config of any accepted version.  It may be gzipped, or gzipped and then encoded in base64.  All problems go
// to `report`; if one of them is an error, the config is refused with the Machine Config Operator's message.
Result<Config> Parse(std::string_view bytes, json::Report& report);
inline Result<Config> Parse(const std::string& bytes, json::Report& report) {
  return Parse(std::string_view(bytes), report);
}

// Reads a document that has been parsed already, such as the `spec.config` of a MachineConfig.
Result<Config> Parse(json::Value document, json::Report& report);

// Reports what Ignition would report for this config.  Parse() has done so already for a config that it has read.
void Validate(const Config& config, json::Report& report);

// Validates a result of Parse() or Merge() by the rules of the newest version, without checking sources again.
void ValidateParsed(const Config& config, json::Report& report);

// Merges `child` into `parent` by the rules of Ignition's specification.
Config Merge(Config parent, Config child);

// Returns the config as a document, without empty lists and structs.
json::Value Encode(const Config& config);

}  // namespace pintle::ignition
