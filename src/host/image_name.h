// SPDX-License-Identifier: Apache-2.0
#pragma once

// How an image of the OS is named.
//
//     registry.example/os@sha256:4f0a...   an OCI image in a registry, as it is or as a tag says
//     oci:/some/directory[:TAG]            an OCI image in a local layout
//     remote:branch/of/it                  a branch of an OSTree remote; without the remote, a local one
//     4f0a...                              a commit that is here

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace pintle::host {

struct RegistryImage {
  std::string repository;  // HOST[:PORT]/PATH
  std::string tag;         // Empty when there is a digest, which says more.
  std::string digest;      // "sha256:4f0a..."
  bool operator==(const RegistryImage&) const = default;
};

struct LayoutImage {
  std::string directory;
  std::string tag;  // Empty: the only one.
  bool operator==(const LayoutImage&) const = default;
};

struct OstreeBranch {
  std::string remote;  // Empty: of the local repository.
  std::string branch;
  bool operator==(const OstreeBranch&) const = default;
};

struct OstreeCommit {
  std::string checksum;
  bool operator==(const OstreeCommit&) const = default;
};

using ImageName = std::variant<RegistryImage, LayoutImage, OstreeBranch, OstreeCommit>;

// Also with "docker://" in front.  A registry is known by its host's name: it has a dot or a port, or is localhost.
Result<ImageName> ParseImageName(std::string_view text);

// As a registry's clients want it: HOST/PATH@sha256:... or HOST/PATH:TAG.
std::string PullSpec(const RegistryImage& image);

// What an origin file calls a container image, and the image in what others have written there:
// "ostree-unverified-registry:HOST/PATH@sha256:...".
std::string ContainerReference(const RegistryImage& image);
std::string ContainerReference(const LayoutImage& image);
std::string ImageOfReference(std::string_view reference);

}  // namespace pintle::host
