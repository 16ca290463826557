// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 2.2, the last 2.x version that the Machine Config Operator accepts and serves.
//
// Versions 2.0 and 2.1 have fewer fields, and are read into the same structs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ignition/v3_0/types.h"
#include "json/field_list.h"

namespace pintle::ignition::v2 {

using json::Field;
using json::FieldList;
using json::Required;

using v3_0::Timeouts;
using v3_0::Verification;

struct ConfigReference {
  std::string source;
  Verification verification;

  static constexpr auto kFields =
      FieldList{Field{"source", &ConfigReference::source}, Field{"verification", &ConfigReference::verification}};
};

struct FileContents {
  std::string compression;
  std::string source;
  Verification verification;

  static constexpr auto kFields = FieldList{
      Field{"compression", &FileContents::compression},
      Field{"source", &FileContents::source},
      Field{"verification", &FileContents::verification},
  };
};

struct IgnitionConfig {
  std::vector<ConfigReference> append;
  std::optional<ConfigReference> replace;

  static constexpr auto kFields =
      FieldList{Field{"append", &IgnitionConfig::append}, Field{"replace", &IgnitionConfig::replace}};
};

struct Tls {
  std::vector<ConfigReference> certificate_authorities;

  static constexpr auto kFields = FieldList{Field{"certificateAuthorities", &Tls::certificate_authorities}};
};

struct Security {
  Tls tls;

  static constexpr auto kFields = FieldList{Field{"tls", &Security::tls}};
};

struct Ignition {
  IgnitionConfig config;
  Security security;
  Timeouts timeouts;
  std::string version;

  static constexpr auto kFields = FieldList{
      Field{"config", &Ignition::config},
      Field{"security", &Ignition::security},
      Field{"timeouts", &Ignition::timeouts},
      Field{"version", &Ignition::version},
  };
};

struct NetworkdDropin {
  std::string contents;
  std::string name;

  static constexpr auto kFields =
      FieldList{Field{"contents", &NetworkdDropin::contents}, Field{"name", &NetworkdDropin::name}};
};

struct NetworkdUnit {
  std::string contents;
  std::vector<NetworkdDropin> dropins;
  std::string name;

  static constexpr auto kFields = FieldList{
      Field{"contents", &NetworkdUnit::contents},
      Field{"dropins", &NetworkdUnit::dropins},
      Field{"name", &NetworkdUnit::name},
  };
};

struct Networkd {
  std::vector<NetworkdUnit> units;

  static constexpr auto kFields = FieldList{Field{"units", &Networkd::units}};
};

struct PasswdGroup {
  std::optional<std::int64_t> gid;
  std::string name;
  std::string password_hash;
  bool system = false;

  static constexpr auto kFields = FieldList{
      Field{"gid", &PasswdGroup::gid},
      Field{"name", &PasswdGroup::name},
      Field{"passwordHash", &PasswdGroup::password_hash},
      Field{"system", &PasswdGroup::system},
  };
};

// The deprecated form of the properties of a new user.
struct UserCreate {
  std::string gecos;
  std::vector<std::string> groups;
  std::string home_dir;
  bool no_create_home = false;
  bool no_log_init = false;
  bool no_user_group = false;
  std::string primary_group;
  std::string shell;
  bool system = false;
  std::optional<std::int64_t> uid;

  static constexpr auto kFields = FieldList{
      Field{"gecos", &UserCreate::gecos},
      Field{"groups", &UserCreate::groups},
      Field{"homeDir", &UserCreate::home_dir},
      Field{"noCreateHome", &UserCreate::no_create_home},
      Field{"noLogInit", &UserCreate::no_log_init},
      Field{"noUserGroup", &UserCreate::no_user_group},
      Field{"primaryGroup", &UserCreate::primary_group},
      Field{"shell", &UserCreate::shell},
      Field{"system", &UserCreate::system},
      Field{"uid", &UserCreate::uid},
  };
};

struct PasswdUser {
  std::optional<UserCreate> create;
  std::string gecos;
  std::vector<std::string> groups;
  std::string home_dir;
  std::string name;
  bool no_create_home = false;
  bool no_log_init = false;
  bool no_user_group = false;
  std::optional<std::string> password_hash;
  std::string primary_group;
  std::vector<std::string> ssh_authorized_keys;
  std::string shell;
  bool system = false;
  std::optional<std::int64_t> uid;

