// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of the configs that are made from KubeletConfigs and ContainerRuntimeConfigs.
//
// Several objects of one kind may select the same pool, and the names of their configs decide which object wins.  The
// first name is 99-worker-generated-kubelet, the next is 99-worker-generated-kubelet-1, and so on up to -9.  An object
// keeps its number, which is stored in an annotation of the object.  A number that has become free is not used again
// while a higher number is in use.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/machine_config_pool.h"
#include "api/meta.h"
#include "base/result.h"

namespace pintle::generated {

// An annotation of a KubeletConfig or a ContainerRuntimeConfig: "" or the number at the end of the name of its config.
inline constexpr std::string_view kNameSuffixAnnotation = "machineconfiguration.openshift.io/mc-name-suffix";

enum class ManagedKind { kKubelet, kContainerRuntime };

// Returns the name without a number, such as 99-worker-generated-kubelet.
std::string PlainName(ManagedKind kind, std::string_view pool);

struct ManagedName {
  std::string name;
  // Set if a config has the name that older operators used.  The caller first has to replace that config by a config of
  // the new name with the same role and Ignition config.
  std::optional<std::string> takes_over;
};

using HasConfig = std::function<bool(const std::string& name)>;

// Returns the name that older operators gave a config: 98-worker-UID-kubelet.
std::string OldConfigName(std::string_view number, const api::ObjectMeta& pool, std::string_view word);

// Returns the name of older operators (98-worker-UID-kubelet) if a config has it and no config has the new name.  Both
// names begin with `number`, and the old name ends with `word`.
std::optional<std::string> ConfigOfOldName(const std::string& new_name, std::string_view number,
                                           const api::ObjectMeta& pool, std::string_view word,
                                           const HasConfig& has_config);

// Chooses the name of the config that is made from `object` for `pool`.  `objects_of_pool` has all objects of this kind
// whose selectors match the pool, including `object`.  It may also have objects of other pools; then the numbers of
// these objects are not used either.
Result<ManagedName> NameFor(ManagedKind kind, const api::ObjectMeta& object,
                            std::span<const api::ObjectMeta* const> objects_of_pool, const api::ObjectMeta& pool,
                            const HasConfig& has_config);

// Returns the value of kNameSuffixAnnotation for an object whose config has this name.
std::string NameSuffixOf(std::string_view config_name);

// Returns whether another build of the controller has made a config of the cluster, so that the config has to be
// removed once its successors exist.  Returns false unless the name of the config begins with `number` ("97", "98" or
// "99") and contains `word` after "generated-".  A config that is not annotated with a build belongs to someone else,
// even if its name matches.
bool IsMadeByAnotherVersion(const api::ObjectMeta& config, std::string_view number, std::string_view word,
                            std::string_view controller_version);

}  // namespace pintle::generated
