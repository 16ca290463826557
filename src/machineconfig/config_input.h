// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file with a configuration, of any of the kinds that people write: Ignition, MachineConfig, Butane.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "ignition/config.h"
#include "ignition/spec_version.h"
#include "json/parse.h"
#include "json/report.h"
#include "machineconfig/input.h"

namespace pintle::machineconfig {

// One document of a file: the Ignition config in it, when it has one that can be used, and all that there is to say.
struct ConfigDocument {
  std::string kind;  // "Ignition", "MachineConfig" or "Butane".
  std::string name;  // Of a MachineConfig.
  std::optional<ignition::Config> config;
  // All of a MachineConfig, or what Butane makes of its other fields; of Ignition there is none.
  std::optional<api::MachineConfig> object;
  // Of Ignition: what Butane's version stands for, or the newest.
  ignition::SpecVersion version = ignition::SpecVersion::k3_5;
  json::Report report;
  std::optional<Error> error;  // In the words of the Machine Config Operator.
  std::optional<Error> unfit;  // Why no machine is given a config that can be read and converted all the same.
};

// A file is what its contents look like, whatever its name: JSON, which may be gzipped, and that again in base64; or
// YAML, which may hold several documents.  Only where the contents could be both, its name decides.  `text` is what the
// report's paths lead to, when they lead to JSON.
struct ConfigFile {
  std::vector<ConfigDocument> documents;
  json::Report report;  // Of the file itself, such as a key that stands twice.
  std::string text;
  std::size_t size = 0;  // As it is written.
};

// A document of Butane.
ConfigDocument ReadButaneDocument(json::Value value);

// What a document makes of a machine, as a MachineConfig, of which Butane of the variant "fcos" and Ignition know
// neither the name nor the role.
Result<api::MachineConfig> ToMachineConfig(ConfigDocument document);

// Whether a cluster can take it: it has a name and a role.
Result<> CheckNamed(const api::MachineConfig& config);

// One that is longer than `limit`, or unpacks to more, is an error.
Result<ConfigFile> ReadConfigFile(const std::string& path, Accepts accepts = Accepts::kAnything,
                                  std::size_t limit = json::ParseLimits().bytes);

}  // namespace pintle::machineconfig
