// SPDX-License-Identifier: Apache-2.0
#pragma once

// Images from registries, by the program that knows them all: mirrors, pull secrets, policies of signatures.

#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/how_far.h"
#include "host/image_name.h"
#include "host/oci_image.h"
#include "host/program.h"

namespace pintle::host {

// Mirrors and signatures are what the machine's own registries.conf and policy.json say.
struct RegistryAccess {
  std::string auth_file;     // Pull secrets; empty: none.
  std::string certificates;  // A directory with authorities to trust beside the system's; empty: none.
  std::string policy;        // Of signatures; empty: the machine's.
  // Counts instead of the other when it is there, and JSON.
  std::string preferred_auth_file = {};
};

// The file with the pull secrets as things are now; empty: none.
std::string AuthFileOf(const RegistryAccess& access);

class Skopeo {
 public:
  // What it makes on the way, it makes in `scratch`.
  Skopeo(RegistryAccess access, std::string scratch) : access_(std::move(access)), scratch_(std::move(scratch)) {}

  // The bytes that the registry has for the name: of an image or of an index of them.
  Result<std::string> Manifest(const RegistryImage& image, const std::stop_token& stop) const;
  Result<std::string> Config(const RegistryImage& image, const std::stop_token& stop) const;

  // Copies what an image is made of into the directory's blobs/sha256/.  What is there under its digest is not fetched,
  // whatever it holds.
  Result<> Copy(const RegistryImage& image, const OciManifest& manifest, const std::string& directory,
                const std::stop_token& stop, const TellHowFar& tell = {}) const;

 private:
  Program Call(const char* verb) const;

  RegistryAccess access_;
  std::string scratch_;
};

}  // namespace pintle::host
