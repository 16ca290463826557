// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks up the SELinux label that the policy has for a path.

#include <memory>
#include <optional>
#include <string>

#include "base/root.h"
#include "resource/file_entry.h"

namespace pintle::host {

class Labels {
 public:
  // Makes an object that has no label for any path.
  Labels() = default;

  // Uses the policy that this machine runs with, or no labels if SELinux is off.  The policy is read when the first
  // label is looked up.  Reading it takes some milliseconds, so keep the object and pass it on.
  static Labels OfThisMachine();

  // Uses a file in the format of file_contexts(5), whether SELinux is on or not.
  static Labels FromFile(std::string path);

  // Returns the labels for another file tree, such as the next deployment: those of the policy in the tree's own
  // /etc/selinux, or those of this object if the tree has no policy that can be read.  If this object has no labels,
  // the result has none either.
  Labels ForTree(const Root& tree) const;

  // Returns nullopt if the policy has no label for the path or cannot be read.
  std::optional<std::string> LabelFor(const std::string& path, resource::EntryKind kind) const;
  // Returns the value of the extended attribute for this label, which ends with a zero byte.
  std::optional<std::string> AttributeFor(const std::string& path, resource::EntryKind kind) const;

 private:
  class Policy;
  explicit Labels(std::shared_ptr<Policy> policy) : policy_(std::move(policy)) {}

  std::shared_ptr<Policy> policy_;
};

}  // namespace pintle::host
