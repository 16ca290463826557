// SPDX-License-Identifier: Apache-2.0
#pragma once

// Resolves owners that a config names to the ids of this machine.

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/files/files.h"

namespace pintle::change {

// Each name is looked up once.
class Owners {
 public:
  // `root` must outlive this object.
  explicit Owners(const Root& root) : root_(root) {}

  // Replaces the names in `file` by ids.  A name that the machine does not know is an error.
  Result<> Resolve(host::FilePut& file);

 private:
  const Root& root_;
  std::map<std::string, std::int64_t> users_;
  std::map<std::string, std::int64_t> groups_;
};

// Resolves the owners of one file.
Result<> ResolveOwners(const Root& root, host::FilePut& file);

}  // namespace pintle::change
