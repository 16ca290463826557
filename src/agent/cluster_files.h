// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that a cluster gives to each node in addition to its config: certificate authorities, and a pull secret.
//
// The ControllerConfig holds them.  They change without a new rendered config, for example when certificates are
// renewed.  They need neither a drain nor a restart, because the programs that use them read them again.  The files are
// copies that nobody should edit: whenever the ControllerConfig is read, a file that differs is written again, unless
// an annotation of the node makes its files wait.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "api/waiting_files.h"
#include "base/result.h"
#include "base/root.h"
#include "json/field_list.h"
#include "kube/resource_kind.h"

namespace pintle::agent {

// The folder in which container runtimes look for the authorities of registries.
inline constexpr const char* kRegistryAuthorities = "/etc/docker/certs.d";

// The authorities of one registry.  `file` is its name with ".." for each colon: "registry.example.com..5000".
struct RegistryBundle {
  std::string file;
  std::string data;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"file", &RegistryBundle::file},
      json::Required{"data", &RegistryBundle::data},
  };
};

// All data is in base64.
struct ClusterFilesSpec {
  std::string kubelet_authorities;
  std::string cloud_authorities;
  std::string internal_pull_secret;
  std::vector<RegistryBundle> registries;
  std::vector<RegistryBundle> user_registries;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"kubeAPIServerServingCAData", &ClusterFilesSpec::kubelet_authorities},
      json::Field{"cloudProviderCAData", &ClusterFilesSpec::cloud_authorities},
      json::Field{"internalRegistryPullSecret", &ClusterFilesSpec::internal_pull_secret},
      json::Field{"imageRegistryBundleData", &ClusterFilesSpec::registries},
      json::Field{"imageRegistryBundleUserData", &ClusterFilesSpec::user_registries},
  };
};

// The part of a ControllerConfig that becomes files.
struct ClusterFilesSource {
  api::ObjectMeta metadata;
  ClusterFilesSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ClusterFilesSource::metadata},
      json::Required{"spec", &ClusterFilesSource::spec},
  };
};

struct ClusterFile {
  std::string path;
  std::string contents;
  // A secret file gets the mode 0600.  Any other file keeps the mode that it has, or gets 0644 if it is new.
  bool is_secret = false;
};

struct ClusterFiles {
  std::vector<ClusterFile> files;
  std::vector<std::string> registries;  // The names of the registries' folders, sorted, each once.
};

// Decodes the files of a ControllerConfig.  The error lists everything that is wrong with them.
Result<ClusterFiles> FilesOf(const ClusterFilesSource& source);

// Writes the files that differ, each whole or not at all, and removes the authorities of registries that an earlier
// call wrote and `wanted` no longer names.  Returns the paths of the files that changed.
Result<std::vector<std::string>> PutClusterFiles(const Root& root, const ClusterFiles& wanted);

// Returns the files that PutClusterFiles() would change, each with the certificate that net::LastToExpire() chooses
// from those in the file on the disk, if there are any.
Result<std::vector<api::WaitingFile>> FilesThatWait(const Root& root, const ClusterFiles& wanted);

}  // namespace pintle::agent

template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::agent::ClusterFilesSource> = {
    pintle::kube::kMachineConfigGroup, "v1", "controllerconfigs", "ControllerConfig"};
