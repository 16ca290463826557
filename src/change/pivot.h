// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes the OS image of a machine by hand.
//
// The machine's config stays as it is.  So the config names another image than the machine then has, and each look
// reports that as a finding.  In all other respects, a pivot is like any change that takes effect with the next boot:
// it is in the journal, the config's files win when /etc is merged, and it is undone if the new image does not boot.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/apply.h"
#include "host/host.h"
#include "host/ostree/deployments.h"
#include "plan/plan.h"

namespace pintle::change {

struct Pivot {
  std::string image;                       // A name as in host/ostree/image_name.h; empty for the booted image.
  std::vector<std::string> add_arguments;  // Kernel arguments to add; the others stay.
  std::vector<std::string> remove_arguments;
  bool even_if_booted = false;  // Make a new deployment even if the image is booted already.
};

// A pivot whose image is stored on the machine.
struct PreparedPivot {
  host::DeployedImage booted;
  host::FetchedImage image;  // Its name includes the digest.
  std::vector<std::string> add_arguments;
  std::vector<std::string> remove_arguments;
  bool is_booted = false;    // The image is booted already.
  bool is_needless = false;  // There is nothing to do.
};

// Fetches the image.  Changes nothing but the store of images.
Result<PreparedPivot> Prepare(const host::Host& host, const Pivot& pivot, const Progress& progress);

// Makes the change that lets the machine boot the image.  `config` is the config that the machine has.
Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& config, const PreparedPivot& pivot,
                     const Progress& progress);

}  // namespace pintle::change
