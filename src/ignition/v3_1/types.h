// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Ignition config of spec 3.1, which adds HTTP headers, proxies and mount options, and has one kind of resource
// for everything that is fetched.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ignition/v3_0/types.h"
#include "json/field_list.h"

namespace pintle::ignition::v3_1 {

using json::Field;
using json::FieldList;
using json::Required;

using v3_0::Directory;
using v3_0::Disk;
using v3_0::Dropin;
using v3_0::Link;
using v3_0::NodeOwner;
using v3_0::Partition;
using v3_0::Passwd;
using v3_0::PasswdGroup;
using v3_0::PasswdUser;
using v3_0::Raid;
using v3_0::Systemd;
using v3_0::Timeouts;
using v3_0::Unit;
using v3_0::Verification;

struct HttpHeader {
  std::string name;
  std::optional<std::string> value;  // If not set, a merge removes the parent's header.

  static constexpr auto kFields = FieldList{Required{"name", &HttpHeader::name}, Field{"value", &HttpHeader::value}};
};

struct Resource {
  std::optional<std::string> compression;
  std::vector<HttpHeader> http_headers;
  std::optional<std::string> source;
  Verification verification;

  static constexpr auto kFields = FieldList{
      Field{"compression", &Resource::compression},
      Field{"httpHeaders", &Resource::http_headers},
      Field{"source", &Resource::source},
      Field{"verification", &Resource::verification},
  };
};

struct IgnitionConfig {
  std::vector<Resource> merge;
  Resource replace;

  static constexpr auto kFields =
      FieldList{Field{"merge", &IgnitionConfig::merge}, Field{"replace", &IgnitionConfig::replace}};
};

struct Proxy {
  std::optional<std::string> http_proxy;
  std::optional<std::string> https_proxy;
  std::vector<std::string> no_proxy;

  static constexpr auto kFields = FieldList{
      Field{"httpProxy", &Proxy::http_proxy},
      Field{"httpsProxy", &Proxy::https_proxy},
      Field{"noProxy", &Proxy::no_proxy},
  };
};

struct Tls {
  std::vector<Resource> certificate_authorities;

  static constexpr auto kFields = FieldList{Field{"certificateAuthorities", &Tls::certificate_authorities}};
};

struct Security {
  Tls tls;

  static constexpr auto kFields = FieldList{Field{"tls", &Security::tls}};
};

struct Ignition {
  IgnitionConfig config;
  Proxy proxy;
  Security security;
  Timeouts timeouts;
  std::string version;

  static constexpr auto kFields = FieldList{
      Field{"config", &Ignition::config},      Field{"proxy", &Ignition::proxy},
      Field{"security", &Ignition::security},  Field{"timeouts", &Ignition::timeouts},
      Required{"version", &Ignition::version},
  };
};

struct File {
  NodeOwner group;
  std::optional<bool> overwrite;
  std::string path;
  NodeOwner user;
  std::vector<Resource> append;
  Resource contents;
  std::optional<std::int64_t> mode;

  static constexpr auto kFields = FieldList{
      Field{"group", &File::group}, Field{"overwrite", &File::overwrite}, Required{"path", &File::path},
      Field{"user", &File::user},   Field{"append", &File::append},       Field{"contents", &File::contents},
      Field{"mode", &File::mode},
  };
};

struct Filesystem {
  std::string device;
  std::optional<std::string> format;
  std::optional<std::string> label;
  std::vector<std::string> mount_options;
  std::vector<std::string> options;
  std::optional<std::string> path;
  std::optional<std::string> uuid;
  std::optional<bool> wipe_filesystem;

  static constexpr auto kFields = FieldList{
      Required{"device", &Filesystem::device}, Field{"format", &Filesystem::format},
      Field{"label", &Filesystem::label},      Field{"mountOptions", &Filesystem::mount_options},
      Field{"options", &Filesystem::options},  Field{"path", &Filesystem::path},
      Field{"uuid", &Filesystem::uuid},        Field{"wipeFilesystem", &Filesystem::wipe_filesystem},
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

}  // namespace pintle::ignition::v3_1
