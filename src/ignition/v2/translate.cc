// SPDX-License-Identifier: Apache-2.0
#include "ignition/v2/translate.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ignition/losses.h"
#include "ignition/paths.h"
#include "ignition/read.h"
#include "ignition/v2/validate.h"
#include "ignition/v3_0/translate.h"

namespace pintle::ignition::v2 {
namespace {

using json::Path;

// Takes out what the older minor versions did not have, and would ignore.
void ForgetNewer(Config& config, int minor) {
  if (minor >= 2) return;
  config.ignition.security = {};
  const auto forget = [&](auto& nodes) {
    for (auto& node : nodes) node.overwrite.reset();
  };
  forget(config.storage.files);
  forget(config.storage.directories);
  forget(config.storage.links);
  for (File& file : config.storage.files) file.append = false;
  for (Raid& raid : config.storage.raid) raid.options.clear();
  for (NetworkdUnit& unit : config.networkd.units) unit.dropins.clear();
  if (minor >= 1) return;
  config.ignition.timeouts = {};
  config.storage.directories.clear();
  config.storage.links.clear();
  for (File& file : config.storage.files) {
    // Spec 2.0 has numbers only, and none of them is optional.
    const auto owner = [](const std::optional<NodeOwner>& given) {
      return NodeOwner{.id = given ? given->id.value_or(0) : 0, .name = ""};
    };
    file.user = owner(file.user);
    file.group = owner(file.group);
    file.mode = file.mode.value_or(0);
  }
  for (Unit& unit : config.systemd.units) unit.enabled.reset();
}

void AddMissing(std::vector<Dropin>& dropins, std::vector<Dropin> more) {
  std::unordered_set<std::string> names;
  for (const Dropin& dropin : dropins) names.insert(dropin.name);
  for (Dropin& dropin : more) {
    if (names.insert(dropin.name).second) dropins.push_back(std::move(dropin));
  }
}

std::vector<File> LastOfEachPath(std::vector<File> files) {
  std::vector<File> kept;
  std::unordered_set<std::string> paths;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (paths.insert(file->path).second) kept.push_back(std::move(*file));
  }
  return kept;
}

std::vector<Unit> LastOfEachName(std::vector<Unit> units) {
  std::vector<Unit> kept;
  std::unordered_map<std::string, std::size_t> at;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const auto [same, is_new] = at.emplace(unit->name, kept.size());
    if (is_new) {
      kept.push_back(std::move(*unit));
    } else {
      AddMissing(kept[same->second].dropins, std::move(unit->dropins));
    }
  }
  return kept;
}

Result<std::vector<PasswdUser>> OneCoreUser(std::vector<PasswdUser> users) {
  if (users.empty()) return users;
  for (auto user = users.rbegin(); user != users.rend(); ++user) {
    if (user->name == "core") continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("unexpected user with name: {}. Only core user is supported", user->name));
  }
  PasswdUser core = users.back();
  core.ssh_authorized_keys.clear();
  std::unordered_set<std::string> known;
  for (auto user = users.rbegin(); user != users.rend(); ++user) {
    for (std::string& key : user->ssh_authorized_keys) {
      if (known.insert(key).second) core.ssh_authorized_keys.push_back(std::move(key));
    }
  }
  return std::vector{std::move(core)};
}

}  // namespace

Config ReadAndValidate(Reading& reading) {
  Config config = Read<Config>(std::move(reading.document), reading.report);
  reading.has_wrong_types = reading.report.has_errors();
  if (reading.has_wrong_types) return config;
  ForgetNewer(config, reading.minor);
  Validate(config, reading.report);
  return config;
}

Result<Config> WithoutDuplicates(Config config) {
  config.passwd.users = TRY(OneCoreUser(std::move(config.passwd.users)));
  config.storage.files = LastOfEachPath(std::move(config.storage.files));
  config.systemd.units = LastOfEachName(std::move(config.systemd.units));
  return config;
}

// ---- to 3.0 ----

