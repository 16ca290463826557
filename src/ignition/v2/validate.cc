// SPDX-License-Identifier: Apache-2.0
#include "ignition/v2/validate.h"

#include <fmt/core.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ignition/paths.h"
#include "ignition/unit_file.h"
#include "ignition/url.h"
#include "ignition/validation.h"
#include "ignition/verification.h"

namespace pintle::ignition::v2 {
namespace {

using internal::ReportProblem;
using json::Path;

// Returns why this is not a valid source, or "".  Spec 2 also has the scheme "oem", for files on the OEM partition;
// spec 3 has removed this scheme.
std::string UrlProblem(std::string_view source) {
  if (source.empty()) return "";  // The contents are empty.
  if (const auto url = ParseUrl(source); url && url->scheme == "oem") return "";
  return SourceProblem(source, {});
}

std::string_view AbsolutePathProblem(std::string_view path) { return IsAbsolute(path) ? "" : "path not absolute"; }

class Validator {
 public:
  explicit Validator(json::Report& report) : report_(report) {}

  void Walk(const Config& config) {
    const Path root;
    CheckIgnition(config.ignition, Path(root, "ignition"));
    const Path networkd(root, "networkd");
    ForEach(config.networkd.units, Path(networkd, "units"),
            [&](const NetworkdUnit& unit, const Path& path) { CheckNetworkdUnit(unit, path); });
    const Path passwd(root, "passwd");
    ForEach(config.passwd.users, Path(passwd, "users"),
            [&](const PasswdUser& user, const Path& path) { CheckUser(user, path); });
    CheckStorage(config.storage, Path(root, "storage"));
    const Path systemd(root, "systemd");
    ForEach(config.systemd.units, Path(systemd, "units"),
            [&](const Unit& unit, const Path& path) { CheckUnit(unit, path); });
  }

 private:
  template <typename T, typename Visit>
  static void ForEach(const std::vector<T>& list, const Path& path, Visit&& visit) {
    for (std::size_t i = 0; i < list.size(); ++i) visit(list[i], Path(path, i));
  }

  // Reports an error unless `problem` is empty.
  void Error(const Path& path, std::string_view problem) { ReportProblem(report_, path, problem); }

  void CheckIgnition(const Ignition& ignition, const Path& path) {
    const Path config(path, "config");
    const auto check = [&](const ConfigReference& reference, const Path& at) {
      Error(Path(at, "source"), UrlProblem(reference.source));
      CheckHash(reference.verification, at);
    };
    ForEach(ignition.config.append, Path(config, "append"), check);
    if (ignition.config.replace) check(*ignition.config.replace, Path(config, "replace"));
    const Path security(path, "security");
    const Path tls(security, "tls");
    ForEach(ignition.security.tls.certificate_authorities, Path(tls, "certificateAuthorities"), check);
  }

  void CheckHash(const Verification& verification, const Path& path) {
    if (!verification.hash) return;
    Error(Path(Path(path, "verification"), "hash"), HashProblem(*verification.hash, false));
  }

  void CheckUnitText(const std::string& text, const Path& path) {
    if (const auto contents = ReadUnit(text); !contents) Error(Path(path, "contents"), contents.error().message());
  }

  void CheckNetworkdUnit(const NetworkdUnit& unit, const Path& path) {
    CheckUnitText(unit.contents, path);
    const std::string_view extension = ExtensionOf(unit.name);
    if (extension != ".link" && extension != ".netdev" && extension != ".network") {
      Error(path, "invalid networkd unit extension");
    }
    ForEach(unit.dropins, Path(path, "dropins"), [&](const NetworkdDropin& dropin, const Path& at) {
      CheckUnitText(dropin.contents, at);
      if (ExtensionOf(dropin.name) != ".conf") Error(at, "invalid networkd drop-in extension");
    });
  }

