// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 3.2, which adds LUKS, the removal of users and groups, and resizable partitions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ignition/v3_1/types.h"
#include "json/field_list.h"

namespace pintle::ignition::v3_2 {

using json::Field;
using json::FieldList;
using json::Required;

using v3_1::Directory;
using v3_1::Dropin;
using v3_1::File;
using v3_1::Filesystem;
using v3_1::HttpHeader;
using v3_1::Ignition;
using v3_1::IgnitionConfig;
using v3_1::Link;
using v3_1::NodeOwner;
using v3_1::Proxy;
using v3_1::Raid;
using v3_1::Resource;
using v3_1::Security;
using v3_1::Systemd;
using v3_1::Timeouts;
using v3_1::Tls;
using v3_1::Unit;
using v3_1::Verification;

struct PasswdGroup {
  std::optional<std::int64_t> gid;
  std::string name;
  std::optional<std::string> password_hash;
  std::optional<bool> should_exist;
  std::optional<bool> system;

  static constexpr auto kFields = FieldList{
      Field{"gid", &PasswdGroup::gid},
      Required{"name", &PasswdGroup::name},
      Field{"passwordHash", &PasswdGroup::password_hash},
      Field{"shouldExist", &PasswdGroup::should_exist},
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
  std::optional<bool> should_exist;
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
      Field{"shouldExist", &PasswdUser::should_exist},
      Field{"system", &PasswdUser::system},
      Field{"uid", &PasswdUser::uid},
  };
};

struct Passwd {
  std::vector<PasswdGroup> groups;
  std::vector<PasswdUser> users;

  static constexpr auto kFields = FieldList{Field{"groups", &Passwd::groups}, Field{"users", &Passwd::users}};
};

struct Partition {
  std::optional<std::string> guid;
  std::optional<std::string> label;
  std::int64_t number = 0;
  std::optional<bool> resize;
  std::optional<bool> should_exist;
  std::optional<std::int64_t> size_mib;
  std::optional<std::int64_t> start_mib;
  std::optional<std::string> type_guid;
  std::optional<bool> wipe_partition_entry;

  static constexpr auto kFields = FieldList{
      Field{"guid", &Partition::guid},
      Field{"label", &Partition::label},
      Field{"number", &Partition::number},
      Field{"resize", &Partition::resize},
      Field{"shouldExist", &Partition::should_exist},
      Field{"sizeMiB", &Partition::size_mib},
      Field{"startMiB", &Partition::start_mib},
      Field{"typeGuid", &Partition::type_guid},
      Field{"wipePartitionEntry", &Partition::wipe_partition_entry},
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

struct Tang {
  std::optional<std::string> thumbprint;
  std::string url;

  static constexpr auto kFields = FieldList{Field{"thumbprint", &Tang::thumbprint}, Field{"url", &Tang::url}};
};

struct ClevisCustom {
  std::string config;
  std::optional<bool> needs_network;
  std::string pin;

  static constexpr auto kFields = FieldList{
      Required{"config", &ClevisCustom::config},
      Field{"needsNetwork", &ClevisCustom::needs_network},
      Required{"pin", &ClevisCustom::pin},
  };
};

struct Clevis {
  std::optional<ClevisCustom> custom;
  std::vector<Tang> tang;
  std::optional<std::int64_t> threshold;
  std::optional<bool> tpm2;

  static constexpr auto kFields = FieldList{
      Field{"custom", &Clevis::custom},
      Field{"tang", &Clevis::tang},
      Field{"threshold", &Clevis::threshold},
      Field{"tpm2", &Clevis::tpm2},
  };
};

struct Luks {
  std::optional<Clevis> clevis;
  std::optional<std::string> device;
  Resource key_file;
  std::optional<std::string> label;
  std::string name;
  std::vector<std::string> options;
  std::optional<std::string> uuid;
  std::optional<bool> wipe_volume;

  static constexpr auto kFields = FieldList{
      Field{"clevis", &Luks::clevis}, Field{"device", &Luks::device},          Field{"keyFile", &Luks::key_file},
      Field{"label", &Luks::label},   Required{"name", &Luks::name},           Field{"options", &Luks::options},
      Field{"uuid", &Luks::uuid},     Field{"wipeVolume", &Luks::wipe_volume},
  };
};

struct Storage {
  std::vector<Directory> directories;
  std::vector<Disk> disks;
  std::vector<File> files;
  std::vector<Filesystem> filesystems;
  std::vector<Link> links;
  std::vector<Luks> luks;
  std::vector<Raid> raid;

  static constexpr auto kFields = FieldList{
      Field{"directories", &Storage::directories},
      Field{"disks", &Storage::disks},
      Field{"files", &Storage::files},
      Field{"filesystems", &Storage::filesystems},
      Field{"links", &Storage::links},
      Field{"luks", &Storage::luks},
      Field{"raid", &Storage::raid},
  };
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

}  // namespace pintle::ignition::v3_2
