// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime_pass.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/managed_pass.h"
#include "generated/container_runtime_status.h"
#include "generated/runtime_templates.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

// The ManagedRules of managed_pass.h for ContainerRuntimeConfigs.
class RuntimeRules {
 public:
  using Object = api::ContainerRuntimeConfig;
  static constexpr auto kManagedKind = generated::ManagedKind::kContainerRuntime;
  static constexpr auto kSourceKind = SourceKind::kContainerRuntimeConfig;
  static constexpr auto kMadeFrom = MadeFrom::kRuntimeConfigs;

  RuntimeRules(const GenerateInputs& inputs, generated::PoolTemplates& templates, generated::AdditionalStores stores)
      : inputs_(inputs), templates_(templates), stores_(stores) {}

  const std::vector<const Object*>& Objects() const { return inputs_.sources.runtime_configs; }
  const std::string& WhyUnreadable() const { return inputs_.sources.why_runtime_configs_are_unreadable; }

  static Result<> Check(const Object& object) { return generated::CheckContainerRuntimeConfig(object); }
  static Result<> CheckFor(const Object&, const api::MachineConfigPool&) { return {}; }
  static std::string WithoutPool(const Object& object) {
    return ProblemOf(Error(
        ErrorKind::kInvalid,
        fmt::format("could not find any MachineConfigPool set for ContainerRuntimeConfig {}", object.metadata.name)));
  }

  std::optional<generated::MachineConfig> Make(const Object& object, const api::MachineConfigPool& pool,
                                               std::string name, std::string& problem) {
    const auto runtime_templates = generated::RuntimeTemplatesFor(templates_, pool.metadata.name);
    if (!runtime_templates) {
      problem = generated::ProblemOfTemplates(runtime_templates.error());
      return std::nullopt;
    }
    const generated::RuntimeFiles files =
        generated::FilesOf(*object.spec.container_runtime_config, runtime_templates->storage_conf, stores_);
    if (!files.storage_problem.empty()) problem = ProblemOf(Error(ErrorKind::kInvalid, files.storage_problem));
    return generated::RuntimeConfig(std::move(name), pool, files.files, object, inputs_.version);
  }

  static std::string ProblemOf(const Error& error) { return generated::ProblemWith(error); }
  static std::string ProblemOfName(const Error& error) { return generated::ProblemOfName(error); }
  static std::string ProblemOfWriting(const Error& error) { return generated::ProblemOfWriting(error); }

  std::optional<json::Value> StatusAfter(const Object& object, const std::string& problem) const {
    const auto status = generated::StatusAfter(object, problem, inputs_.now);
    return status ? std::optional(json::Encode(*status)) : std::nullopt;
  }

 private:
  const GenerateInputs& inputs_;
  generated::PoolTemplates& templates_;
  const generated::AdditionalStores stores_;
};

}  // namespace

void CleanUpRuntimeConfigs(const GenerateInputs& inputs, GenerateChanges& changes) {
  CleanUpDeleted(inputs.sources.runtime_configs, RuntimeRules::kManagedKind, RuntimeRules::kSourceKind, inputs,
                 changes);
}

void RuntimePass(const GenerateInputs& inputs, generated::PoolTemplates& templates, generated::AdditionalStores stores,
                 GenerateChanges& changes) {
  ManagedPass(inputs, RuntimeRules(inputs, templates, stores), changes).Run();
}

}  // namespace pintle::controller
