// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 3.3, which adds kernel arguments and filesystems of format "none".  A link's target, an
// array's level and a custom Clevis pin may be left out of a config that is merged into another.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ignition/v3_2/types.h"
#include "json/field_list.h"

namespace pintle::ignition::v3_3 {

using json::Field;
using json::FieldList;
using json::Required;

using v3_2::Directory;
using v3_2::Disk;
using v3_2::Dropin;
using v3_2::File;
using v3_2::Filesystem;
using v3_2::HttpHeader;
using v3_2::Ignition;
using v3_2::IgnitionConfig;
using v3_2::NodeOwner;
using v3_2::Partition;
using v3_2::Passwd;
using v3_2::PasswdGroup;
using v3_2::PasswdUser;
using v3_2::Proxy;
using v3_2::Resource;
using v3_2::Security;
using v3_2::Systemd;
using v3_2::Tang;
using v3_2::Timeouts;
using v3_2::Tls;
using v3_2::Unit;
using v3_2::Verification;

struct KernelArguments {
  std::vector<std::string> should_exist;
  std::vector<std::string> should_not_exist;

  static constexpr auto kFields = FieldList{
      Field{"shouldExist", &KernelArguments::should_exist},
      Field{"shouldNotExist", &KernelArguments::should_not_exist},
  };
};

struct Link {
  NodeOwner group;
  std::optional<bool> overwrite;
  std::string path;
  NodeOwner user;
  std::optional<bool> hard;
  std::optional<std::string> target;

  static constexpr auto kFields = FieldList{
      Field{"group", &Link::group}, Field{"overwrite", &Link::overwrite}, Required{"path", &Link::path},
      Field{"user", &Link::user},   Field{"hard", &Link::hard},           Field{"target", &Link::target},
  };
};

struct ClevisCustom {
  std::optional<std::string> config;
  std::optional<bool> needs_network;
  std::optional<std::string> pin;

  static constexpr auto kFields = FieldList{
      Field{"config", &ClevisCustom::config},
      Field{"needsNetwork", &ClevisCustom::needs_network},
      Field{"pin", &ClevisCustom::pin},
  };
};

struct Clevis {
  ClevisCustom custom;
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
  Clevis clevis;
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

struct Raid {
  std::vector<std::string> devices;
  std::optional<std::string> level;
  std::string name;
  std::vector<std::string> options;
  std::optional<std::int64_t> spares;

  static constexpr auto kFields = FieldList{
      Field{"devices", &Raid::devices}, Field{"level", &Raid::level},   Required{"name", &Raid::name},
      Field{"options", &Raid::options}, Field{"spares", &Raid::spares},
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
  KernelArguments kernel_arguments;
  Passwd passwd;
  Storage storage;
  Systemd systemd;

  static constexpr auto kFields = FieldList{
      Required{"ignition", &Config::ignition}, Field{"kernelArguments", &Config::kernel_arguments},
      Field{"passwd", &Config::passwd},        Field{"storage", &Config::storage},
      Field{"systemd", &Config::systemd},
  };
};

}  // namespace pintle::ignition::v3_3
