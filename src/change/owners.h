// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owners that a config names, as the numbers that the machine has for them.

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/files.h"

namespace pintle::change {

// Looks each name up once.
class Owners {
 public:
  // `root` must outlive it.
  explicit Owners(const Root& root) : root_(root) {}

  // From here on an owner is a number.  A name that the machine does not know is an error.
  Result<> Resolve(host::FilePut& file);

 private:
  const Root& root_;
  std::map<std::string, std::int64_t> users_;
  std::map<std::string, std::int64_t> groups_;
};

// The same for one file.
Result<> ResolveOwners(const Root& root, host::FilePut& file);

}  // namespace pintle::change
