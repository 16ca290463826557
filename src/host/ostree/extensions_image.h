// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packages of extensions and of other kernels, which come in a separate image.
//
// While the image is unpacked, rpm-ostree finds the packages in a local repository.  They are on the disk and not in
// /run, where some hundred megabytes would take up memory.

#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/ostree/how_far.h"
#include "host/ostree/skopeo.h"

namespace pintle::host {

inline constexpr const char* kExtensionsDirectory = "/var/lib/pintle/extensions";
inline constexpr const char* kExtensionsRepository = "/etc/yum.repos.d/coreos-extensions.repo";

// Only one may exist at a time.  What a killed process has left behind is removed by the next Unpack().
class ExtensionsImage {
 public:
  // `root` is "/" or, in tests, a directory in its place.
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
