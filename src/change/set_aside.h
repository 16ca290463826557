// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way out of what Pintle keeps on a machine and cannot use any more: a journal, contents or a config that is
// truncated, garbage, of another version, too large, not to be read, or no file at all.
//
// It is moved to a directory of its own below /var/lib/pintle/set-aside, for a person to look at.  What that leaves
// open is what the machine is found to be then: a change in the journal neither goes on nor is undone.

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "json/fields.h"

namespace pintle::change {

struct SetAside {
  std::string path;
  std::string why;
  std::string kept_as;

  static constexpr auto kFields = json::FieldList{
      json::Required{"path", &SetAside::path},
      json::Required{"why", &SetAside::why},
      json::Required{"keptAs", &SetAside::kept_as},
  };
};

// To be called by whoever holds the claim to the machine.  What can be used stays where it is.
Result<std::vector<SetAside>> SetAsideUnusable(const Root& root, WallTime now);

}  // namespace pintle::change
