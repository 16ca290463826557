// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ignition configs, as the whole program knows them.
//
// A config of any accepted version is read once, at the door, and is of the newest version from then on.  Older
// versions live in the folders beside this file; each knows only its neighbour.

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

// Reads a config of any accepted version, which may be gzipped, and that again in base64.  All problems go to `report`;
// when one of them is an error, the config is refused, with the Machine Config Operator's text for it.
Result<Config> Parse(std::string_view bytes, json::Report& report);
inline Result<Config> Parse(const std::string& bytes, json::Report& report) {
  return Parse(std::string_view(bytes), report);
}

// The same for a document that is already read, such as the `spec.config` of a MachineConfig.
Result<Config> Parse(json::Value document, json::Report& report);

// What Ignition would say to this config.  Parse() has said it already to a config as it was read.
void Validate(const Config& config, json::Report& report);

// The same for what Parse() or Merge() has made, by the rules of the newest version; sources are not looked at again.
void ValidateParsed(const Config& config, json::Report& report);

// Lays `child` over `parent` by the rules of Ignition's specification.
Config Merge(Config parent, Config child);

// The document.  Lists and structs in which nothing is set are left out.
json::Value Encode(const Config& config);

}  // namespace pintle::ignition
