// SPDX-License-Identifier: Apache-2.0

// Translates a config of spec 2 to spec 3.0.  A config is refused if it has anything that cannot be translated.

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ignition/losses.h"
#include "ignition/paths.h"
#include "ignition/v2/translate.h"
#include "ignition/v3_0/translate.h"

namespace pintle::ignition::v2 {
namespace {

// Spec 2 has an empty or zero value where spec 3 has none.
template <typename T>
std::optional<T> UnlessZero(T value) {
  if (value == T{}) return std::nullopt;
  return value;
}

Error Untranslatable(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

// Returns the path that a file, directory or link has in spec 3.  In spec 2, its path is relative to a filesystem that
// the config names.  CheckTranslatable() refuses configs that declare another filesystem than "root".
std::string WholePath(std::string_view filesystem, std::string_view path) {
  return filesystem == "root" ? JoinPath("/", path) : CleanPath(path);
}

// Checks that no path is used twice, and that no path begins with the path of a link in the same config.  Texts are
// compared, so a link /a also excludes the path /ab.
class NodeCheck {
 public:
  explicit NodeCheck(const std::vector<Link>& links) {
    for (const Link& link : links) links_.push_back(JoinPath("/", link.path));
    std::vector<std::string> sorted = links_;
    std::sort(sorted.begin(), sorted.end());
    for (std::string& link : sorted) {
      if (shortest_.empty() || !link.starts_with(*shortest_.rbegin())) shortest_.insert(std::move(link));
    }
  }

  // Returns an error if the node has the path of an earlier node, or a path that begins with a link's.  `kind` is the
  // word for the node in errors, such as "File".
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
    if (!UsesLink(path)) return {};
    // Like the operator, the error names the first link of the config with which the path begins.
    const auto link = std::find_if(links_.begin(), links_.end(),
                                   [&](const std::string& above) { return path.starts_with(above) && path != above; });
    return Untranslatable(fmt::format(
        "{} uses link defined in config \"{}\". Please use a link not defined in Storage:Links", name, *link));
  }

 private:
  // No link in `shortest_` begins with another of them.  So only the last of these links that does not sort after
  // `path` can be the beginning of `path`.
  bool UsesLink(const std::string& path) const {
    const auto behind = shortest_.upper_bound(path);
    if (behind == shortest_.begin()) return false;
    const std::string& link = *std::prev(behind);
    return path.starts_with(link) && path != link;
  }

  std::vector<std::string> links_;
  std::set<std::string> shortest_;  // The links that do not begin with the path of another link.
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
  // Spec 2 overwrites an existing file by default.  A file to which the config appends is never overwritten.
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
    v3_0::Disk& translated = to.disks.emplace_back();
    translated.device = std::move(disk.device);
    translated.wipe_table = UnlessZero(disk.wipe_table);
    for (Partition& partition : disk.partitions) {
      v3_0::Partition& part = translated.partitions.emplace_back();
      part.guid = UnlessZero(std::move(partition.guid));
      part.label = std::move(partition.label);
      part.number = partition.number;
      part.type_guid = UnlessZero(std::move(partition.type_guid));
    }
  }
  for (File& file : storage.files) to.files.push_back(ToFile(std::move(file)));
  // Filesystems are not translated: the checks accept only the root filesystem, which exists anyway.
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
    v3_0::Unit& translated = to.units.emplace_back();
    translated.contents = UnlessZero(std::move(unit.contents));
    for (Dropin& dropin : unit.dropins) {
      translated.dropins.push_back(
          {.contents = UnlessZero(std::move(dropin.contents)), .name = std::move(dropin.name)});
    }
    translated.enabled = unit.enabled;
    if (!translated.enabled && unit.enable) translated.enabled = true;
    translated.mask = UnlessZero(unit.mask);
    translated.name = std::move(unit.name);
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

}  // namespace pintle::ignition::v2
