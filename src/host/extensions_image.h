// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packages of extensions and of other kernels, which come in an image of their own.
//
// While it is unpacked, rpm-ostree finds them in a repository on the disk.  They lie where the disk is, and not in
// /run, where some hundred megabytes would take up memory.

#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/how_far.h"
#include "host/skopeo.h"

namespace pintle::host {

inline constexpr const char* kExtensionsDirectory = "/var/lib/pintle/extensions";
inline constexpr const char* kExtensionsRepository = "/etc/yum.repos.d/coreos-extensions.repo";

// One at a time.  What one left behind that was killed goes with the next.
class ExtensionsImage {
 public:
  // `root` is "/" or, for tests, a directory in its place.
  static Result<ExtensionsImage> Unpack(std::string root, const std::string& image, const RegistryAccess& access,
                                        const std::stop_token& stop, const TellHowFar& tell = {});
  ExtensionsImage(ExtensionsImage&& other) noexcept;
  ExtensionsImage& operator=(ExtensionsImage&&) = delete;
  ~ExtensionsImage();

 private:
  explicit ExtensionsImage(std::string root) : root_(std::move(root)) {}

  std::string directory() const { return root_ + kExtensionsDirectory; }
  Result<> Remove() const;
  Result<> Fetch(const RegistryImage& image, const RegistryAccess& access, const std::stop_token& stop,
                 const TellHowFar& tell) const;
  Result<> Offer() const;

  std::string root_;
  bool is_there_ = true;
};

}  // namespace pintle::host
