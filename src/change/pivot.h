// SPDX-License-Identifier: Apache-2.0
#pragma once

// The OS image of a machine, changed by hand.
//
// The config that the machine has stays what it is, and says another image from then on, which is found as such.  All
// else is a change like others, that comes with the next boot: the journal has it, the files of the config win when
// /etc is merged, and it is undone if the new image does not boot.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/apply.h"
#include "host/deployments.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::change {

struct Pivot {
  std::string image;                       // As image_name.h names it; empty: the one that is booted.
  std::vector<std::string> add_arguments;  // Kernel arguments; the others stay.
  std::vector<std::string> remove_arguments;
  bool even_if_booted = false;  // Make another deployment of an image that is booted.
};

// With every byte here.
struct PreparedPivot {
  host::DeployedImage booted;
  host::FetchedImage image;  // With the digest in its name.
  std::vector<std::string> add_arguments;
  std::vector<std::string> remove_arguments;
  bool is_booted = false;    // The image is.
  bool is_needless = false;  // And there is nothing else to do.
};

// Changes nothing but the store of images.
Result<PreparedPivot> Prepare(const host::Host& host, const Pivot& pivot, const Progress& progress);

// `config` is the one that the machine has.
Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& config, const PreparedPivot& pivot,
                     const Progress& progress);

}  // namespace pintle::change
