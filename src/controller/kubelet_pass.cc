// SPDX-License-Identifier: Apache-2.0
#include "controller/kubelet_pass.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/managed_pass.h"
#include "controller/render_pass.h"
#include "generated/kubelet_configs.h"
#include "generated/kubelet_status.h"
#include "generated/kubelet_validation.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

// The ManagedRules of managed_pass.h for KubeletConfigs.
class KubeletRules {
 public:
  using Object = api::KubeletConfig;
  static constexpr auto kManagedKind = generated::ManagedKind::kKubelet;
  static constexpr auto kSourceKind = SourceKind::kKubeletConfig;
  static constexpr auto kMadeFrom = MadeFrom::kKubeletConfigs;

  KubeletRules(const GenerateInputs& inputs, generated::PoolTemplates& templates,
               const generated::KubeletSettings& settings)
      : inputs_(inputs), templates_(templates), settings_(settings) {}

  const std::vector<const Object*>& Objects() const { return inputs_.sources.kubelet_configs; }
  const std::string& WhyUnreadable() const { return inputs_.sources.why_kubelet_configs_are_unreadable; }

  static Result<> Check(const Object& object) { return generated::Validate(object); }
  static Result<> CheckFor(const Object& object, const api::MachineConfigPool& pool) {
    return generated::ValidateForPool(pool, object);
  }
  static std::string WithoutPool(const Object&) {
    return ProblemOf(Error(ErrorKind::kInvalid, "could not find any MachineConfigPool set for KubeletConfig"));
  }

  std::optional<generated::MachineConfig> Make(const Object& object, const api::MachineConfigPool& pool,
                                               std::string name, std::string& problem) {
    auto base = BaseFor(pool.metadata.name);
    if (!base) {
      problem = generated::OutcomeWithoutBase(base.error()).message;
      return std::nullopt;
    }
    auto config = generated::UserKubeletConfig(object, pool, std::move(name), *std::move(base), settings_);
    if (config) return *std::move(config);
    problem = ProblemOf(config.error());
    return std::nullopt;
  }

  static std::string ProblemOf(const Error& error) { return generated::Refused(error).message; }
  static std::string ProblemOfName(const Error& error) { return generated::OutcomeWithoutName(error).message; }
  static std::string ProblemOfWriting(const Error& error) { return ProblemOf(error); }

  std::optional<json::Value> StatusAfter(const Object& object, const std::string& problem) const {
    const generated::KubeletOutcome outcome =
        problem.empty() ? generated::Accepted() : generated::KubeletOutcome{.is_accepted = false, .message = problem};
    const auto status = generated::StatusAfter(object, outcome, inputs_.now);
    return status ? std::optional(json::Encode(*status)) : std::nullopt;
  }

 private:
  // Returns the kubelet's configuration in a pool before a KubeletConfig changes it.
  Result<generated::KubeletConfiguration> BaseFor(const std::string& pool) {
    return generated::PoolKubeletBase(pool, TRY(templates_.For(pool), generated::kKubeletTemplatesFailed), settings_);
  }

  const GenerateInputs& inputs_;
  generated::PoolTemplates& templates_;
  const generated::KubeletSettings& settings_;
};

}  // namespace

void CleanUpKubeletConfigs(const GenerateInputs& inputs, GenerateChanges& changes) {
  CleanUpDeleted(inputs.sources.kubelet_configs, KubeletRules::kManagedKind, KubeletRules::kSourceKind, inputs,
                 changes);
}

void KubeletPass(const GenerateInputs& inputs, generated::PoolTemplates& templates,
                 const generated::KubeletSettings& settings, GenerateChanges& changes) {
  // A KubeletConfig's config must not be based on templates of an older ControllerConfig.  So nothing is made until the
  // status of the ControllerConfig reports that all configs of its templates are made.
  if (!WhyTemplatesAreBehind(*inputs.view.controller_config).empty()) return;
  ManagedPass(inputs, KubeletRules(inputs, templates, settings), changes).Run();
}

}  // namespace pintle::controller
