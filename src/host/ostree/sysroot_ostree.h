// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the deployments on a disk with libostree.

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/ostree/deployments.h"
#include "host/ostree/types_ostree.h"

namespace pintle::host {

// The group and the keys in the origin file of a deployment.
inline constexpr const char* kOrigin = "origin";  // The group.
inline constexpr const char* kContainerKey = "container-image-reference";
inline constexpr const char* kBranchKey = "refspec";

// The deployments on a disk, in the order in which the boot loader offers them.
class Sysroot {
 public:
  static Result<Sysroot> Open(const std::string& path);

  // Makes the sysroot writable, even while another process holds its lock.  The result holds no lock.  This needs a
  // mount namespace of our own.
  static Result<Sysroot> OpenToWrite(const std::string& path);

  // Makes the sysroot writable and keeps its lock.  This needs a mount namespace of our own.
  static Result<Sysroot> OpenLocked(const std::string& path, std::chrono::milliseconds patience);

  OstreeSysroot* get() const { return sysroot_.get(); }
  OstreeRepo* repository() const { return ::ostree_sysroot_repo(sysroot_.get()); }
  // Returns a path that other programs can use.  libostree's own path of the repository is below /proc/self/fd.
  std::string repository_path() const { return path_ + "/ostree/repo"; }
  OstreeDeployment* booted() const { return ::ostree_sysroot_get_booted_deployment(sysroot_.get()); }
  OstreeDeployment* staged() const { return ::ostree_sysroot_get_staged_deployment(sysroot_.get()); }
  bool is_booted() const { return booted() != nullptr; }

  // Returns all deployments; the next boot takes the first.
  std::vector<OstreeDeployment*> All() const;

  // Return the deployment for the next boot, and the one that was booted before, as in DeploymentsState; or null.
  OstreeDeployment* pending() const;
  OstreeDeployment* rollback() const;

  // Returns the deployment from which the next one takes kernel arguments and /etc, or null if there is no deployment.
  OstreeDeployment* merge() const;

  // Writes the boot loader's entries for these deployments, in this order, and removes the files of all other
  // deployments.
  Result<> Write(const std::vector<OstreeDeployment*>& deployments) const;

  // Removes directories and boot files of former deployments.  Does not prune the repository.
  Result<> RemoveLeftovers() const;

 private:
  static Result<Sysroot> ForPath(const std::string& path);

  Sysroot(std::string path, Object<OstreeSysroot> sysroot) : path_(std::move(path)), sysroot_(std::move(sysroot)) {}

  Result<> Load() const;

  Result<bool> TryLock() const;

  Result<> Lock(std::chrono::milliseconds patience) const;

  std::string path_;
  Object<OstreeSysroot> sysroot_;
};

std::string CommitOf(OstreeDeployment* deployment);
std::vector<std::string> ArgumentsOf(OstreeDeployment* deployment);
// Return the value of a key in the group kOrigin of an origin file, or "".
std::string OriginText(GKeyFile* origin, const char* key);
std::string FromOrigin(OstreeDeployment* deployment, const char* key);

// Returns nullopt if `deployment` is null.
Result<std::optional<DeployedImage>> DescribeIfAny(const Sysroot& sysroot, OstreeDeployment* deployment);

bool Exists(const std::string& path);

}  // namespace pintle::host