namespace {

template <typename T>
std::optional<T> UnlessZero(T value) {
  if (value == T{}) return std::nullopt;
  return value;
}

Error Untranslatable(std::string what) { return Error(ErrorKind::kInvalid, std::move(what)); }

// Where a node of spec 2, which is on a named filesystem, ends up.  The names are checked before.
std::string WholePath(std::string_view filesystem, std::string_view path) {
  return filesystem == "root" ? JoinPath("/", path) : CleanPath(path);
}

// Each path belongs to one node, and no node lies behind a link of the same config.
class NodeCheck {
 public:
  explicit NodeCheck(const std::vector<Link>& links) {
    for (const Link& link : links) links_.push_back(JoinPath("/", link.path));
  }

  template <typename Node>
  Result<> Add(const Node& node, const char* kind) {
    const std::string path = JoinPath("/", node.path);
    const std::string name = fmt::format("{}: {}", kind, path);
    const auto [entry, is_new] = names_.emplace(path, name);
    if (!is_new) {
      return Untranslatable(
          fmt::format("Config has conflicting inodes: \"{}\" and \"{}\".  All files, directories and "
                      "links must specify a unique `path`.",
                      entry->second, name));
    }
    for (const std::string& link : links_) {
      if (!path.starts_with(link) || path == link) continue;
      return Untranslatable(fmt::format(
          "{} uses link defined in config \"{}\". Please use a link not defined in Storage:Links", name, link));
    }
    return {};
  }

