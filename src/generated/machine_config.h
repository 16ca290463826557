// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfig that was made from something else: from templates, a KubeletConfig, a list of mirrors.
//
// Its Ignition config is kept as the text in which the Machine Config Operator would have written it, since digests of
// that text are compared; an object that went through the API server has the same members in another order.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "api/meta.h"
#include "ignition/config.h"
#include "ignition/go_text.h"
#include "json/parse.h"

namespace pintle::generated {

struct MachineConfig {
  std::string name;
  std::string role;  // The name of the pool that it is for.
  api::Annotations annotations;
  std::vector<api::OwnerReference> owner_references;
  std::string config;  // JSON.
  std::optional<std::vector<std::string>> kernel_arguments;
  std::optional<std::vector<std::string>> extensions;
};

// A file that a controller writes: mode 0644, whatever stood there before.
struct NewFile {
  std::string path;
  std::string contents;
};

ignition::File ToIgnition(const NewFile& file);

// An Ignition config of the newest version with these files, in this order, and nothing else.
ignition::Config ConfigOf(const std::vector<NewFile>& files);

// Nearly all configs leave empty structs out; a 99- config of a kubelet that bootstrap makes has them.
std::string ConfigText(const ignition::Config& config,
                       ignition::EmptyStructs empty_structs = ignition::EmptyStructs::kLeftOut);

// Which controller has made a config, by the digest of its build.
api::Annotations MadeBy(std::string_view controller_version);
bool IsMadeBy(const api::ObjectMeta& metadata, std::string_view controller_version);

// What a config belongs to, and goes away with.
api::OwnerReference ControlledBy(std::string_view kind, const api::ObjectMeta& owner);
// The same as bootstrap has it, where the owner has no identity yet.
api::OwnerReference OwnedAtBootstrap(std::string_view api_version, std::string_view kind);

// In lower-case hexadecimal, of the text of the Ignition config.
std::string ConfigDigest(const MachineConfig& config);

api::MachineConfig ToObject(const MachineConfig& config);

}  // namespace pintle::generated