  void CheckUser(const PasswdUser& user, const Path& path) {
    if (!user.create) return;
    report_.Warning(path, "the create object has been deprecated in favor of user-level options");
    const auto check = [&](bool is_given, const char* field) {
      if (is_given) Error(path, fmt::format("cannot use both the create object and the user-level {} field", field));
    };
    check(!user.gecos.empty(), "gecos");
    check(!user.groups.empty(), "groups");
    check(!user.home_dir.empty(), "homeDir");
    check(user.no_create_home, "noCreateHome");
    check(user.no_log_init, "noLogInit");
    check(user.no_user_group, "noUserGroup");
    check(!user.primary_group.empty(), "primaryGroup");
    check(!user.shell.empty(), "shell");
    check(user.system, "system");
    check(user.uid.has_value(), "uid");
  }

  void CheckStorage(const Storage& storage, const Path& path) {
    ForEach(storage.directories, Path(path, "directories"), [&](const Directory& directory, const Path& at) {
      CheckNode(directory, at);
      CheckMode(directory.mode, at);
    });
    ForEach(storage.disks, Path(path, "disks"), [&](const Disk& disk, const Path& at) { CheckDisk(disk, at); });
    ForEach(storage.files, Path(path, "files"), [&](const File& file, const Path& at) { CheckFile(file, at); });
    ForEach(storage.filesystems, Path(path, "filesystems"),
            [&](const Filesystem& filesystem, const Path& at) { CheckFilesystem(filesystem, at); });
    ForEach(storage.links, Path(path, "links"), [&](const Link& link, const Path& at) { CheckNode(link, at); });
    ForEach(storage.raid, Path(path, "raid"), [&](const Raid& raid, const Path& at) {
      Error(Path(at, "level"), RaidLevelProblem(raid));
      ForEach(raid.devices, Path(at, "devices"),
              [&](const std::string& device, const Path& where) { Error(where, AbsolutePathProblem(device)); });
    });
  }

  // Spec 2 has another message about spares.
  static std::string_view RaidLevelProblem(const Raid& raid) {
    const std::string_view problem = internal::RaidLevelProblem(raid.level, raid.spares);
    if (problem.empty() || problem == "unrecognized raid level") return problem;
    return "spares unsupported for arrays with a level greater than 0";
  }

  template <typename Node>
  void CheckNode(const Node& node, const Path& path) {
    if (node.filesystem.empty()) Error(Path(path, "filesystem"), "no filesystem specified");
    Error(Path(path, "path"), AbsolutePathProblem(node.path));
    const auto check_owner = [&](const std::optional<NodeOwner>& owner, const char* field) {
      if (owner && owner->id && !owner->name.empty()) Error(Path(path, field), "cannot set both id and name");
    };
    check_owner(node.group, "group");
    check_owner(node.user, "user");
  }

  void CheckMode(const std::optional<std::int64_t>& mode, const Path& path) {
    if (!mode) return report_.Warning(Path(path, "mode"), "permissions unset, defaulting to 0000");
    if (*mode < 0 || *mode > 07777) Error(Path(path, "mode"), "illegal file mode");
  }

  void CheckFile(const File& file, const Path& path) {
    if (file.append && file.overwrite.value_or(false)) {
      return Error(path, "cannot set both append and overwrite to true");
    }
    CheckNode(file, path);
    const Path contents(path, "contents");
    if (!file.contents.compression.empty() && file.contents.compression != "gzip") {
      Error(Path(contents, "compression"), "invalid compression method");
    }
    if (const std::string problem = UrlProblem(file.contents.source); !problem.empty()) {
      Error(Path(contents, "source"), fmt::format("invalid url: {}", problem));
    }
    CheckHash(file.contents.verification, contents);
    CheckMode(file.mode, path);
  }

