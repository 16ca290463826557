// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 3.5, the newest that we know, which adds LUKS keys bound to a CEX secure key card.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ignition/v3_4/types.h"
#include "json/field_list.h"

namespace pintle::ignition::v3_5 {

using json::Field;
using json::FieldList;
using json::Required;

using v3_4::Clevis;
using v3_4::ClevisCustom;
using v3_4::Directory;
using v3_4::Disk;
using v3_4::Dropin;
using v3_4::File;
using v3_4::Filesystem;
using v3_4::HttpHeader;
using v3_4::Ignition;
using v3_4::IgnitionConfig;
using v3_4::KernelArguments;
using v3_4::Link;
using v3_4::NodeOwner;
using v3_4::Partition;
using v3_4::Passwd;
using v3_4::PasswdGroup;
using v3_4::PasswdUser;
using v3_4::Proxy;
using v3_4::Raid;
using v3_4::Resource;
using v3_4::Security;
using v3_4::Systemd;
using v3_4::Tang;
using v3_4::Timeouts;
using v3_4::Tls;
using v3_4::Unit;
using v3_4::Verification;

struct Cex {
  std::optional<bool> enabled;

  static constexpr auto kFields = FieldList{Field{"enabled", &Cex::enabled}};
};

struct Luks {
  Cex cex;
  Clevis clevis;
  std::optional<std::string> device;
  std::optional<bool> discard;
  Resource key_file;
  std::optional<std::string> label;
  std::string name;
  std::vector<std::string> open_options;
  std::vector<std::string> options;
  std::optional<std::string> uuid;
  std::optional<bool> wipe_volume;

  static constexpr auto kFields = FieldList{
      Field{"cex", &Luks::cex},
      Field{"clevis", &Luks::clevis},
      Field{"device", &Luks::device},
      Field{"discard", &Luks::discard},
      Field{"keyFile", &Luks::key_file},
      Field{"label", &Luks::label},
      Required{"name", &Luks::name},
      Field{"openOptions", &Luks::open_options},
      Field{"options", &Luks::options},
      Field{"uuid", &Luks::uuid},
      Field{"wipeVolume", &Luks::wipe_volume},
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

}  // namespace pintle::ignition::v3_5
