// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inputs of the cases of ContainerRuntimeConfigs and of images.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_pool.h"
#include "generated/runtime_templates.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/objects.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/role_templates.h"

namespace pintle::vectors {

// The objects of a case.  For each kind that the case does not have, they include the objects that all cases share.
class CaseObjects {
 public:
  // `name` is the name of the case, and of its folder in `folder`.
  CaseObjects(const std::filesystem::path& folder, const std::string& name);

  // Returns all objects of the kind, or an error if one of them cannot be decoded.
  template <typename T>
  Result<std::vector<T>> All(std::string_view kind) const {
    std::vector<T> objects;
    for (const json::Value& document : documents_) {
      if (machineconfig::KindOf(document) == kind) {
        objects.push_back(TRY(machineconfig::ReadObject<T>(document, kind)));
      }
    }
    return objects;
  }

  std::vector<api::MachineConfigPool> Pools() const;
  // Returns whether the FeatureGate object enables this feature gate for any release.
  bool IsEnabled(std::string_view feature_gate) const;
  // Returns the first object of the kind, or nullptr if there is none.
  const json::Value* Find(std::string_view kind) const;
  // Returns the release image of the ControllerConfig, or "" if there is none.
  std::string ReleaseImage() const;

 private:
  std::vector<json::Value> documents_;
};

// The files of the container tools that templates make, by the name of the pool.
using RuntimeTemplatesOfPools = std::map<std::string, generated::RuntimeTemplates>;

Result<RuntimeTemplatesOfPools> TemplatesOf(const CaseObjects& objects, const RoleTemplates& templates);

}  // namespace pintle::vectors