  void CheckDisk(const Disk& disk, const Path& path) {
    if (disk.device.empty()) {
      Error(Path(path, "device"), "disk device is required");
    } else {
      Error(Path(path, "device"), AbsolutePathProblem(disk.device));
    }
    std::set<std::int64_t> numbers;
    std::vector<internal::Extent> extents;
    bool collide = false;
    bool misaligned = false;
    for (std::size_t i = 0; i < disk.partitions.size(); ++i) {
      const Partition& partition = disk.partitions[i];
      collide = collide || (partition.number != 0 && !numbers.insert(partition.number).second);
      constexpr std::int64_t kAlignment = 2048;  // In sectors of 512 bytes: 1 MiB.
      misaligned = misaligned || partition.start % kAlignment != 0;
      if (partition.start == 0) continue;
      extents.emplace_back(partition.start, partition.size, i);
    }
    const Path partitions(path, "partitions");
    if (collide) Error(partitions, "partition numbers collide");
    if (internal::FindOverlap(extents)) Error(partitions, "partitions overlap");
    if (misaligned) Error(partitions, "partitions misaligned");
    ForEach(disk.partitions, partitions,
            [&](const Partition& partition, const Path& at) { CheckPartition(partition, at); });
  }

  void CheckPartition(const Partition& partition, const Path& path) {
    if (partition.label.size() > 36) Error(Path(path, "label"), "partition labels may not exceed 36 characters");
    if (partition.label.find(':') != std::string::npos) {
      report_.Warning(Path(path, "label"), "partition label will be truncated to text before the colon");
    }
    const auto check_guid = [&](const std::string& guid, const char* field) {
      if (internal::IsGuid(guid)) return;
      Error(Path(path, field), "doesn't match the form \"01234567-89AB-CDEF-EDCB-A98765432101\"");
    };
    check_guid(partition.guid, "guid");
    check_guid(partition.type_guid, "typeGuid");
  }

  void CheckFilesystem(const Filesystem& filesystem, const Path& path) {
    if (!filesystem.mount && !filesystem.path) Error(path, "filesystem is missing mount or path");
    if (filesystem.path && !IsAbsolute(*filesystem.path)) {
      Error(Path(path, "path"), fmt::format("filesystem \"{}\": path not absolute", filesystem.name));
    }
    if (!filesystem.mount) return;
    const Mount& mount = *filesystem.mount;
    if (filesystem.path) Error(path, "filesystem has both mount and path defined");
    if (mount.create) {
      if (mount.wipe_filesystem) Error(path, "cannot use both create object and wipeFilesystem field");
      if (!mount.options.empty()) Error(path, "cannot use both create object and mount-level options field");
      report_.Warning(path, "the create object has been deprecated in favor of mount-level options");
    }
    const Path at(path, "mount");
    // The known formats are those that limit the length of labels, to 256 bytes or less.
    if (mount.format.empty() || mount.format == "none" ||
        !internal::FilesystemLabelProblem(mount.format, std::string(300, 'x')).size()) {
      Error(at, "invalid filesystem format");
    } else if (mount.label) {
      Error(Path(at, "label"), internal::FilesystemLabelProblem(mount.format, *mount.label));
    }
    Error(Path(at, "device"), AbsolutePathProblem(mount.device));
  }

  void CheckUnit(const Unit& unit, const Path& path) {
    const auto contents = ReadUnit(unit.contents);
    if (!contents) Error(Path(path, "contents"), contents.error().message());
    const bool is_enabled = unit.enable || unit.enabled.value_or(false);
    if (contents && is_enabled && contents->has_options && !contents->has_install_section) {
      report_.Warning(
          Path(path, "contents"),
          fmt::format("unit \"{}\" is enabled, but has no install section so enable does nothing", unit.name));
    }
    if (!internal::IsUnitExtension(ExtensionOf(unit.name))) {
      Error(Path(path, "name"), "invalid systemd unit extension");
    }
    ForEach(unit.dropins, Path(path, "dropins"), [&](const Dropin& dropin, const Path& at) {
      CheckUnitText(dropin.contents, at);
      if (ExtensionOf(dropin.name) != ".conf") Error(at, "invalid systemd drop-in extension");
    });
  }

  json::Report& report_;
};

}  // namespace

void Validate(const Config& config, json::Report& report) { Validator(report).Walk(config); }

}  // namespace pintle::ignition::v2
