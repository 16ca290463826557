// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfig that is generated from templates or from another object, such as a KubeletConfig or a mirror set.
//
// Its Ignition config is kept as the text that the Machine Config Operator would write, because digests of this text
// are compared.  The API server returns the same members in another order.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "api/meta.h"
#include "ignition/config.h"
#include "ignition/empty_structs.h"

namespace pintle::generated {

struct MachineConfig {
  std::string name;
  std::string role;  // The name of the pool.
  api::Annotations annotations;
  std::vector<api::OwnerReference> owner_references;
  std::string config;  // The Ignition config as JSON.
  std::optional<std::vector<std::string>> kernel_arguments;
  std::optional<std::vector<std::string>> extensions;
};

// A file that a controller writes.  Its mode is 0644, and it replaces any file that is there.
struct NewFile {
  std::string path;
  std::string contents;
};

ignition::File ToIgnition(const NewFile& file);

// Makes an Ignition config of the newest version with just these files, in this order.
ignition::Config ConfigOf(const std::vector<NewFile>& files);

// Writes an Ignition config as JSON.  Only configs that bootstrap makes from KubeletConfigs are written with empty
// structs.
std::string ConfigText(const ignition::Config& config,
                       ignition::EmptyStructs empty_structs = ignition::EmptyStructs::kLeftOut);

// Makes a config with these files for a pool.  The config has no annotations and no owners.
MachineConfig NewConfig(std::string name, std::string_view pool, const std::vector<NewFile>& files);

// Makes the annotation that identifies the build of the controller which has made a config.
api::Annotations MadeBy(std::string_view controller_version);

// Makes the reference to an owner that is the controller of a config.  Kubernetes removes the config together with this
// owner.
api::OwnerReference ControlledBy(std::string_view kind, const api::ObjectMeta& owner);
// Makes the reference to an owner that is not a controller.
api::OwnerReference OwnedBy(std::string_view api_version, std::string_view kind, const api::ObjectMeta& owner);

// Makes the reference to an owner at bootstrap.  The reference has no name and no UID.
api::OwnerReference OwnedAtBootstrap(std::string_view api_version, std::string_view kind);

// Returns the SHA-256 of the Ignition config's text in lower-case hexadecimal.
std::string ConfigDigest(const MachineConfig& config);

// Converts a config to the object of Kubernetes.
api::MachineConfig ToObject(const MachineConfig& config);

}  // namespace pintle::generated
