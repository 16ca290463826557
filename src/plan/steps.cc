// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "machineconfig/contents.h"
#include "machineconfig/validate.h"
#include "plan/bootstrap_kubeconfig.h"
#include "plan/kernel_arguments.h"
#include "plan/plan.h"

namespace pintle::plan {
namespace {

using resource::FileEntry;
using FileState = FileEntry::State;

constexpr std::int64_t kDefaultMode = 0644;
constexpr std::string_view kUnitDirectory = "/etc/systemd/system/";

struct NamedFile {
  std::string path;
  FileState state;
};

FileState RegularFile(std::string_view contents, std::int64_t permissions) {
  FileState state;
  state.sha256 = Sha256(contents).hex();
  state.permissions = permissions;
  return state;
}

FileState LinkTo(std::string target) {
  FileState state;
  state.kind = resource::EntryKind::kLink;
  state.target = std::move(target);
  return state;
}

resource::UserOrGroup OwnerOf(const ignition::NodeOwner& owner) {
  return {owner.id.value_or(0), owner.name.value_or("")};
}

Result<FileState> StateOf(const ignition::File& file) {
  Hasher hasher(DigestAlgorithm::kSha256);
  TRY(machineconfig::WalkContents(file.contents,
                                  [&](std::string_view piece) {
                                    hasher.Update(piece);
                                    return true;
                                  }),
      fmt::format("could not decode file \"{}\"", file.path));
  FileState state;
  state.sha256 = std::move(hasher).Finish().hex();
  state.permissions = file.path == kBootstrapKubeconfig ? kBootstrapKubeconfigMode : file.mode.value_or(kDefaultMode);
  state.user = OwnerOf(file.user);
  state.group = OwnerOf(file.group);
  return state;
}

std::string PathOf(const ignition::Unit& unit) { return std::string(kUnitDirectory) + unit.name; }
std::string PathOf(const ignition::Unit& unit, const ignition::Dropin& dropin) {
  return PathOf(unit) + ".d/" + dropin.name;
}

// Adds the drop-ins before the unit's own file, so that systemd never sees the unit without its drop-ins.
void AddFilesOf(const ignition::Unit& unit, std::vector<NamedFile>& files) {
  for (const ignition::Dropin& dropin : unit.dropins) {
    if (dropin.contents) files.push_back({PathOf(unit, dropin), RegularFile(*dropin.contents, kDefaultMode)});
  }
  if (unit.mask.value_or(false)) {
    files.push_back({PathOf(unit), LinkTo("/dev/null")});
  } else if (unit.contents && !unit.contents->empty()) {
    files.push_back({PathOf(unit), RegularFile(*unit.contents, kDefaultMode)});
  }
}

WalkPieces WalkOf(const std::string& contents) {
  return [&](const TakePiece& take) -> Result<> {
    TRY(take(contents));
    return {};
  };
}

}  // namespace

std::vector<std::string> PathsOf(const ignition::Config& config) {
  std::vector<std::string> paths;
  for (const ignition::File& file : config.storage.files) paths.push_back(file.path);
  for (const ignition::Unit& unit : config.systemd.units) {
    for (const ignition::Dropin& dropin : unit.dropins) paths.push_back(PathOf(unit, dropin));
    if (unit.contents || unit.mask) paths.push_back(PathOf(unit));
  }
  return paths;
}

Result<> ForEachContents(const ignition::Config& config,
                         const std::function<Result<>(const std::string& path, WalkPieces contents)>& visit) {
  for (const ignition::File& file : config.storage.files) {
    TRY(visit(file.path, [&](const TakePiece& take) { return machineconfig::WalkContents(file.contents, take); }));
  }
  for (const ignition::Unit& unit : config.systemd.units) {
    for (const ignition::Dropin& dropin : unit.dropins) {
      if (dropin.contents) TRY(visit(PathOf(unit, dropin), WalkOf(*dropin.contents)));
    }
    if (unit.contents) TRY(visit(PathOf(unit), WalkOf(*unit.contents)));
  }
  return {};
}

namespace {

// Collects the steps of a plan.
class Steps {
 public:
  Result<> AddFiles(const ignition::Config& from, const ignition::Config& to, const Originals& originals) {
    std::unordered_set<std::string> kept;
    for (const ignition::File& file : to.storage.files) Put<FileEntry>(file.path, TRY(StateOf(file)), kept);
    std::vector<NamedFile> unit_files;
    for (const ignition::Unit& unit : to.systemd.units) AddFilesOf(unit, unit_files);
    for (NamedFile& file : unit_files) Put<FileEntry>(file.path, std::move(file.state), kept);
    for (const std::string& path : PathsOf(from)) {
      if (kept.contains(path)) continue;
      const auto original = originals.find(path);
      Put<FileEntry>(path, original == originals.end() ? std::nullopt : std::optional(original->second), kept);
    }
    return {};
  }

