// SPDX-License-Identifier: Apache-2.0

// Translates a config of spec 3.2 to spec 2.2.  A config is refused if it has anything that spec 2.2 cannot express.

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ignition/losses.h"
#include "ignition/v2/translate.h"
#include "ignition/v2/validate.h"

namespace pintle::ignition::v2 {
namespace {

using json::Path;

// Each Refuse function returns an error if its part of the config has anything that spec 2.2 cannot express.  `path` is
// the path of that part.

// `where` is the name of the resource in the error.
Result<> RefuseResourceLosses(const v3_2::Resource& resource, std::string_view where, const Path& path) {
  if (resource.compression) {
    return CannotTranslate(fmt::format("Compression in {} is not supported on 2.2", where), Path(path, "compression"));
  }
  if (!resource.http_headers.empty()) {
    return CannotTranslate(fmt::format("HTTPHeaders in {} are not supported on 2.2", where), Path(path, "httpHeaders"));
  }
  return {};
}

Result<> RefuseIgnitionLosses(const v3_2::Ignition& ignition, const Path& path) {
  const Path config(path, "config");
  const Path merge(config, "merge");
  for (std::size_t i = 0; i < ignition.config.merge.size(); ++i) {
    TRY(RefuseResourceLosses(ignition.config.merge[i], "Ignition.Config.Merge", Path(merge, i)));
  }
  TRY(RefuseResourceLosses(ignition.config.replace, "Ignition.Config.Replace", Path(config, "replace")));
  const Path security(path, "security");
  const Path tls(security, "tls");
  const Path authorities(tls, "certificateAuthorities");
  const auto& list = ignition.security.tls.certificate_authorities;
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY(RefuseResourceLosses(list[i], "Ignition.Security.TLS.CertificateAuthorities", Path(authorities, i)));
  }
  const v3_2::Proxy& proxy = ignition.proxy;
  if (proxy.http_proxy || proxy.https_proxy || !proxy.no_proxy.empty()) {
    return CannotTranslate("HTTP proxies in Ignition.Proxy are not supported on 2.2", Path(path, "proxy"));
  }
  return {};
}

Result<> RefusePasswdLosses(const v3_2::Passwd& passwd, const Path& path) {
  const auto refuse_absent = [&](const auto& list, const char* field, const char* message) -> Result<> {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].should_exist.value_or(true)) continue;
      return CannotTranslate(message, Path(Path(Path(path, field), i), "shouldExist"));
    }
    return {};
  };
  TRY(refuse_absent(passwd.users, "users", "ShouldExist in Passwd.Users is not supported on 2.2"));
  return refuse_absent(passwd.groups, "groups", "ShouldExist in Passwd.Groups is not supported on 2.2");
}

Result<> RefuseDiskLosses(const v3_2::Disk& disk, const Path& path) {
  for (std::size_t i = 0; i < disk.partitions.size(); ++i) {
    const v3_2::Partition& partition = disk.partitions[i];
    const Path partitions(path, "partitions");
    const Path at(partitions, i);
    // Spec 2.2 counts in sectors, whose size we do not know.
    if (partition.size_mib || partition.start_mib) {
      return CannotTranslate("SizeMiB and StartMiB in Storage.Disks.Partitions is not supported on 2.2",
                             Path(at, partition.size_mib ? "sizeMiB" : "startMiB"));
    }
    if (partition.resize.value_or(false)) {
      return CannotTranslate("Resize in Storage.Disks.Partitions is not supported on 2.2", Path(at, "resize"));
    }
  }
  return {};
}

Result<> RefuseStorageLosses(const v3_2::Storage& storage, const Path& path) {
  const Path disks(path, "disks");
  for (std::size_t i = 0; i < storage.disks.size(); ++i) TRY(RefuseDiskLosses(storage.disks[i], Path(disks, i)));
  const Path filesystems(path, "filesystems");
  for (std::size_t i = 0; i < storage.filesystems.size(); ++i) {
    if (storage.filesystems[i].mount_options.empty()) continue;
    return CannotTranslate("MountOptions in Storage.Filesystems is not supported on 2.2",
                           Path(Path(filesystems, i), "mountOptions"));
  }
  const Path files(path, "files");
  for (std::size_t i = 0; i < storage.files.size(); ++i) {
    const Path file(files, i);
    if (!storage.files[i].contents.http_headers.empty()) {
      return CannotTranslate("HTTPHeaders in Storage.Files.Contents are not supported on 2.2", Path(file, "contents"));
    }
    for (const v3_2::Resource& resource : storage.files[i].append) {
      if (resource.http_headers.empty()) continue;
      return CannotTranslate("HTTPHeaders in Storage.Files.Append.* are not supported on 2.2", Path(file, "append"));
    }
  }
  return {};
}

