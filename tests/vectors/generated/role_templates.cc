// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/role_templates.h"

#include <stdexcept>
#include <utility>

#include "generated/render_config.h"
#include "generated/templates.h"
#include "generated/tls_settings.h"

namespace pintle::vectors {
namespace {

// The files that the cases read from these configs do not depend on the pull secret.
constexpr const char* kNoPullSecret = "{}";

generated::TemplateFolder FolderAt(const std::filesystem::path& path) {
  auto folder = generated::TemplateFolder::Read(path);
  if (!folder) throw std::runtime_error(folder.error().message());
  return *std::move(folder);
}

}  // namespace

RoleTemplates::RoleTemplates(const std::filesystem::path& folder) : folder_(FolderAt(folder)) {}

Result<std::vector<generated::MachineConfig>> RoleTemplates::For(const std::string& pool,
                                                                 const json::Value& controller_config,
                                                                 const json::Value* api_server) const {
  const generated::RenderConfig config(controller_config["spec"], kNoPullSecret, generated::TlsSettingsOf(api_server));
  return generated::MachineConfigsOfRole(folder_, config, pool);
}

}  // namespace pintle::vectors
