// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of the configs that are made from KubeletConfigs and ContainerRuntimeConfigs.
//
// Several of one kind may be for one pool, and the name of each decides which of them has the last word: the first is
// 99-worker-generated-kubelet, the next 99-worker-generated-kubelet-1, up to -9.  A number, once given, is kept: it is
// written into an annotation of the object that the config is made from, and a number that became free is not given
// again while a higher one is in use.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/machine_config_pool.h"
#include "api/meta.h"
#include "base/result.h"

namespace pintle::generated {

// Of a KubeletConfig or a ContainerRuntimeConfig: "" or the number behind the name of its config.
inline constexpr std::string_view kNameSuffixAnnotation = "machineconfiguration.openshift.io/mc-name-suffix";

enum class ManagedKind { kKubelet, kContainerRuntime };

// 99-worker-generated-kubelet
std::string PlainName(ManagedKind kind, std::string_view pool);

struct ManagedName {
  std::string name;
  // A config with the name of an older operator that is to be replaced by one of this name, with the same role and
  // Ignition config and nothing else, before anything is made of it.
  std::optional<std::string> takes_over;
};

using HasConfig = std::function<bool(const std::string& name)>;

// What older operators named 98-worker-UID-kubelet, where there is one and nothing of its new name yet.  `number` is
// what both names begin with, and `word` what the old one ends with.
std::optional<std::string> ConfigOfOldName(const std::string& new_name, std::string_view number,
                                           const api::ObjectMeta& pool, std::string_view word,
                                           const HasConfig& has_config);

// What the config is named that is made from `object` for `pool`.  `of_pool` are all objects of this kind whose
// selectors match the pool, with `object` among them.
Result<ManagedName> NameFor(ManagedKind kind, const api::ObjectMeta& object,
                            std::span<const api::ObjectMeta* const> of_pool, const api::ObjectMeta& pool,
                            const HasConfig& has_config);

// What belongs into the annotation of an object whose config has this name.
std::string SuffixOf(std::string_view config_name);

}  // namespace pintle::generated
