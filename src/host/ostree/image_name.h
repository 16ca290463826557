// SPDX-License-Identifier: Apache-2.0
#pragma once

// The syntax of names for images of the OS.
//
//     registry.example/os@sha256:4f0a...   an OCI image in a registry, by digest or by tag
//     oci:/some/directory[:TAG]            an OCI image in a local layout
//     remote:some/branch                   a branch of an OSTree remote; without "remote:", a local branch
//     4f0a...                              a commit in the local repository

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace pintle::host {

struct RegistryImage {
  std::string repository;  // HOST[:PORT]/PATH
  std::string tag;         // Empty if there is a digest, which is more precise.
  std::string digest;      // "sha256:4f0a..."
  bool operator==(const RegistryImage&) const = default;
};

struct LayoutImage {
  std::string directory;
  std::string tag;  // Empty if the layout has only one image.
  bool operator==(const LayoutImage&) const = default;
};

struct OstreeBranch {
  std::string remote;  // Empty for the local repository.
  std::string branch;
  bool operator==(const OstreeBranch&) const = default;
};

struct OstreeCommit {
  std::string checksum;
  bool operator==(const OstreeCommit&) const = default;
};

using ImageName = std::variant<RegistryImage, LayoutImage, OstreeBranch, OstreeCommit>;

// Parses a name of any of these kinds.  A name in a registry may begin with "docker://".  Its host must have a dot or a
// port, or be localhost.
Result<ImageName> ParseImageName(std::string_view text);

// Formats the name for registry clients: HOST/PATH@sha256:... or HOST/PATH:TAG.
std::string PullSpec(const RegistryImage& image);

// Convert names of images to the references in origin files, such as "ostree-unverified-registry:HOST/PATH@sha256:...",
// and back.  ImageOfReference() also reads the forms that other programs write.
std::string ContainerReference(const RegistryImage& image);
std::string ContainerReference(const LayoutImage& image);
std::string ImageOfReference(std::string_view reference);

}  // namespace pintle::host
