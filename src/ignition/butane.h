// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads Butane, a format for Ignition configs that people can write and read.
//
// The variants "fcos" and "openshift" are supported for everything that a MachineConfig may set on a running machine.
// Sections that only a new machine could apply (`boot_device`, `grub`) are refused, and so are the shorthands `trees`
// and `with_mount_unit: true`.

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

// The section `metadata`, which only the variant "openshift" has.
struct ButaneMetadata {
  std::string name;
  std::map<std::string, std::string> labels;

  static constexpr auto kFields =
      json::FieldList{json::Field{"name", &ButaneMetadata::name}, json::Field{"labels", &ButaneMetadata::labels}};
};

// The section `openshift`: the settings of a MachineConfig beside its Ignition config.
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
  SpecVersion ignition_version = SpecVersion::k3_5;  // The Ignition version that belongs to the document's version.
  Config config;
};

// Returns whether a document declares itself to be Butane.
bool IsButane(const json::Value& document);

// Returns whether these keys of a Butane document lead to a string.  Butane decodes into Go's structs, so even an
// unquoted `on`, 12 or 1.10 at such a place is a string.  Indexes are not among the keys: the keys of a list also lead
// to its elements.
bool IsPlaceOfText(std::span<const std::string_view> keys);

// Returns the contents of a file that a config names as `local`.
using ReadLocalFile = std::function<Result<std::string>(std::string_view name)>;

// Reads a Butane document.  All problems go to `report`, with Butane's names in their paths.  Without `read_local`, a
// `local` file is a problem.
Result<Butane> ReadButane(json::Value document, json::Report& report, const ReadLocalFile& read_local = nullptr);

}  // namespace pintle::ignition
