// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moves away files of Pintle that cannot be used any more: the journal with its contents, the current config or image,
// and the records of a rejection, of a staged image, of ignored things and of the policy.  They may be truncated,
// garbage, too large, unreadable, not files at all, or written by a newer Pintle.  Other records are only moved if a
// newer Pintle wrote them.
//
// Each call moves these files to a new directory below /var/lib/pintle/set-aside, where a person can look at them.  A
// file on another file system gets a new name in its own directory instead.  The machine stays as it is: a change in
// the journal is neither continued nor undone.

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "json/field_list.h"

namespace pintle::change {

struct SetAside {
  std::string path;
  std::string why;
  std::string kept_as;  // The path to which it was moved.

  static constexpr auto kFields = json::FieldList{
      json::Required{"path", &SetAside::path},
      json::Required{"why", &SetAside::why},
      json::Required{"keptAs", &SetAside::kept_as},
  };
};

// The caller must hold the claim to the machine.  Files that can be used stay where they are.
Result<std::vector<SetAside>> SetAsideUnusable(const Root& root, WallTime now);

}  // namespace pintle::change