  static constexpr auto kFields = FieldList{
      Field{"create", &PasswdUser::create},
      Field{"gecos", &PasswdUser::gecos},
      Field{"groups", &PasswdUser::groups},
      Field{"homeDir", &PasswdUser::home_dir},
      Field{"name", &PasswdUser::name},
      Field{"noCreateHome", &PasswdUser::no_create_home},
      Field{"noLogInit", &PasswdUser::no_log_init},
      Field{"noUserGroup", &PasswdUser::no_user_group},
      Field{"passwordHash", &PasswdUser::password_hash},
      Field{"primaryGroup", &PasswdUser::primary_group},
      Field{"sshAuthorizedKeys", &PasswdUser::ssh_authorized_keys},
      Field{"shell", &PasswdUser::shell},
      Field{"system", &PasswdUser::system},
      Field{"uid", &PasswdUser::uid},
  };
};

struct Passwd {
  std::vector<PasswdGroup> groups;
  std::vector<PasswdUser> users;

  static constexpr auto kFields = FieldList{Field{"groups", &Passwd::groups}, Field{"users", &Passwd::users}};
};

struct NodeOwner {
  std::optional<std::int64_t> id;
  std::string name;

  static constexpr auto kFields = FieldList{Field{"id", &NodeOwner::id}, Field{"name", &NodeOwner::name}};
};

struct Directory {
  std::string filesystem;
  std::optional<NodeOwner> group;
  std::optional<bool> overwrite;
  std::string path;
  std::optional<NodeOwner> user;
  std::optional<std::int64_t> mode;

  static constexpr auto kFields = FieldList{
      Field{"filesystem", &Directory::filesystem},
      Field{"group", &Directory::group},
      Field{"overwrite", &Directory::overwrite},
      Field{"path", &Directory::path},
      Field{"user", &Directory::user},
      Field{"mode", &Directory::mode},
  };
};

struct File {
  std::string filesystem;
  std::optional<NodeOwner> group;
  std::optional<bool> overwrite;
  std::string path;
  std::optional<NodeOwner> user;
  bool append = false;
  FileContents contents;
  std::optional<std::int64_t> mode;

  static constexpr auto kFields = FieldList{
      Field{"filesystem", &File::filesystem},
      Field{"group", &File::group},
      Field{"overwrite", &File::overwrite},
      Field{"path", &File::path},
      Field{"user", &File::user},
      Field{"append", &File::append},
      Field{"contents", &File::contents},
      Field{"mode", &File::mode},
  };
};

struct Link {
  std::string filesystem;
  std::optional<NodeOwner> group;
  std::optional<bool> overwrite;
  std::string path;
  std::optional<NodeOwner> user;
  bool hard = false;
  std::string target;

  static constexpr auto kFields = FieldList{
      Field{"filesystem", &Link::filesystem},
      Field{"group", &Link::group},
      Field{"overwrite", &Link::overwrite},
      Field{"path", &Link::path},
      Field{"user", &Link::user},
      Field{"hard", &Link::hard},
      Field{"target", &Link::target},
  };
};

// Size and start are counted in sectors.
struct Partition {
  std::string guid;
  std::string label;
  std::int64_t number = 0;
  std::int64_t size = 0;
  std::int64_t start = 0;
  std::string type_guid;

