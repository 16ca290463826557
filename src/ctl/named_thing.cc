// SPDX-License-Identifier: Apache-2.0
#include "ctl/named_thing.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "change/findings.h"
#include "host/systemd/unit_files.h"
#include "host/systemd/unit_name.h"

namespace pintle::ctl {
namespace {

ThingKind KindOf(std::string_view name) {
  if (name.starts_with('/')) return ThingKind::kPath;
  if (name == change::kOs) return ThingKind::kOs;
  return host::UnitName::IsValid(name) ? ThingKind::kUnit : ThingKind::kUser;
}

// Returns the path of a unit's own file.
std::string PathOf(std::string_view unit) { return std::string(host::kUnitDirectory) + "/" + std::string(unit); }

// Returns the config without its OS settings if one of the things is the OS.
api::MachineConfig WithoutOs(std::span<const NamedThing> things, api::MachineConfig object) {
  const bool is_about_os =
      std::any_of(things.begin(), things.end(), [](const NamedThing& thing) { return thing.kind() == ThingKind::kOs; });
  if (!is_about_os) return object;
  object.spec.os_image_url.clear();
  object.spec.kernel_arguments.reset();
  object.spec.extensions.reset();
  object.spec.kernel_type.clear();
  return object;
}

}  // namespace

NamedThing::NamedThing(std::string name) : name_(std::move(name)), kind_(KindOf(name_)) {}

bool NamedThing::CoversPath(std::string_view path) const {
  if (kind_ == ThingKind::kPath) return path == name_;
  return kind_ == ThingKind::kUnit && (path == PathOf(name_) || path.starts_with(PathOf(name_) + ".d/"));
}

bool NamedThing::Covers(const plan::Step& step) const {
  const auto covers = [&](const auto& put) {
    using Put = std::remove_cvref_t<decltype(put)>;
    if constexpr (std::is_same_v<Put, resource::Put<resource::FileEntry>>) return CoversPath(put.key);
    if constexpr (std::is_same_v<Put, resource::Put<resource::UnitState>>) return put.key == name_;
    if constexpr (std::is_same_v<Put, resource::Put<resource::AuthorizedKeys>>) return put.key == name_;
    if constexpr (std::is_same_v<Put, resource::Put<resource::PasswordHash>>) return put.key == name_;
    if constexpr (std::is_same_v<Put, resource::Put<resource::Deployment>>) return kind_ == ThingKind::kOs;
    return false;
  };
  return std::visit(covers, step);
}

ignition::Config NamedThing::Without(ignition::Config config) const {
  std::erase_if(config.storage.files, [&](const ignition::File& file) { return CoversPath(file.path); });
  std::erase_if(config.passwd.users,
                [&](const ignition::PasswdUser& user) { return kind_ == ThingKind::kUser && user.name == name_; });
  std::erase_if(config.systemd.units,
                [&](const ignition::Unit& unit) { return kind_ == ThingKind::kUnit && unit.name == name_; });
  for (ignition::Unit& unit : config.systemd.units) {
    const std::string path = PathOf(unit.name);
    std::erase_if(unit.dropins, [&](const ignition::Dropin& dropin) { return CoversPath(path + ".d/" + dropin.name); });
    if (!CoversPath(path)) continue;
    unit.contents.reset();
    unit.mask.reset();
  }
  return config;
}

std::vector<NamedThing> ThingsIn(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

bool AnyCovers(std::span<const NamedThing> things, const plan::Step& step) {
  return std::any_of(things.begin(), things.end(), [&](const NamedThing& thing) { return thing.Covers(step); });
}

PlanForThings MakePlanForThings(std::span<const NamedThing> things, const plan::ParsedConfig& config,
                                const api::NodeDisruptionPolicy& policy) {
  ignition::Config without = config.ignition;
  for (const NamedThing& thing : things) without = thing.Without(std::move(without));
  PlanForThings about;
  about.without = std::make_unique<const ignition::Config>(std::move(without));
  about.object = std::make_unique<const api::MachineConfig>(WithoutOs(things, config.object));
  about.plan = plan::Make({*about.object, *about.without}, config, policy, {});
  return about;
}

}  // namespace pintle::ctl