 private:
  std::vector<std::string> links_;
  std::map<std::string, std::string> names_;
};

Result<> CheckNothingDeprecated(const Config& config) {
  std::string deprecated;
  for (const Disk& disk : config.storage.disks) {
    for (const Partition& partition : disk.partitions) {
      if (partition.size != 0) deprecated += "\ndeprecated: size is deprecated; use sizeMB instead";
      if (partition.start != 0) deprecated += "\ndeprecated: start is deprecated; use startMB instead";
    }
  }
  if (deprecated.empty()) return {};
  return Untranslatable("Invalid input config:" + deprecated);
}

Result<> CheckTranslatable(const Config& config) {
  TRY(CheckNothingDeprecated(config));
  if (!config.networkd.units.empty()) {
    return Untranslatable("config includes deprecated networkd section - use Files instead");
  }
  for (const Filesystem& filesystem : config.storage.filesystems) {
    if (filesystem.name == "root") continue;
    return Untranslatable(
        fmt::format("Config defined filesystem \"{}\" but no mapping was defined.Please specify a "
                    "path to be used as the filesystem mountpoint.",
                    filesystem.name));
  }
  NodeCheck check(config.storage.links);
  for (const File& file : config.storage.files) TRY(check.Add(file, "File"));
  for (const Directory& directory : config.storage.directories) TRY(check.Add(directory, "Directory"));
  for (const Link& link : config.storage.links) TRY(check.Add(link, "Link"));
  for (const Unit& unit : config.systemd.units) {
    std::unordered_set<std::string_view> names;
    for (const Dropin& dropin : unit.dropins) {
      if (names.insert(dropin.name).second) continue;
      return Untranslatable(
          fmt::format("Config has duplicate dropin name \"{}\" in unit \"{}\".  All dropins must have a unique `name`.",
                      dropin.name, unit.name));
    }
  }
  return {};
}

v3_0::ConfigReference ToReference(ConfigReference reference) {
  return {.source = std::move(reference.source), .verification = std::move(reference.verification)};
}

v3_0::Ignition ToIgnition(Ignition ignition) {
  v3_0::Ignition to;
  for (ConfigReference& reference : ignition.config.append) {
    to.config.merge.push_back(ToReference(std::move(reference)));
  }
  if (ignition.config.replace) to.config.replace = ToReference(*std::move(ignition.config.replace));
  for (ConfigReference& authority : ignition.security.tls.certificate_authorities) {
    to.security.tls.certificate_authorities.push_back(
        {.source = std::move(authority.source), .verification = std::move(authority.verification)});
  }
  to.timeouts = ignition.timeouts;
  to.version = v3_0::kVersion;
  return to;
}

v3_0::Passwd ToPasswd(Passwd passwd) {
  v3_0::Passwd to;
  for (PasswdGroup& group : passwd.groups) {
    to.groups.push_back({
        .gid = group.gid,
        .name = std::move(group.name),
        .password_hash = UnlessZero(std::move(group.password_hash)),
        .system = UnlessZero(group.system),
    });
  }
  for (PasswdUser& user : passwd.users) {
    to.users.push_back({
        .gecos = UnlessZero(std::move(user.gecos)),
        .groups = std::move(user.groups),
        .home_dir = UnlessZero(std::move(user.home_dir)),
        .name = std::move(user.name),
        .no_create_home = UnlessZero(user.no_create_home),
        .no_log_init = UnlessZero(user.no_log_init),
        .no_user_group = UnlessZero(user.no_user_group),
        .password_hash = std::move(user.password_hash),
        .primary_group = UnlessZero(std::move(user.primary_group)),
        .ssh_authorized_keys = std::move(user.ssh_authorized_keys),
        .shell = UnlessZero(std::move(user.shell)),
        .system = UnlessZero(user.system),
        .uid = user.uid,
    });
  }
  return to;
}

v3_0::NodeOwner ToOwner(std::optional<NodeOwner> owner) {
  if (!owner) return {};
  return {.id = owner->id, .name = UnlessZero(std::move(owner->name))};
}

v3_0::File ToFile(File file) {
  // Spec 2 overwrites unless told otherwise, and appends within what is there.
  const bool overwrite = !file.append && file.overwrite.value_or(true);
  v3_0::File to{
      .group = ToOwner(std::move(file.group)),
      .overwrite = overwrite,
      .path = WholePath(file.filesystem, file.path),
      .user = ToOwner(std::move(file.user)),
      .append = {},
      .contents = {},
      .mode = file.mode,
  };
  v3_0::FileContents contents{
      .compression = UnlessZero(std::move(file.contents.compression)),
      .source = std::move(file.contents.source),
      .verification = std::move(file.contents.verification),
  };
  if (file.append) {
    to.append.push_back(std::move(contents));
  } else {
    to.contents = std::move(contents);
  }
  return to;
}

v3_0::Storage ToStorage(Storage storage) {
  v3_0::Storage to;
  for (Directory& directory : storage.directories) {
    to.directories.push_back({
        .group = ToOwner(std::move(directory.group)),
        .overwrite = directory.overwrite,
        .path = WholePath(directory.filesystem, directory.path),
        .user = ToOwner(std::move(directory.user)),
        .mode = directory.mode,
    });
  }
  for (Disk& disk : storage.disks) {
    v3_0::Disk& same = to.disks.emplace_back();
    same.device = std::move(disk.device);
    same.wipe_table = UnlessZero(disk.wipe_table);
    for (Partition& partition : disk.partitions) {
      v3_0::Partition& part = same.partitions.emplace_back();
      part.guid = UnlessZero(std::move(partition.guid));
      part.label = std::move(partition.label);
      part.number = partition.number;
      part.type_guid = UnlessZero(std::move(partition.type_guid));
    }
  }
  for (File& file : storage.files) to.files.push_back(ToFile(std::move(file)));
  // A filesystem would be here, but the only one that gets so far is the root, which is there anyway.
  for (Link& link : storage.links) {
    to.links.push_back({
        .group = ToOwner(std::move(link.group)),
        .overwrite = link.overwrite,
        .path = WholePath(link.filesystem, link.path),
        .user = ToOwner(std::move(link.user)),
        .hard = UnlessZero(link.hard),
        .target = std::move(link.target),
    });
  }
  for (Raid& raid : storage.raid) {
    to.raid.push_back({
        .devices = std::move(raid.devices),
        .level = std::move(raid.level),
        .name = std::move(raid.name),
        .options = std::move(raid.options),
        .spares = UnlessZero(raid.spares),
    });
  }
  return to;
}

v3_0::Systemd ToSystemd(Systemd systemd) {
  v3_0::Systemd to;
  for (Unit& unit : systemd.units) {
    v3_0::Unit& same = to.units.emplace_back();
    same.contents = UnlessZero(std::move(unit.contents));
    for (Dropin& dropin : unit.dropins) {
      same.dropins.push_back({.contents = UnlessZero(std::move(dropin.contents)), .name = std::move(dropin.name)});
    }
    same.enabled = unit.enabled;
    if (!same.enabled && unit.enable) same.enabled = true;
    same.mask = UnlessZero(unit.mask);
    same.name = std::move(unit.name);
  }
  return to;
}

}  // namespace