  void AddUnits(const ignition::Systemd& from, const ignition::Systemd& to) {
    std::unordered_set<std::string> kept;
    for (const ignition::Unit& unit : to.units) {
      kept.insert(unit.name);
      if (unit.mask.value_or(false)) continue;
      steps_.push_back(resource::Put<resource::UnitState>{unit.name, {{EnablementOf(unit)}}});
    }
    for (const ignition::Unit& unit : from.units) {
      if (kept.contains(unit.name)) continue;
      steps_.push_back(resource::Put<resource::UnitState>{unit.name, {{resource::Enablement::kPreset}}});
    }
  }

  // If the new config no longer has a user, the user's file with the keys is removed and the user's password is locked.
  // If the new config has the user but no hash for the user, only the password is locked.
  void AddUsers(const ignition::Passwd& from, const ignition::Passwd& to) {
    std::unordered_set<std::string> kept;
    for (const ignition::PasswdUser& user : to.users) {
      kept.insert(user.name);
      const std::string hash = user.password_hash.value_or("");
      resource::AuthorizedKeys::State authorized;
      authorized.keys = user.ssh_authorized_keys;
      AddUser(user.name, std::move(authorized), hash);
    }
    for (const ignition::PasswdUser& user : from.users) {
      if (!kept.contains(user.name)) AddUser(user.name, std::nullopt, "");
    }
  }

  void AddDeployment(const api::MachineConfigSpec& spec) {
    steps_.push_back(resource::Put<resource::Deployment>{{}, DeploymentOf(spec)});
  }

  std::vector<Step> Take() && { return std::move(steps_); }

 private:
  template <typename R>
  void Put(const std::string& path, std::optional<typename R::State> want, std::unordered_set<std::string>& kept) {
    kept.insert(path);
    steps_.push_back(resource::Put<R>{path, std::move(want)});
  }

  static resource::Enablement EnablementOf(const ignition::Unit& unit) {
    if (!unit.enabled) return resource::Enablement::kPreset;
    return *unit.enabled ? resource::Enablement::kEnabled : resource::Enablement::kDisabled;
  }

  void AddUser(const std::string& name, std::optional<resource::AuthorizedKeys::State> authorized,
               const std::string& hash) {
    steps_.push_back(resource::Put<resource::AuthorizedKeys>{name, std::move(authorized)});
    resource::PasswordHash::State password;
    password.hash = hash.empty() ? resource::PasswordHash::kLocked : hash;
    steps_.push_back(resource::Put<resource::PasswordHash>{name, std::move(password)});
  }

  std::vector<Step> steps_;
};

}  // namespace

resource::Deployment::State DeploymentOf(const api::MachineConfigSpec& spec) {
  resource::Deployment::State state;
  state.image = spec.os_image_url;
  state.extensions_image = spec.base_os_extensions_container_image;
  if (spec.kernel_arguments) state.kernel_arguments = SplitArguments(*spec.kernel_arguments);
  if (spec.extensions) state.extensions = *spec.extensions;
  state.kernel_type = machineconfig::CanonicalKernelType(spec.kernel_type);
  return state;
}

Result<std::vector<Step>> StepsFor(const ParsedConfig& from, const ParsedConfig& to, const Originals& originals) {
  Steps steps;
  TRY(steps.AddFiles(from.ignition, to.ignition, originals));
  steps.AddUnits(from.ignition.systemd, to.ignition.systemd);
  steps.AddUsers(from.ignition.passwd, to.ignition.passwd);
  steps.AddDeployment(to.object.spec);
  return std::move(steps).Take();
}

}  // namespace pintle::plan
