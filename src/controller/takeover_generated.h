// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the MachineConfigs that Pintle would generate in a cluster of the Machine Config Operator, and compares them
// with those that the cluster has.

#include <vector>

#include "base/clock.h"
#include "controller/sources_view.h"
#include "controller/takeover_finding.h"
#include "controller/view.h"
#include "generated/template_folder.h"

namespace pintle::controller {

// Returns a finding for each difference.  A difference is an obstacle if it would give a rendered config another name.
// The finding names the config and the places that differ.  Findings contain paths and names, but no contents, which
// may be secret.
std::vector<TakeoverFinding> CompareGenerated(const View& view, const SourcesView& sources,
                                              const generated::TemplateFolder& templates, WallTime now);

}  // namespace pintle::controller
