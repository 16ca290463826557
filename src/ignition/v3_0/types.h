// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 3.0.
//
// Here, and in the folders of the later versions, fields have the order and the names of the specification.
// json::Required marks a field that is always written; Validate() reports required fields that are missing, in
// Ignition's words.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/field_list.h"

namespace pintle::ignition::v3_0 {

using json::Field;
using json::FieldList;
using json::Required;

struct Verification {
  std::optional<std::string> hash;

  static constexpr auto kFields = FieldList{Field{"hash", &Verification::hash}};
};

struct CaReference {
  std::string source;
  Verification verification;

  static constexpr auto kFields =
      FieldList{Required{"source", &CaReference::source}, Field{"verification", &CaReference::verification}};
};

struct ConfigReference {
  std::optional<std::string> source;
  Verification verification;

  static constexpr auto kFields =
      FieldList{Field{"source", &ConfigReference::source}, Field{"verification", &ConfigReference::verification}};
};

struct FileContents {
  std::optional<std::string> compression;
  std::optional<std::string> source;
  Verification verification;

  static constexpr auto kFields = FieldList{
      Field{"compression", &FileContents::compression},
      Field{"source", &FileContents::source},
      Field{"verification", &FileContents::verification},
  };
};

struct IgnitionConfig {
  std::vector<ConfigReference> merge;
  ConfigReference replace;

  static constexpr auto kFields =
      FieldList{Field{"merge", &IgnitionConfig::merge}, Field{"replace", &IgnitionConfig::replace}};
};

struct Tls {
  std::vector<CaReference> certificate_authorities;

  static constexpr auto kFields = FieldList{Field{"certificateAuthorities", &Tls::certificate_authorities}};
};

struct Security {
  Tls tls;

  static constexpr auto kFields = FieldList{Field{"tls", &Security::tls}};
};

struct Timeouts {
  std::optional<std::int64_t> http_response_headers;
  std::optional<std::int64_t> http_total;

  static constexpr auto kFields = FieldList{
      Field{"httpResponseHeaders", &Timeouts::http_response_headers},
      Field{"httpTotal", &Timeouts::http_total},
  };
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
      Required{"version", &Ignition::version},
  };
};

struct PasswdGroup {
  std::optional<std::int64_t> gid;
  std::string name;
  std::optional<std::string> password_hash;
  std::optional<bool> system;

  static constexpr auto kFields = FieldList{
      Field{"gid", &PasswdGroup::gid},
      Required{"name", &PasswdGroup::name},
      Field{"passwordHash", &PasswdGroup::password_hash},
      Field{"system", &PasswdGroup::system},
  };
};

struct PasswdUser {
  std::optional<std::string> gecos;
  std::vector<std::string> groups;
  std::optional<std::string> home_dir;
  std::string name;
  std::optional<bool> no_create_home;
  std::optional<bool> no_log_init;
  std::optional<bool> no_user_group;
  std::optional<std::string> password_hash;
  std::optional<std::string> primary_group;
  std::vector<std::string> ssh_authorized_keys;
  std::optional<std::string> shell;
  std::optional<bool> system;
  std::optional<std::int64_t> uid;

