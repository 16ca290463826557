// SPDX-License-Identifier: Apache-2.0
#pragma once

// The real deployments of a node, for the program that replaces rpm-ostree's daemon.
//
// This program installs no RPMs.  Instead, a layered package is a file below /usr/share/packages, in a commit whose
// parent is the image's commit.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/ostree/deployments_ostree.h"
#include "host/ostree/types_ostree.h"

namespace pintle::test {

// The changes that a client of rpm-ostree requests, with rpm-ostree's names for them.
struct Modifiers {
  std::string refspec;
  std::vector<std::string> install;
  std::vector<std::string> uninstall;
  std::vector<std::string> override_remove;
  std::vector<std::string> override_reset;
  bool is_idempotent = false;
  bool is_download_only = false;
  bool is_cache_only = false;
};

// Gives access to the deployments, and holds the sysroot's lock as long as it exists, as a transaction of rpm-ostree
// does.
class LockedDisk {
 public:
  // Returns nullopt if someone else holds the lock.  The process must have a mount namespace of its own.
  static Result<std::optional<LockedDisk>> TryLock(host::RegistryAccess registries);
  LockedDisk(LockedDisk&&) noexcept = default;
  LockedDisk& operator=(LockedDisk&&) = delete;
  ~LockedDisk();

  std::string booted_os() const;

  Result<> Update(const Modifiers& modifiers, const std::stop_token& stop);
  Result<> SetKernelArguments(const std::string& all);
  Result<> DropPending();

 private:
  // A deployment that is being made, beginning with the pending one or else the booted one.
  struct Draft {
    std::string commit;  // The commit with the packages.
    std::string base;    // The image's commit.
    host::KeyFile origin;
    std::vector<std::string> arguments;
  };

  LockedDisk(host::Object<OstreeSysroot> sysroot, host::RegistryAccess registries);

  OstreeRepo* repository() const;
  OstreeDeployment* booted() const;
  OstreeDeployment* first() const;  // The deployment that boots next.
  Result<Draft> Begin() const;
  Result<> Rebase(Draft& draft, const Modifiers& modifiers, const std::stop_token& stop) const;
  // Makes a commit that has the requested packages, and returns its checksum.
  Result<std::string> Layered(const Draft& draft) const;
  Result<> Stage(const Draft& draft) const;

  host::Object<OstreeSysroot> sysroot_;
  host::RegistryAccess registries_;
};

}  // namespace pintle::test
