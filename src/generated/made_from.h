// SPDX-License-Identifier: Apache-2.0
#pragma once

// What generated configs are made from, for previews that choose.

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

// Selects what configs are made from; empty for everything.
struct MadeFromOnly {
  std::set<MadeFrom> sources = {};

  bool Has(MadeFrom from) const { return sources.empty() || sources.contains(from); }
  bool Is(MadeFrom from) const { return sources == std::set{from}; }
};

}  // namespace pintle::generated
