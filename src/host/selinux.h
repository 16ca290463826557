// SPDX-License-Identifier: Apache-2.0
#pragma once

// The SELinux label that the policy has for a path.

#include <memory>
#include <optional>
#include <string>

#include "resource/file_entry.h"

namespace pintle::host {

class Labels {
 public:
  // None for any path.
  Labels() = default;

  // Those of the policy that this machine runs with; none where SELinux is off.  The policy is read when the first
  // label is asked for, which takes some milliseconds: keep and pass the object.
  static Labels OfThisMachine();

  // Those of a file in the format of file_contexts(5), whether SELinux is on or not.
  static Labels FromFile(std::string path);

  // Nothing where the policy has no label, or cannot be read.
  std::optional<std::string> LabelFor(const std::string& path, resource::EntryKind kind) const;

 private:
  class Policy;
  explicit Labels(std::shared_ptr<Policy> policy) : policy_(std::move(policy)) {}

  std::shared_ptr<Policy> policy_;
};

}  // namespace pintle::host
