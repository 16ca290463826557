// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fetches images from registries with skopeo, which supports mirrors, pull secrets and policies for signatures.

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/image_name.h"
#include "host/ostree/oci_image.h"
#include "host/program.h"

namespace pintle::host {

// Describes how registries are accessed.  The machine's own registries.conf always applies.
struct RegistryAccess {
  std::string auth_file;     // A file with pull secrets, or "".
  std::string certificates;  // A directory with certificate authorities beside the system's, or "".
  std::string policy;        // The policy file for signatures; empty for the machine's own.
  // This file is used instead of `auth_file` if it exists and is JSON.
  std::string preferred_auth_file = {};
};

// Returns the file of `access` whose pull secrets are used now, or "" if neither file can be used.
std::string AuthFileOf(const RegistryAccess& access);

// Limits the time for which a registry may be silent.  After this time, the call fails with kUnavailable.
struct SkopeoPatience {
  std::chrono::milliseconds document = std::chrono::minutes(2);  // Limits the time until a whole document has arrived.
  std::chrono::milliseconds silence = std::chrono::minutes(5);   // Limits the time between two bytes of a blob.
};

class Skopeo {
 public:
  // Temporary files are made in `scratch`.
  Skopeo(RegistryAccess access, std::string scratch, SkopeoPatience patience = {})
      : access_(std::move(access)), scratch_(std::move(scratch)), patience_(patience) {}

  // Returns the unchanged text of the registry's document: the manifest of an image, or an index of images.
  Result<std::string> Manifest(const RegistryImage& image, const std::stop_token& stop) const;
  // Returns the unchanged text of the configuration of an image.
  Result<std::string> Config(const RegistryImage& image, const std::stop_token& stop) const;

  // Copies the blobs of an image into the directory's blobs/sha256/.  A blob whose file exists is not fetched,
  // whatever the file contains.
  Result<> Copy(const RegistryImage& image, const OciManifest& manifest, const std::string& directory,
                const std::stop_token& stop, const ProgressCallback& report = {}) const;

 private:
  Program ProgramFor(const char* verb) const;

  RegistryAccess access_;
  std::string scratch_;
  SkopeoPatience patience_;
};

}  // namespace pintle::host
