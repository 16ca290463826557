// SPDX-License-Identifier: Apache-2.0

// Runs cases of the Image, mirrors and policies at bootstrap.

#include "api/image_config.h"
#include "api/image_policy.h"
#include "generated/image_files.h"
#include "generated/runtime_templates.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"
#include "vectors/generated/runtime_inputs.h"

namespace pintle::vectors {
namespace {

using Made = Result<std::vector<generated::MachineConfig>>;

Made ImageConfigsOf(const CaseObjects& objects, const RoleTemplates& templates) {
  const auto images = TRY(objects.All<api::Image>("Image"));
  const auto content_source_policies = TRY(objects.All<api::MirrorSet>("ImageContentSourcePolicy"));
  const auto digest_sets = TRY(objects.All<api::MirrorSet>("ImageDigestMirrorSet"));
  const auto tag_sets = TRY(objects.All<api::MirrorSet>("ImageTagMirrorSet"));
  std::vector<api::ImagePolicy> cluster_policies;
  std::vector<api::ImagePolicy> namespace_policies;
  if (objects.IsEnabled("SigstoreImageVerification")) {
    cluster_policies = TRY(objects.All<api::ImagePolicy>("ClusterImagePolicy"));
    namespace_policies = TRY(objects.All<api::ImagePolicy>("ImagePolicy"));
  }
  const generated::ImageInputs inputs{.image = images.empty() ? nullptr : &images.back(),
                                      .release_image = objects.ReleaseImage(),
                                      .mirrors = {content_source_policies, digest_sets, tag_sets},
                                      .cluster_policies = cluster_policies,
                                      .namespace_policies = namespace_policies};
  const generated::ImageRules rules = TRY(generated::ImageRulesOf(inputs, generated::ImagesFor::kBootstrap));
  const RuntimeTemplatesOfPools of_pools = TRY(TemplatesOf(objects, templates), generated::kNoTemplatesForImages);
  std::vector<generated::MachineConfig> configs;
  for (const auto& pool : objects.Pools()) {
    const auto files = TRY(generated::FilesOf(rules, of_pools.at(pool.metadata.name)));
    configs.push_back(generated::RegistriesConfigAtBootstrap(pool, files));
  }
  return configs;
}

}  // namespace

Tally RunImage(const std::filesystem::path& folder) {
  Tally tally("image");
  const RoleTemplates templates(folder / ".." / "own-templates");
  for (const std::string& name : NamesIn(folder)) {
    tally.Try(name, [&] {
      tally.Add(name, DifferenceFrom(folder / name / "out-own", ImageConfigsOf(CaseObjects(folder, name), templates)));
    });
  }
  return tally;
}

}  // namespace pintle::vectors
