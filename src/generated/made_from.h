// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of objects that configs are generated from.  A preview can choose among them.

#include <set>

namespace pintle::generated {

enum class MadeFrom {
  kTemplates,
  kNodeSettings,
  kFeatureGate,
  kKubeletConfigs,
  kRuntimeConfigs,
  kImages,
  kCredentialProviders
};

// Limits the configs that are made to those with one of these sources.  An empty set selects all sources.
struct MadeFromOnly {
  std::set<MadeFrom> sources = {};

  bool Has(MadeFrom from) const { return sources.empty() || sources.contains(from); }
  bool Is(MadeFrom from) const { return sources == std::set{from}; }
};

}  // namespace pintle::generated