Result<> RefuseLosses(const v3_2::Config& config) {
  const Path root;
  const Path storage(root, "storage");
  TRY(RefuseIgnitionLosses(config.ignition, Path(root, "ignition")));
  if (!config.storage.luks.empty()) return CannotTranslate("LUKS is not supported on 2.2", Path(storage, "luks"));
  TRY(RefusePasswdLosses(config.passwd, Path(root, "passwd")));
  return RefuseStorageLosses(config.storage, storage);
}

ConfigReference FromReference(v3_2::Resource resource) {
  return {.source = std::move(resource.source).value_or(""), .verification = std::move(resource.verification)};
}

Ignition FromIgnition(v3_2::Ignition ignition) {
  Ignition to;
  for (v3_2::Resource& resource : ignition.config.merge) {
    to.config.append.push_back(FromReference(std::move(resource)));
  }
  if (ignition.config.replace.source) to.config.replace = FromReference(std::move(ignition.config.replace));
  for (v3_2::Resource& authority : ignition.security.tls.certificate_authorities) {
    to.security.tls.certificate_authorities.push_back(FromReference(std::move(authority)));
  }
  to.timeouts = ignition.timeouts;
  to.version = "2.2.0";
  return to;
}

Passwd FromPasswd(v3_2::Passwd passwd) {
  Passwd to;
  for (v3_2::PasswdGroup& group : passwd.groups) {
    to.groups.push_back({
        .gid = group.gid,
        .name = std::move(group.name),
        .password_hash = std::move(group.password_hash).value_or(""),
        .system = group.system.value_or(false),
    });
  }
  for (v3_2::PasswdUser& user : passwd.users) {
    to.users.push_back({
        .create = {},
        .gecos = std::move(user.gecos).value_or(""),
        .groups = std::move(user.groups),
        .home_dir = std::move(user.home_dir).value_or(""),
        .name = std::move(user.name),
        .no_create_home = user.no_create_home.value_or(false),
        .no_log_init = user.no_log_init.value_or(false),
        .no_user_group = user.no_user_group.value_or(false),
        .password_hash = std::move(user.password_hash),
        .primary_group = std::move(user.primary_group).value_or(""),
        .ssh_authorized_keys = std::move(user.ssh_authorized_keys),
        .shell = std::move(user.shell).value_or(""),
        .system = user.system.value_or(false),
        .uid = user.uid,
    });
  }
  return to;
}

// The mount points of a config's filesystems.  Spec 2.2 refers to a filesystem by its name.  As in ign-converter, this
// name is the mount point.
class Mounts {
 public:
  explicit Mounts(const std::vector<v3_2::Filesystem>& filesystems) {
    for (const v3_2::Filesystem& filesystem : filesystems) {
      if (filesystem.path) paths_.push_back(*filesystem.path);
    }
  }

  // Sets the filesystem of a file, directory or link, and its path below the mount point of that filesystem.  The
  // longest mount point with which the path begins is chosen.  As in ign-converter, texts are compared, so /variable
  // counts as a path below /var.
  template <typename Node>
  void Place(const std::string& path, Node& node) const {
    std::string_view best;
    for (const std::string& mount : paths_) {
      if (path.starts_with(mount) && mount.size() > best.size()) best = mount;
    }
    node.filesystem = best.empty() ? "root" : best;
    node.path = path.substr(best.size());
  }

 private:
  std::vector<std::string> paths_;
};

std::optional<NodeOwner> FromOwner(v3_2::NodeOwner owner) {
  if (!owner.id && !owner.name) return std::nullopt;
  return NodeOwner{.id = owner.id, .name = std::move(owner.name).value_or("")};
}

FileContents FromContents(v3_2::Resource resource) {
  return {
      .compression = std::move(resource.compression).value_or(""),
      .source = std::move(resource.source).value_or(""),
      .verification = std::move(resource.verification),
  };
}

// Adds a file for the contents, and one for each appended resource.  A file that has neither is left out.
void AddFiles(v3_2::File file, const Mounts& mounts, std::vector<File>& to) {
  File base;
  mounts.Place(file.path, base);
  base.group = FromOwner(std::move(file.group));
  base.user = FromOwner(std::move(file.user));
  // Spec 2 overwrites by default, and spec 3 does not.
  base.overwrite = file.overwrite.value_or(false);
  base.mode = file.mode;
  if (file.contents.source) {
    File& whole = to.emplace_back(base);
    whole.contents = FromContents(std::move(file.contents));
  }
  for (v3_2::Resource& appendix : file.append) {
    File& part = to.emplace_back(base);
    part.contents = FromContents(std::move(appendix));
    part.append = true;
    part.overwrite = false;
  }
}

