// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 3.4.  This version adds LUKS open options and discard, and Tang advertisements.  It also
// allows special mode bits, and sources that are Amazon resource names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ignition/v3_3/types.h"
#include "json/field_list.h"

namespace pintle::ignition::v3_4 {

using json::Field;
using json::FieldList;
using json::Required;

using v3_3::ClevisCustom;
using v3_3::Directory;
using v3_3::Disk;
using v3_3::Dropin;
using v3_3::File;
using v3_3::Filesystem;
using v3_3::HttpHeader;
using v3_3::Ignition;
using v3_3::IgnitionConfig;
using v3_3::KernelArguments;
using v3_3::Link;
using v3_3::NodeOwner;
using v3_3::Partition;
using v3_3::Passwd;
using v3_3::PasswdGroup;
using v3_3::PasswdUser;
using v3_3::Proxy;
using v3_3::Raid;
using v3_3::Resource;
using v3_3::Security;
using v3_3::Systemd;
using v3_3::Timeouts;
using v3_3::Tls;
using v3_3::Unit;
using v3_3::Verification;

struct Tang {
  std::optional<std::string> advertisement;
  std::optional<std::string> thumbprint;
  std::string url;

  static constexpr auto kFields = FieldList{
      Field{"advertisement", &Tang::advertisement},
      Field{"thumbprint", &Tang::thumbprint},
      Field{"url", &Tang::url},
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
  std::optional<bool> discard;
  Resource key_file;
  std::optional<std::string> label;
  std::string name;
  std::vector<std::string> open_options;
  std::vector<std::string> options;
  std::optional<std::string> uuid;
  std::optional<bool> wipe_volume;

  static constexpr auto kFields = FieldList{
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

}  // namespace pintle::ignition::v3_4
