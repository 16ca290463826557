// SPDX-License-Identifier: Apache-2.0
#pragma once

// Unpacks the packages of extensions and of other kernels, which come in a separate image.
//
// While the unpacked image exists, rpm-ostree finds its packages in a local repository.  The packages are on the disk
// and not in /run, where some hundred megabytes would use up memory.

#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/skopeo.h"

namespace pintle::host {

inline constexpr const char* kExtensionsDirectory = "/var/lib/pintle/extensions";
inline constexpr const char* kExtensionsRepository = "/etc/yum.repos.d/coreos-extensions.repo";

// An unpacked image.  Only one may exist at a time on a machine, so Unpack() fails while another process has one.  If
// the process is killed, the next Unpack() removes the packages.
class ExtensionsImage {
 public:
  // `root` is "/" or, in tests, a directory in its place.
  static Result<ExtensionsImage> Unpack(std::string root, const std::string& image, const RegistryAccess& access,
                                        const std::stop_token& stop, const ProgressCallback& report = {});
  ExtensionsImage(ExtensionsImage&& other) noexcept;
  ExtensionsImage& operator=(ExtensionsImage&&) = delete;
  ~ExtensionsImage();

 private:
  explicit ExtensionsImage(std::string root) : root_(std::move(root)) {}

  std::string directory() const { return root_ + kExtensionsDirectory; }
  Result<> Lock();
  Result<> Remove() const;
  Result<> Fetch(const RegistryImage& image, const RegistryAccess& access, const std::stop_token& stop,
                 const ProgressCallback& report) const;
  Result<> ExpectRoom(const OciManifest& manifest) const;
  Result<> WriteRepositoryFile() const;

  std::string root_;
  UniqueFd lock_;
  bool is_there_ = false;  // True if this object has the lock and must remove the packages.
};

}  // namespace pintle::host