  static constexpr auto kFields = FieldList{
      Field{"gecos", &PasswdUser::gecos},
      Field{"groups", &PasswdUser::groups},
      Field{"homeDir", &PasswdUser::home_dir},
      Required{"name", &PasswdUser::name},
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

// The owner, or the owning group, of a node: a file, a directory or a link.
struct NodeOwner {
  std::optional<std::int64_t> id;
  std::optional<std::string> name;

  static constexpr auto kFields = FieldList{Field{"id", &NodeOwner::id}, Field{"name", &NodeOwner::name}};
};

struct Directory {
  NodeOwner group;
  std::optional<bool> overwrite;
  std::string path;
  NodeOwner user;
  std::optional<std::int64_t> mode;

  static constexpr auto kFields = FieldList{
      Field{"group", &Directory::group}, Field{"overwrite", &Directory::overwrite}, Required{"path", &Directory::path},
      Field{"user", &Directory::user},   Field{"mode", &Directory::mode},
  };
};

struct File {
  NodeOwner group;
  std::optional<bool> overwrite;
  std::string path;
  NodeOwner user;
  std::vector<FileContents> append;
  FileContents contents;
  std::optional<std::int64_t> mode;

  static constexpr auto kFields = FieldList{
      Field{"group", &File::group}, Field{"overwrite", &File::overwrite}, Required{"path", &File::path},
      Field{"user", &File::user},   Field{"append", &File::append},       Field{"contents", &File::contents},
      Field{"mode", &File::mode},
  };
};

struct Link {
  NodeOwner group;
  std::optional<bool> overwrite;
  std::string path;
  NodeOwner user;
  std::optional<bool> hard;
  std::string target;

  static constexpr auto kFields = FieldList{
      Field{"group", &Link::group}, Field{"overwrite", &Link::overwrite}, Required{"path", &Link::path},
      Field{"user", &Link::user},   Field{"hard", &Link::hard},           Required{"target", &Link::target},
  };
};

struct Partition {
  std::optional<std::string> guid;
  std::optional<std::string> label;
  std::int64_t number = 0;
  std::optional<bool> should_exist;
  std::optional<std::int64_t> size_mib;
  std::optional<std::int64_t> start_mib;
  std::optional<std::string> type_guid;
  std::optional<bool> wipe_partition_entry;

  static constexpr auto kFields = FieldList{
      Field{"guid", &Partition::guid},          Field{"label", &Partition::label},
      Field{"number", &Partition::number},      Field{"shouldExist", &Partition::should_exist},
      Field{"sizeMiB", &Partition::size_mib},   Field{"startMiB", &Partition::start_mib},
      Field{"typeGuid", &Partition::type_guid}, Field{"wipePartitionEntry", &Partition::wipe_partition_entry},
  };
};

struct Disk {
  std::string device;
  std::vector<Partition> partitions;
  std::optional<bool> wipe_table;

  static constexpr auto kFields = FieldList{
      Required{"device", &Disk::device},
      Field{"partitions", &Disk::partitions},
      Field{"wipeTable", &Disk::wipe_table},
  };
};

struct Filesystem {
  std::string device;
  std::optional<std::string> format;
  std::optional<std::string> label;
  std::vector<std::string> options;
  std::optional<std::string> path;
  std::optional<std::string> uuid;
  std::optional<bool> wipe_filesystem;

  static constexpr auto kFields = FieldList{
      Required{"device", &Filesystem::device},
      Field{"format", &Filesystem::format},
      Field{"label", &Filesystem::label},
      Field{"options", &Filesystem::options},
      Field{"path", &Filesystem::path},
      Field{"uuid", &Filesystem::uuid},
      Field{"wipeFilesystem", &Filesystem::wipe_filesystem},
  };
};

struct Raid {
  std::vector<std::string> devices;
  std::string level;
  std::string name;
  std::vector<std::string> options;
  std::optional<std::int64_t> spares;

  static constexpr auto kFields = FieldList{
      Required{"devices", &Raid::devices}, Required{"level", &Raid::level}, Required{"name", &Raid::name},
      Field{"options", &Raid::options},    Field{"spares", &Raid::spares},
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
  std::optional<std::string> contents;
  std::string name;

  static constexpr auto kFields = FieldList{Field{"contents", &Dropin::contents}, Required{"name", &Dropin::name}};
};

struct Unit {
  std::optional<std::string> contents;
  std::vector<Dropin> dropins;
  std::optional<bool> enabled;
  std::optional<bool> mask;
  std::string name;

  static constexpr auto kFields = FieldList{
      Field{"contents", &Unit::contents}, Field{"dropins", &Unit::dropins}, Field{"enabled", &Unit::enabled},
      Field{"mask", &Unit::mask},         Required{"name", &Unit::name},
  };
};

struct Systemd {
  std::vector<Unit> units;

  static constexpr auto kFields = FieldList{Field{"units", &Systemd::units}};
};

struct Config {
  Ignition ignition;
  Passwd passwd;
  Storage storage;
  Systemd systemd;

  static constexpr auto kFields = FieldList{
      Required{"ignition", &Config::ignition},
      Field{"passwd", &Config::passwd},
      Field{"storage", &Config::storage},
      Field{"systemd", &Config::systemd},
  };
};

}  // namespace pintle::ignition::v3_0
