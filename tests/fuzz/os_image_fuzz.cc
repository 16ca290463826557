// SPDX-License-Identifier: Apache-2.0

// Names of images, their documents and kernel arguments are parsed or refused.  The name of an image in a registry
// means the same when it is written again, and merged arguments stay the same when they are merged again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/ostree/disk_space.h"
#include "host/ostree/image_name.h"
#include "host/ostree/kernel_arguments.h"
#include "host/ostree/oci_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace host = pintle::host;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto name = host::ParseImageName(input)) {
    if (const auto* image = std::get_if<host::RegistryImage>(&*name)) {
      const auto again = host::ParseImageName(host::PullSpec(*image));
      if (!again || *again != *name) std::abort();
    }
  }
  static_cast<void>(host::ImageOfReference(input));
  static_cast<void>(host::ParseOciConfig(input));
  if (const auto manifest = host::ParseOciManifest(input)) {
    if (const auto* image = std::get_if<host::OciManifest>(&*manifest)) {
      static_cast<void>(host::SpaceFor(image->layers));
    } else {
      static_cast<void>(host::WithTag(std::get<host::OciIndex>(*manifest), ""));
      static_cast<void>(host::ForMachine(std::get<host::OciIndex>(*manifest), "x86_64"));
    }
  }
  const auto arguments = host::SplitKernelArguments(input);
  const auto once = host::MergedKernelArguments(arguments, {}, arguments);
  if (host::MergedKernelArguments(once, {}, arguments) != once) std::abort();
  return 0;
}