Result<v3_0::Config> ToV3_0(Config config) {
  TRY(CheckTranslatable(config));
  v3_0::Config to{
      .ignition = ToIgnition(std::move(config.ignition)),
      .passwd = ToPasswd(std::move(config.passwd)),
      .storage = ToStorage(std::move(config.storage)),
      .systemd = ToSystemd(std::move(config.systemd)),
  };
  json::Report report;
  v3_0::Validate(to, report);
  if (report.has_errors()) return Untranslatable(ToIgnitionText(report));
  return to;
}

// ---- from 3.2 ----

namespace {

Result<> FindResourceLosses(const v3_2::Resource& resource, std::string_view where, const Path& path) {
  if (resource.compression) {
    return CannotSay(fmt::format("Compression in {} is not supported on 2.2", where), Path(path, "compression"));
  }
  if (!resource.http_headers.empty()) {
    return CannotSay(fmt::format("HTTPHeaders in {} are not supported on 2.2", where), Path(path, "httpHeaders"));
  }
  return {};
}

Result<> FindIgnitionLosses(const v3_2::Ignition& ignition, const Path& path) {
  const Path config(path, "config");
  const Path merge(config, "merge");
  for (std::size_t i = 0; i < ignition.config.merge.size(); ++i) {
    TRY(FindResourceLosses(ignition.config.merge[i], "Ignition.Config.Merge", Path(merge, i)));
  }
  TRY(FindResourceLosses(ignition.config.replace, "Ignition.Config.Replace", Path(config, "replace")));
  const Path security(path, "security");
  const Path tls(security, "tls");
  const Path authorities(tls, "certificateAuthorities");
  const auto& list = ignition.security.tls.certificate_authorities;
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY(FindResourceLosses(list[i], "Ignition.Security.TLS.CertificateAuthorities", Path(authorities, i)));
  }
  const v3_2::Proxy& proxy = ignition.proxy;
  if (proxy.http_proxy || proxy.https_proxy || !proxy.no_proxy.empty()) {
    return CannotSay("HTTP proxies in Ignition.Proxy are not supported on 2.2", Path(path, "proxy"));
  }
  return {};
}

Result<> FindPasswdLosses(const v3_2::Passwd& passwd, const Path& path) {
  const auto find = [&](const auto& list, const char* field, const char* what) -> Result<> {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].should_exist.value_or(true)) continue;
      return CannotSay(what, Path(Path(Path(path, field), i), "shouldExist"));
    }
    return {};
  };
  TRY(find(passwd.users, "users", "ShouldExist in Passwd.Users is not supported on 2.2"));
  return find(passwd.groups, "groups", "ShouldExist in Passwd.Groups is not supported on 2.2");
}

Result<> FindDiskLosses(const v3_2::Disk& disk, const Path& path) {
  for (std::size_t i = 0; i < disk.partitions.size(); ++i) {
    const v3_2::Partition& partition = disk.partitions[i];
    const Path partitions(path, "partitions");
    const Path at(partitions, i);
    // Spec 2.2 counts sectors, of which we do not know the size.
    if (partition.size_mib || partition.start_mib) {
      return CannotSay("SizeMiB and StartMiB in Storage.Disks.Partitions is not supported on 2.2",
                       Path(at, partition.size_mib ? "sizeMiB" : "startMiB"));
    }
    if (partition.resize.value_or(false)) {
      return CannotSay("Resize in Storage.Disks.Partitions is not supported on 2.2", Path(at, "resize"));
    }
  }
  return {};
}

