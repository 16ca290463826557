// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a file with a configuration of any kind that people write: Ignition, MachineConfig, Butane.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "ignition/config.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "json/report.h"
#include "machineconfig/input.h"

namespace pintle::machineconfig {

// The endings of the names of files with configs.
inline constexpr std::array<std::string_view, 7> kConfigEndings = {".yaml",   ".yml", ".json", ".bu",
                                                                   ".butane", ".fcc", ".ign"};
// The same without .ign, because an Ignition file has neither a name nor a role.
inline constexpr std::span<const std::string_view> kNamedConfigEndings = std::span(kConfigEndings).first<6>();

// One document of a file: its Ignition config, if it can be used, and all problems of the document.
struct ConfigDocument {
  std::string kind;  // "Ignition", "MachineConfig" or "Butane".
  std::string name;  // The name of a MachineConfig.
  std::optional<ignition::Config> config;
  // The whole MachineConfig, or one with Butane's fields beside the Ignition config; nullopt for Ignition, and for a
  // document that cannot be read.
  std::optional<api::MachineConfig> object;
  // The version in which the Ignition config is written.  For Butane, this is the version that belongs to the
  // document's version, but at least 3.1; for other documents, it is the newest.
  ignition::SpecVersion version = ignition::SpecVersion::k3_5;
  json::Report report;
  std::optional<Error> error;                // The reason why the document cannot be used.
  std::optional<Error> refusal_by_machines;  // The reason why no machine accepts the config, although it can be read.
};

// A file is JSON or YAML.  JSON may be gzipped, or gzipped and then encoded in base64; YAML may have several documents.
// The contents decide between the two; the name decides only if the contents could be either.  `text` is the text of a
// file that is one Ignition config in JSON, so that problems can be located there; for other files it is empty.
struct ConfigFile {
  std::vector<ConfigDocument> documents;
  json::Report report;  // The problems of the file itself, such as a duplicate key.
  std::string text;
  std::size_t size = 0;  // The size of the file on the disk.
};

// Reads a Butane document.  The result has all its problems; a reference to a local file is one of them.
ConfigDocument ReadButaneDocument(json::Value value);

// Converts a document of any kind to a MachineConfig.  Ignition and Butane of the variant "fcos" have neither a name
// nor a role.
Result<api::MachineConfig> ToMachineConfig(ConfigDocument document);

// Checks that a cluster can accept the config: it must have a name and a role.
Result<> ExpectNameAndRole(const api::MachineConfig& config);

// A file that is longer than `limit`, or unpacks to more, is an error.
Result<ConfigFile> ReadConfigFile(const std::string& path, Accepts accepts = Accepts::kAnything,
                                  std::size_t limit = json::ParseLimits().bytes);

}  // namespace pintle::machineconfig
