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
  // `folder` is the folder of the kind.
  CaseObjects(const std::filesystem::path& folder, const std::string& name);

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
  bool IsEnabled(std::string_view feature_gate) const;
  // Returns nullptr if there is no object of the kind.
  const json::Value* Find(std::string_view kind) const;
  std::string ReleaseImage() const;

 private:
  std::vector<json::Value> documents_;
};

// The files of the container tools that templates make, by the name of the pool.
using RuntimeTemplatesOfPools = std::map<std::string, generated::RuntimeTemplates>;

Result<RuntimeTemplatesOfPools> TemplatesOf(const CaseObjects& objects, const RoleTemplates& templates);

}  // namespace pintle::vectors
