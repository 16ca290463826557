// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of objects from which configs are generated.  A preview can choose among them.

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

// Selects the kinds of objects from which configs are made.  An empty set selects all kinds.
struct MadeFromFilter {
  std::set<MadeFrom> sources = {};

  // Returns whether configs are made from this kind.
  bool Has(MadeFrom from) const { return sources.empty() || sources.contains(from); }
  // Returns whether configs are made from this kind and from no other.
  bool Is(MadeFrom from) const { return sources == std::set{from}; }
};

}  // namespace pintle::generated