Result<> FindStorageLosses(const v3_2::Storage& storage, const Path& path) {
  const Path disks(path, "disks");
  for (std::size_t i = 0; i < storage.disks.size(); ++i) TRY(FindDiskLosses(storage.disks[i], Path(disks, i)));
  const Path filesystems(path, "filesystems");
  for (std::size_t i = 0; i < storage.filesystems.size(); ++i) {
    if (storage.filesystems[i].mount_options.empty()) continue;
    return CannotSay("MountOptions in Storage.Filesystems is not supported on 2.2",
                     Path(Path(filesystems, i), "mountOptions"));
  }
  const Path files(path, "files");
  for (std::size_t i = 0; i < storage.files.size(); ++i) {
    const Path file(files, i);
    if (!storage.files[i].contents.http_headers.empty()) {
      return CannotSay("HTTPHeaders in Storage.Files.Contents are not supported on 2.2", Path(file, "contents"));
    }
    for (const v3_2::Resource& resource : storage.files[i].append) {
      if (resource.http_headers.empty()) continue;
      return CannotSay("HTTPHeaders in Storage.Files.Append.* are not supported on 2.2", Path(file, "append"));
    }
  }
  return {};
}

Result<> FindLosses(const v3_2::Config& config) {
  const Path root;
  const Path storage(root, "storage");
  TRY(FindIgnitionLosses(config.ignition, Path(root, "ignition")));
  if (!config.storage.luks.empty()) return CannotSay("LUKS is not supported on 2.2", Path(storage, "luks"));
  TRY(FindPasswdLosses(config.passwd, Path(root, "passwd")));
  return FindStorageLosses(config.storage, storage);
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

// The names of filesystems, which are the paths where they are mounted.
class Mounts {
 public:
  explicit Mounts(const std::vector<v3_2::Filesystem>& filesystems) {
    for (const v3_2::Filesystem& filesystem : filesystems) {
      if (filesystem.path) paths_.push_back(*filesystem.path);
    }
  }

  // Puts a node on the filesystem that its path leads to.
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

// A file is its contents, and each appendix a file of its own.
void AddFiles(v3_2::File file, const Mounts& mounts, std::vector<File>& to) {
  File base;
  mounts.Place(file.path, base);
  base.group = FromOwner(std::move(file.group));
  base.user = FromOwner(std::move(file.user));
  // Spec 2 overwrites where spec 3 does not, unless told otherwise.
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

std::vector<Filesystem> FromFilesystems(std::vector<v3_2::Filesystem> filesystems) {
  std::vector<Filesystem> to;
  int unnamed = 0;
  for (v3_2::Filesystem& filesystem : filesystems) {
    Filesystem& same = to.emplace_back();
    same.name = filesystem.path ? *filesystem.path : std::to_string(++unnamed);
    same.mount = Mount{
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
    Directory& same = to.directories.emplace_back();
    mounts.Place(directory.path, same);
    same.group = FromOwner(std::move(directory.group));
    same.overwrite = directory.overwrite;
    same.user = FromOwner(std::move(directory.user));
    same.mode = directory.mode;
  }
  for (v3_2::Disk& disk : storage.disks) {
    Disk& same = to.disks.emplace_back();
    same.device = std::move(disk.device);
    same.wipe_table = disk.wipe_table.value_or(false);
    for (v3_2::Partition& partition : disk.partitions) {
      Partition& part = same.partitions.emplace_back();
      part.guid = std::move(partition.guid).value_or("");
      part.label = std::move(partition.label).value_or("");
      part.number = partition.number;
      part.type_guid = std::move(partition.type_guid).value_or("");
    }
  }
  for (v3_2::File& file : storage.files) AddFiles(std::move(file), mounts, to.files);
  to.filesystems = FromFilesystems(std::move(storage.filesystems));
  for (v3_2::Link& link : storage.links) {
    Link& same = to.links.emplace_back();
    mounts.Place(link.path, same);
    same.group = FromOwner(std::move(link.group));
    same.overwrite = link.overwrite;
    same.user = FromOwner(std::move(link.user));
    same.hard = link.hard.value_or(false);
    same.target = std::move(link.target);
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
    Unit& same = to.units.emplace_back();
    same.contents = std::move(unit.contents).value_or("");
    for (v3_2::Dropin& dropin : unit.dropins) {
      same.dropins.push_back({.contents = std::move(dropin.contents).value_or(""), .name = std::move(dropin.name)});
    }
    same.enabled = unit.enabled;
    same.mask = unit.mask.value_or(false);
    same.name = std::move(unit.name);
  }
  return to;
}

// Spec 2 has no paths in its reports, so that ours stand behind its text.
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
  TRY(FindLosses(config));
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