// A filesystem without a mount point gets a number as its name.
std::vector<Filesystem> FromFilesystems(std::vector<v3_2::Filesystem> filesystems) {
  std::vector<Filesystem> to;
  int unnamed = 0;
  for (v3_2::Filesystem& filesystem : filesystems) {
    Filesystem& translated = to.emplace_back();
    translated.name = filesystem.path ? *filesystem.path : std::to_string(++unnamed);
    translated.mount = Mount{
        .create = {},
        .device = std::move(filesystem.device),
        .format = std::move(filesystem.format).value_or(""),
        .label = std::move(filesystem.label),
        .options = std::move(filesystem.options),
        .uuid = std::move(filesystem.uuid),
        .wipe_filesystem = filesystem.wipe_filesystem.value_or(false),
    };
  }
  return to;
}

Storage FromStorage(v3_2::Storage storage) {
  Storage to;
  const Mounts mounts(storage.filesystems);
  for (v3_2::Directory& directory : storage.directories) {
    Directory& translated = to.directories.emplace_back();
    mounts.Place(directory.path, translated);
    translated.group = FromOwner(std::move(directory.group));
    translated.overwrite = directory.overwrite;
    translated.user = FromOwner(std::move(directory.user));
    translated.mode = directory.mode;
  }
  for (v3_2::Disk& disk : storage.disks) {
    Disk& translated = to.disks.emplace_back();
    translated.device = std::move(disk.device);
    translated.wipe_table = disk.wipe_table.value_or(false);
    for (v3_2::Partition& partition : disk.partitions) {
      Partition& part = translated.partitions.emplace_back();
      part.guid = std::move(partition.guid).value_or("");
      part.label = std::move(partition.label).value_or("");
      part.number = partition.number;
      part.type_guid = std::move(partition.type_guid).value_or("");
    }
  }
  for (v3_2::File& file : storage.files) AddFiles(std::move(file), mounts, to.files);
  to.filesystems = FromFilesystems(std::move(storage.filesystems));
  for (v3_2::Link& link : storage.links) {
    Link& translated = to.links.emplace_back();
    mounts.Place(link.path, translated);
    translated.group = FromOwner(std::move(link.group));
    translated.overwrite = link.overwrite;
    translated.user = FromOwner(std::move(link.user));
    translated.hard = link.hard.value_or(false);
    translated.target = std::move(link.target);
  }
  for (v3_2::Raid& raid : storage.raid) {
    to.raid.push_back({
        .devices = std::move(raid.devices),
        .level = std::move(raid.level),
        .name = std::move(raid.name),
        .options = std::move(raid.options),
        .spares = raid.spares.value_or(0),
    });
  }
  return to;
}

Systemd FromSystemd(v3_2::Systemd systemd) {
  Systemd to;
  for (v3_2::Unit& unit : systemd.units) {
    Unit& translated = to.units.emplace_back();
    translated.contents = std::move(unit.contents).value_or("");
    for (v3_2::Dropin& dropin : unit.dropins) {
      translated.dropins.push_back(
          {.contents = std::move(dropin.contents).value_or(""), .name = std::move(dropin.name)});
    }
    translated.enabled = unit.enabled;
    translated.mask = unit.mask.value_or(false);
    translated.name = std::move(unit.name);
  }
  return to;
}

// Validates the result of the translation.  Unlike Ignition's own reports about spec 2, the error names the path of
// each problem.
Result<> CheckSpec2(const Config& config) {
  json::Report report;
  Validate(config, report);
  if (!report.has_errors()) return {};
  std::string text;
  for (const json::Problem& problem : report.problems()) {
    const char* kind = problem.severity == json::Severity::kError ? "error" : "warning";
    text += fmt::format("\n{}: {} (at {})", kind, problem.what, problem.path);
  }
  return Error(ErrorKind::kInvalid, "Converted spec has unexpected fatal error:" + text);
}

}  // namespace

Result<Config> FromV3_2(v3_2::Config config) {
  TRY(RefuseLosses(config));
  Config to{
      .ignition = FromIgnition(std::move(config.ignition)),
      .networkd = {},
      .passwd = FromPasswd(std::move(config.passwd)),
      .storage = FromStorage(std::move(config.storage)),
      .systemd = FromSystemd(std::move(config.systemd)),
  };
  TRY(CheckSpec2(to));
  return to;
}

}  // namespace pintle::ignition::v2
