// SPDX-License-Identifier: Apache-2.0
#pragma once

// Butane: Ignition configs that people can write and read.
//
// Variants "fcos" and "openshift", as far as MachineConfigs go: what a running machine can be given.  Sections that
// only a new machine could follow (`boot_device`, `grub`, `with_mount_unit`, `trees`) are refused.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ignition/config.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

// What the variant "openshift" says beside the Ignition config.
struct ButaneMetadata {
  std::string name;
  std::map<std::string, std::string> labels;

  static constexpr auto kFields =
      json::FieldList{json::Field{"name", &ButaneMetadata::name}, json::Field{"labels", &ButaneMetadata::labels}};
};

struct ButaneOpenshift {
  std::string kernel_type;
  std::vector<std::string> kernel_arguments;
  std::vector<std::string> extensions;
  bool fips = false;

  static constexpr auto kFields = json::FieldList{
      json::Field{"kernel_type", &ButaneOpenshift::kernel_type},
      json::Field{"kernel_arguments", &ButaneOpenshift::kernel_arguments},
      json::Field{"extensions", &ButaneOpenshift::extensions},
      json::Field{"fips", &ButaneOpenshift::fips},
  };
};

struct Butane {
  std::string variant;
  ButaneMetadata metadata;
  ButaneOpenshift openshift;
  SpecVersion ignition_version = SpecVersion::k3_5;  // That the document's version stands for.
  Config config;
};

// Whether a document says that it is Butane.
bool IsButane(const json::Value& document);

// Whether the place to which these keys of a Butane document lead is for a text.  Butane reads into Go's structs, so
// that what stands there without quotes is the text that it looks like, be it `on`, 12 or 1.10.  Elements of a list are
// at the list's own place.
bool IsPlaceOfText(std::span<const std::string_view> keys);

// Gives the contents of a file that a config names as `local`.
using ReadLocalFile = std::function<Result<std::string>(std::string_view name)>;

// Reads a document of Butane's YAML.  All problems go to `report`, with Butane's names in their paths.  Without
// `read_local`, a `local` file is a problem.
Result<Butane> ReadButane(json::Value document, json::Report& report, const ReadLocalFile& read_local = nullptr);

}  // namespace pintle::ignition