  static constexpr auto kFields = FieldList{
      Field{"guid", &Partition::guid}, Field{"label", &Partition::label}, Field{"number", &Partition::number},
      Field{"size", &Partition::size}, Field{"start", &Partition::start}, Field{"typeGuid", &Partition::type_guid},
  };
};

struct Disk {
  std::string device;
  std::vector<Partition> partitions;
  bool wipe_table = false;

  static constexpr auto kFields = FieldList{
      Field{"device", &Disk::device},
      Field{"partitions", &Disk::partitions},
      Field{"wipeTable", &Disk::wipe_table},
  };
};

// The deprecated form of the options for making a filesystem.
struct MountCreate {
  bool force = false;
  std::vector<std::string> options;

  static constexpr auto kFields =
      FieldList{Field{"force", &MountCreate::force}, Field{"options", &MountCreate::options}};
};

struct Mount {
  std::optional<MountCreate> create;
  std::string device;
  std::string format;
  std::optional<std::string> label;
  std::vector<std::string> options;
  std::optional<std::string> uuid;
  bool wipe_filesystem = false;

  static constexpr auto kFields = FieldList{
      Field{"create", &Mount::create},
      Field{"device", &Mount::device},
      Field{"format", &Mount::format},
      Field{"label", &Mount::label},
      Field{"options", &Mount::options},
      Field{"uuid", &Mount::uuid},
      Field{"wipeFilesystem", &Mount::wipe_filesystem},
  };
};

struct Filesystem {
  std::optional<Mount> mount;
  std::string name;
  std::optional<std::string> path;

  static constexpr auto kFields = FieldList{
      Field{"mount", &Filesystem::mount},
      Field{"name", &Filesystem::name},
      Field{"path", &Filesystem::path},
  };
};

struct Raid {
  std::vector<std::string> devices;
  std::string level;
  std::string name;
  std::vector<std::string> options;
  std::int64_t spares = 0;

  static constexpr auto kFields = FieldList{
      Field{"devices", &Raid::devices}, Field{"level", &Raid::level},   Field{"name", &Raid::name},
      Field{"options", &Raid::options}, Field{"spares", &Raid::spares},
  };
};

struct Storage {
  std::vector<Directory> directories;
  std::vector<Disk> disks;
  std::vector<File> files;
  std::vector<Filesystem> filesystems;
  std::vector<Link> links;
  std::vector<Raid> raid;

  static constexpr auto kFields = FieldList{
      Field{"directories", &Storage::directories}, Field{"disks", &Storage::disks}, Field{"files", &Storage::files},
      Field{"filesystems", &Storage::filesystems}, Field{"links", &Storage::links}, Field{"raid", &Storage::raid},
  };
};

struct Dropin {
  std::string contents;
  std::string name;

  static constexpr auto kFields = FieldList{Field{"contents", &Dropin::contents}, Field{"name", &Dropin::name}};
};

struct Unit {
  std::string contents;
  std::vector<Dropin> dropins;
  bool enable = false;  // Deprecated in favour of `enabled`.
  std::optional<bool> enabled;
  bool mask = false;
  std::string name;

  static constexpr auto kFields = FieldList{
      Field{"contents", &Unit::contents}, Field{"dropins", &Unit::dropins}, Field{"enable", &Unit::enable},
      Field{"enabled", &Unit::enabled},   Field{"mask", &Unit::mask},       Field{"name", &Unit::name},
  };
};

struct Systemd {
  std::vector<Unit> units;

  static constexpr auto kFields = FieldList{Field{"units", &Systemd::units}};
};

struct Config {
  Ignition ignition;
  Networkd networkd;
  Passwd passwd;
  Storage storage;
  Systemd systemd;

  static constexpr auto kFields = FieldList{
      Required{"ignition", &Config::ignition}, Field{"networkd", &Config::networkd}, Field{"passwd", &Config::passwd},
      Field{"storage", &Config::storage},      Field{"systemd", &Config::systemd},
  };
};

}  // namespace pintle::ignition::v2
