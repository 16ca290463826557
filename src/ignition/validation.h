// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports Ignition's errors and warnings, for all versions of the specification.
//
// The versions differ little, so one walk serves all: fields that a version does not have are skipped, and other
// differences are in the Rules of the version.  Problems are in Ignition's words and order, which people and tools
// know.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ignition/keys.h"
#include "ignition/path_tree.h"
#include "ignition/paths.h"
#include "ignition/unit_file.h"
#include "ignition/url.h"
#include "ignition/verification.h"
#include "json/field_list.h"
#include "json/parse.h"

namespace pintle::ignition {

struct Rules {
  std::string_view version;
  bool sha256 = true;  // Whether a hash may be a SHA-256 digest.
  UrlRules urls;
  bool format_none = true;  // Whether a filesystem may have the format "none".
  // Whether sources are checked.  This check takes longer than all others, since data URLs have whole files in them.
  bool sources = true;
};

namespace internal {

inline bool IsSet(const std::optional<std::string>& text) { return text && !text->empty(); }
inline bool IsSet(const std::string& text) { return !text.empty(); }
inline bool IsTrue(const std::optional<bool>& value) { return value.value_or(false); }
inline bool IsFalse(const std::optional<bool>& value) { return !value.value_or(true); }

inline const std::string& TextOf(const std::string& text) { return text; }
inline const std::string& TextOf(const std::optional<std::string>& text) {
  static const std::string kNothing;
  return text ? *text : kNothing;
}

// Checks the GUID of a partition, such as 01234567-89AB-CDEF-EDCB-A98765432101.  An empty text is valid.
bool IsGuid(std::string_view text);

// Returns whether a text is this version.  Its numbers may have leading zeros, and it may end in "-" or "+".
bool IsSameVersion(std::string_view text, std::string_view version);

// These return why a label, or the level of an array with this number of spares, is invalid, or "" if it is valid.
std::string_view FilesystemLabelProblem(std::string_view format, std::string_view label);
std::string_view RaidLevelProblem(std::string_view level, std::int64_t spares);

inline bool IsUnitExtension(std::string_view extension) {
  constexpr std::array kExtensions = {".service", ".socket", ".device", ".mount",    ".automount", ".swap",
                                      ".target",  ".path",   ".timer",  ".snapshot", ".slice",     ".scope"};
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

// The place of a partition on its disk.
struct Extent {
  // As in Ignition, an extent of size 0, which stands for the remaining space, covers only its start.  An end that
  // overflows wraps around.
  Extent(std::int64_t place, std::int64_t size, std::size_t partition)
      : start(place),
        end(size == 0
                ? place
                : static_cast<std::int64_t>(static_cast<std::uint64_t>(place) + static_cast<std::uint64_t>(size) - 1)),
        index(partition) {}

  std::int64_t start;
  std::int64_t end;
  std::size_t index;
};

// Finds the first extent that overlaps another, and returns the index of the first partition that it overlaps.  Returns
// nullopt if no extents overlap.  If there are more than 1000 extents and some overlap, the result may be the index of
// the last partition instead.
std::optional<std::size_t> FindOverlap(const std::vector<Extent>& extents);

// Adds an error unless `problem` is empty.
inline void ReportProblem(json::Report& report, const json::Path& path, std::string_view problem) {
  if (!problem.empty()) report.Error(path, std::string(problem));
}

class Validator {
 public:
  Validator(const Rules& rules, json::Report& report) : rules_(rules), report_(report) {}

  template <typename Config>
  void Walk(const Config& config) {
    const json::Path root;
    const json::Path storage(root, "storage");
    CheckUnitPaths(config, storage);
    CheckIgnition(config.ignition, json::Path(root, "ignition"));
    CheckStorage(config.storage, storage);
    ForEach(config.systemd.units, json::Path(json::Path(root, "systemd"), "units"),
            [&](const auto& unit, const json::Path& path) { CheckUnit(unit, path); });
    FindDuplicates(config, root);
  }

 private:
  using Path = json::Path;

  template <typename T, typename Visit>
  static void ForEach(const std::vector<T>& list, const Path& path, Visit&& visit) {
    for (std::size_t i = 0; i < list.size(); ++i) visit(list[i], Path(path, i));
  }

  // Reports an error unless `problem` is empty.
  void Error(const Path& path, std::string_view problem) { ReportProblem(report_, path, problem); }
  void Warning(const Path& path, std::string problem) { report_.Warning(path, std::move(problem)); }

  // A file, directory or link must not have the path of a unit or of a drop-in.
  template <typename Config>
  void CheckUnitPaths(const Config& config, const Path& storage) {
    std::unordered_set<std::string> unit_paths;
    for (const auto& unit : config.systemd.units) {
      const std::string path = "/etc/systemd/system/" + unit.name;
      if (IsSet(unit.contents)) unit_paths.insert(path);
      for (const auto& dropin : unit.dropins) {
        if (IsSet(dropin.contents)) unit_paths.insert(path + ".d/" + dropin.name);
      }
    }
    if (unit_paths.empty()) return;
    const auto check = [&](const auto& nodes, const char* field) {
      ForEach(nodes, Path(storage, field), [&](const auto& node, const Path& path) {
        if (unit_paths.contains(node.path)) Error(Path(path, "path"), "path conflicts with systemd unit or dropin");
      });
    };
    check(config.storage.files, "files");
    check(config.storage.directories, "directories");
    check(config.storage.links, "links");
  }

  template <typename Ignition>
  void CheckIgnition(const Ignition& ignition, const Path& path) {
    if (!IsSameVersion(ignition.version, rules_.version)) Error(Path(path, "version"), "unsupported config version");
    const Path config(path, "config");
    ForEach(ignition.config.merge, Path(config, "merge"),
            [&](const auto& resource, const Path& at) { CheckRequiredSource(resource, at); });
    ForEach(ignition.config.merge, Path(config, "merge"),
            [&](const auto& resource, const Path& at) { CheckResource(resource, at); });
    CheckResource(ignition.config.replace, Path(config, "replace"));
    if constexpr (requires { ignition.proxy; }) {
      CheckProxy(ignition.proxy.http_proxy, Path(Path(path, "proxy"), "httpProxy"), true);
      CheckProxy(ignition.proxy.https_proxy, Path(Path(path, "proxy"), "httpsProxy"), false);
    }
    const Path security(path, "security");
    const Path tls(security, "tls");
    const Path authorities(tls, "certificateAuthorities");
    const auto& list = ignition.security.tls.certificate_authorities;
    ForEach(list, authorities, [&](const auto& resource, const Path& at) { CheckRequiredSource(resource, at); });
    ForEach(list, authorities, [&](const auto& resource, const Path& at) { CheckResource(resource, at); });
  }

  void CheckProxy(const std::optional<std::string>& proxy, const Path& path, bool may_be_plain) {
    if (!proxy) return;
    const auto url = ParseUrl(*proxy);
    if (!url) return Error(path, url.error().message());
    if (url->scheme != "http" && url->scheme != "https") return Error(path, "proxies must be http(s)");
    if (url->scheme == "http" && !may_be_plain) {
      Warning(path, "insecure plaintext HTTP proxy specified for HTTPS resources");
    }
  }

  // Returns "" if the source is valid, or if the rules do not ask for a check of sources.
  std::string ProblemOf(const std::string& source) const {
    return rules_.sources ? SourceProblem(source, rules_.urls) : std::string();
  }

  // Since spec 3.1, merged configs and certificate authorities must have a source.
  template <typename Resource>
  void CheckRequiredSource(const Resource& resource, const Path& path) {
    if constexpr (requires { resource.http_headers; }) {
      Error(path, IsSet(resource.source) ? ProblemOf(*resource.source) : "source is required");
    }
  }

  template <typename Resource>
  void CheckResource(const Resource& resource, const Path& path) {
    if constexpr (requires { resource.compression; }) {
      if (IsSet(resource.compression) && *resource.compression != "gzip") {
        Error(Path(path, "compression"), "invalid compression method");
      }
      if (resource.verification.hash && !resource.source) {
        Error(Path(Path(path, "verification"), "hash"), "source must be specified if verification is specified");
      }
    }
    // The source of certificate authorities is mandatory in spec 3.0.
    constexpr bool kNeedsSource = std::same_as<decltype(resource.source), std::string>;
    if (kNeedsSource || IsSet(resource.source)) {
      Error(Path(path, "source"), ProblemOf(TextOf(resource.source)));
    }
    if constexpr (requires { resource.http_headers; }) CheckHeaders(resource, path);
    if (resource.verification.hash) {
      Error(Path(Path(path, "verification"), "hash"), HashProblem(*resource.verification.hash, rules_.sha256));
    }
  }

  template <typename Resource>
  void CheckHeaders(const Resource& resource, const Path& path) {
    if (resource.http_headers.empty()) return;
    const Path headers(path, "httpHeaders");
    const auto url = ParseUrl(TextOf(resource.source));
    if (!url || !IsSet(resource.source)) {
      Error(headers, "unable to parse url");
    } else if (url->scheme != "http" && url->scheme != "https") {
      Error(headers, "cannot use HTTP headers with this source scheme");
    }
    ForEach(resource.http_headers, headers, [&](const auto& header, const Path& at) {
      if (header.name.empty()) Error(Path(at, "name"), "HTTP header name can't be empty");
      if (header.value && header.value->empty()) Error(Path(at, "value"), "unable to parse HTTP header");
    });
  }

  template <typename Storage>
  void CheckStorage(const Storage& storage, const Path& path) {
    CheckLinks(storage, path);
    CheckDiskUse(storage, path);
    ForEach(storage.directories, Path(path, "directories"), [&](const auto& directory, const Path& at) {
      CheckNode(directory, at, [&] { CheckMode(directory.mode, at); });
    });
    ForEach(storage.disks, Path(path, "disks"), [&](const auto& disk, const Path& at) { CheckDisk(disk, at); });
    ForEach(storage.files, Path(path, "files"), [&](const auto& file, const Path& at) { CheckFile(file, at); });
    ForEach(storage.filesystems, Path(path, "filesystems"),
            [&](const auto& filesystem, const Path& at) { CheckFilesystem(filesystem, at); });
    ForEach(storage.links, Path(path, "links"), [&](const auto& link, const Path& at) { CheckNode(link, at, [] {}); });
    if constexpr (requires { storage.luks; }) {
      ForEach(storage.luks, Path(path, "luks"), [&](const auto& luks, const Path& at) { CheckLuks(luks, at); });
    }
    ForEach(storage.raid, Path(path, "raid"), [&](const auto& raid, const Path& at) { CheckRaid(raid, at); });
  }

  template <typename Storage>
  void CheckLinks(const Storage& storage, const Path& path) {
    if (storage.links.empty()) return;
    PathTree links;
    for (const auto& link : storage.links) links.Add(link.path);
    // Ignition reports one problem for each link above a path.  Here the number is limited, since more problems help
    // nobody.
    constexpr std::size_t kMostReported = 100;
    const auto check = [&](const auto& node, const Path& at, const char* problem) {
      for (std::size_t i = std::min(links.CountAbove(node.path), kMostReported); i > 0; --i) Error(at, problem);
    };
    ForEach(storage.directories, Path(path, "directories"), [&](const auto& directory, const Path& at) {
      check(directory, at, "directory path includes link in config");
    });
    ForEach(storage.files, Path(path, "files"),
            [&](const auto& file, const Path& at) { check(file, at, "file path includes link in config"); });
    std::unordered_set<std::string_view> directories;
    for (const auto& directory : storage.directories) directories.insert(directory.path);
    ForEach(storage.links, Path(path, "links"), [&](const auto& link, const Path& at) {
      check(link, at, "link path includes link in config");
      constexpr bool kMayBeMissing =
          std::same_as<std::remove_cvref_t<decltype(link.target)>, std::optional<std::string>>;
      if (kMayBeMissing && !IsSet(link.target)) return Error(Path(at, "target"), "link target is required");
      if (IsTrue(link.hard)) CheckHardLink(link, at, directories);
    });
  }

  template <typename Link>
  void CheckHardLink(const Link& link, const Path& path, const std::unordered_set<std::string_view>& directories) {
    std::string target = CleanPath(TextOf(link.target));
    if (!IsAbsolute(target)) target = JoinPath(link.path, TextOf(link.target));
    if (directories.contains(target)) Error(path, "hard link target is a directory");
    const auto check_owner = [&](bool is_set, const char* whose, const char* field) {
      if (is_set) Warning(Path(Path(path, whose), field), "user/group ignored for hard link");
    };
    check_owner(link.user.id.has_value(), "user", "id");
    check_owner(link.user.name.has_value(), "user", "name");
    check_owner(link.group.id.has_value(), "group", "id");
    check_owner(link.group.name.has_value(), "group", "name");
  }

  template <typename Storage>
  void CheckDiskUse(const Storage& storage, const Path& path) {
    std::unordered_map<std::string_view, std::size_t> disks;
    for (std::size_t i = 0; i < storage.disks.size(); ++i) disks[storage.disks[i].device] = i;
    ForEach(storage.filesystems, Path(path, "filesystems"), [&](const auto& filesystem, const Path& at) {
      const auto found = disks.find(filesystem.device);
      if (found == disks.end()) return;
      const auto& disk = storage.disks[found->second];
      if (!disk.partitions.empty()) {
        Warning(Path(at, "device"), "filesystem overwrites partitioned device");
      } else if (!IsTrue(filesystem.wipe_filesystem) && IsTrue(disk.wipe_table)) {
        Warning(Path(at, "device"), "device matches disk with wipeTable enabled; filesystem will be wiped");
      }
    });
  }

  template <typename Node, typename CheckMore>
  void CheckNode(const Node& node, const Path& path, CheckMore&& check_more) {
    Error(Path(path, "path"), PathProblem(node.path));
    check_more();
    const auto check_owner = [&](const auto& owner, const char* field) {
      if (owner.id && IsSet(owner.name)) Error(Path(path, field), "cannot set both id and name");
    };
    check_owner(node.group, "group");
    check_owner(node.user, "user");
  }

  void CheckMode(const std::optional<std::int64_t>& mode, const Path& path) {
    if (!mode) return;
    if (*mode < 0 || *mode > 07777) Error(Path(path, "mode"), "illegal file mode");
    if ((*mode & 07000) != 0) {
      Warning(Path(path, "mode"),
              "setuid/setgid/sticky bits are not supported or functional in spec versions older than 3.6.0");
    }
  }

  template <typename File>
  void CheckFile(const File& file, const Path& path) {
    CheckNode(file, path, [&] {
      CheckMode(file.mode, path);
      if (IsTrue(file.overwrite) && !file.contents.source) {
        Error(Path(path, "overwrite"), "overwrite must be false if source is unspecified");
      }
    });
    ForEach(file.append, Path(path, "append"),
            [&](const auto& resource, const Path& at) { CheckResource(resource, at); });
    CheckResource(file.contents, Path(path, "contents"));
  }

  template <typename Disk>
  void CheckDisk(const Disk& disk, const Path& path) {
    if (disk.device.empty()) {
      Error(Path(path, "device"), "disk device is required");
    } else {
      Error(Path(path, "device"), PathProblem(disk.device));
      CheckPartitionTable(disk, Path(path, "partitions"));
    }
    ForEach(disk.partitions, Path(path, "partitions"),
            [&](const auto& partition, const Path& at) { CheckPartition(partition, at); });
  }

  template <typename Disk>
  void CheckPartitionTable(const Disk& disk, const Path& path) {
    std::set<std::int64_t> numbers;
    std::set<std::string_view> labels;
    std::vector<Extent> extents;
    std::optional<std::size_t> same_number;
    std::optional<std::size_t> same_label;
    bool has_zero = false;
    bool has_absent = false;
    for (std::size_t i = 0; i < disk.partitions.size(); ++i) {
      const auto& partition = disk.partitions[i];
      if (partition.number != 0 && !numbers.insert(partition.number).second && !same_number) same_number = i;
      if (partition.label && !labels.insert(*partition.label).second && !same_label) same_label = i;
      has_zero = has_zero || partition.number == 0;
      has_absent = has_absent || IsFalse(partition.should_exist);
      if (partition.start_mib.value_or(0) == 0 || !partition.size_mib) continue;
      extents.emplace_back(*partition.start_mib, *partition.size_mib, i);
    }
    if (same_number) Error(Path(path, *same_number), "partition numbers collide");
    if (const auto overlap = FindOverlap(extents)) Error(Path(path, *overlap), "partitions overlap");
    if (has_zero && has_absent) {
      Error(path, "shouldExist is false for a partition and other partition(s) has start or size 0");
    }
    if (same_label) Error(Path(path, *same_label), "cannot use the same partition label twice");
  }

  template <typename Partition>
  void CheckPartition(const Partition& partition, const Path& path) {
    if (IsFalse(partition.should_exist) && (partition.label || IsSet(partition.type_guid) || IsSet(partition.guid) ||
                                            partition.start_mib || partition.size_mib)) {
      Error(path, "shouldExist specified false with other options also specified");
    }
    if (partition.number == 0 && !partition.label) {
      Error(path, "a partition number >= 1 or a label must be specified");
    }
    if (partition.label && partition.label->size() > 36) {
      Error(Path(path, "label"), "partition labels may not exceed 36 characters");
    } else if (partition.label && partition.label->find(':') != std::string::npos) {
      Error(Path(path, "label"), "partition label will be truncated to text before the colon");
    }
    const auto check_guid = [&](const std::optional<std::string>& guid, const char* field) {
      if (guid && !IsGuid(*guid)) {
        Error(Path(path, field), "doesn't match the form \"01234567-89AB-CDEF-EDCB-A98765432101\"");
      }
    };
    check_guid(partition.guid, "guid");
    check_guid(partition.type_guid, "typeGuid");
  }

  template <typename Filesystem>
  void CheckFilesystem(const Filesystem& filesystem, const Path& path) {
    if (IsSet(filesystem.path)) Error(Path(path, "path"), PathProblem(*filesystem.path));
    Error(Path(path, "device"), PathProblem(filesystem.device));
    Error(Path(path, "format"), FormatProblem(filesystem));
    if (!IsSet(filesystem.label)) return;
    Error(Path(path, "label"), FilesystemLabelProblem(TextOf(filesystem.format), *filesystem.label));
  }

  template <typename Filesystem>
  std::string_view FormatProblem(const Filesystem& filesystem) const {
    if (IsSet(filesystem.format)) {
      constexpr std::array kFormats = {"ext4", "btrfs", "xfs", "swap", "vfat"};
      const bool known = std::find(kFormats.begin(), kFormats.end(), *filesystem.format) != kFormats.end() ||
                         (*filesystem.format == "none" && rules_.format_none);
      return known ? "" : "invalid filesystem format";
    }
    bool needs_format = IsSet(filesystem.path) || IsSet(filesystem.label) || IsSet(filesystem.uuid) ||
                        IsTrue(filesystem.wipe_filesystem) || !filesystem.options.empty();
    if constexpr (requires { filesystem.mount_options; }) {
      needs_format = needs_format || !filesystem.mount_options.empty();
    }
    if (!needs_format) return "";
    return "format cannot be empty when path, label, uuid, wipeFilesystem, options, or mountOptions is specified";
  }

  template <typename Raid>
  void CheckRaid(const Raid& raid, const Path& path) {
    const bool may_be_missing = std::same_as<std::remove_cvref_t<decltype(raid.level)>, std::optional<std::string>>;
    if (may_be_missing && !IsSet(raid.level)) {
      Error(Path(path, "level"), "raid level is required");
    } else {
      Error(Path(path, "level"), RaidLevelProblem(TextOf(raid.level), raid.spares.value_or(0)));
    }
    if (raid.devices.empty()) Error(Path(path, "devices"), "raid devices required");
    ForEach(raid.devices, Path(path, "devices"),
            [&](const std::string& device, const Path& at) { Error(at, PathProblem(device)); });
  }

  template <typename Luks>
  void CheckLuks(const Luks& luks, const Path& path) {
    if (luks.name.find('/') != std::string::npos) Error(Path(path, "name"), "device names cannot contain slashes");
    if (luks.label && luks.label->size() > 47) {
      Error(Path(path, "label"), "luks device labels cannot be longer than 47 characters");
    }
    Error(Path(path, "device"), IsSet(luks.device) ? PathProblem(*luks.device) : "disk device is required");
    const Path clevis(path, "clevis");
    WithClevis(luks.clevis, [&](const auto& pins) { CheckPins(pins, clevis); });
    if (IsSet(luks.key_file.source) && !ProblemOf(*luks.key_file.source).empty()) {
      Error(Path(path, "keys"), "invalid key-file source");
    }
    if constexpr (requires { luks.cex; }) {
      if (IsTrue(luks.cex.enabled) && IsPresent(luks.clevis)) Error(Path(path, "cex"), "cannot use cex with clevis");
      if (IsTrue(luks.cex.enabled) && IsSet(luks.key_file.source)) {
        Error(Path(path, "cex"), "cannot use key file with cex");
      }
    }
    WithClevis(luks.clevis, [&](const auto& pins) { CheckPinContents(pins, clevis); });
    CheckResource(luks.key_file, Path(path, "keyFile"));
  }

  template <typename Clevis, typename Visit>
  static void WithClevis(const std::optional<Clevis>& clevis, Visit&& visit) {
    if (clevis) visit(*clevis);
  }
  template <typename Clevis, typename Visit>
  static void WithClevis(const Clevis& clevis, Visit&& visit) {
    visit(clevis);
  }

  template <typename Clevis>
  static bool HasOtherPins(const Clevis& clevis) {
    return !clevis.tang.empty() || IsTrue(clevis.tpm2) || clevis.threshold.value_or(0) != 0;
  }

  template <typename Clevis>
  static bool IsPresent(const Clevis& clevis) {
    return IsSet(clevis.custom.pin) || HasOtherPins(clevis);
  }

  template <typename Clevis>
  void CheckPins(const Clevis& clevis, const Path& path) {
    bool is_custom = false;
    if constexpr (requires { clevis.custom.pin; }) {
      is_custom = IsSet(clevis.custom.pin);
    } else {
      is_custom = clevis.custom.has_value();
    }
    if (is_custom && HasOtherPins(clevis)) {
      Error(path, "cannot use custom clevis config with tpm2, tang, or threshold");
    }
  }

  template <typename Clevis>
  void CheckPinContents(const Clevis& clevis, const Path& path) {
    const Path custom(path, "custom");
    if constexpr (requires { clevis.custom.pin; }) {
      const auto& pin = clevis.custom;
      if (IsSet(pin.pin) || IsSet(pin.config) || IsTrue(pin.needs_network)) {
        CheckCustomPin(pin, custom, "missing required custom clevis pin");
      }
    } else if (clevis.custom && (IsSet(clevis.custom->pin) || IsSet(clevis.custom->config))) {
      CheckCustomPin(*clevis.custom, custom, "unsupported clevis pin");
    }
    ForEach(clevis.tang, Path(path, "tang"), [&](const auto& tang, const Path& at) { CheckTang(tang, at); });
  }

  template <typename Custom>
  void CheckCustomPin(const Custom& custom, const Path& path, const char* missing_pin) {
    const std::string& pin = TextOf(custom.pin);
    if (pin.empty()) {
      Error(Path(path, "pin"), missing_pin);
    } else if (pin != "tpm2" && pin != "tang" && pin != "sss") {
      Error(Path(path, "pin"), "unsupported clevis pin");
    }
    if (!IsSet(custom.config)) Error(Path(path, "config"), "missing required custom clevis config");
  }

  template <typename Tang>
  void CheckTang(const Tang& tang, const Path& path) {
    const auto url = ParseUrl(tang.url);
    if (!url) {
      Error(Path(path, "url"), url.error().message());
    } else if (url->scheme != "http" && url->scheme != "https") {
      Error(Path(path, "url"), "invalid url scheme");
    }
    if (!IsSet(tang.thumbprint)) Error(Path(path, "thumbprint"), "thumbprint is required");
    if constexpr (requires { tang.advertisement; }) {
      if (IsSet(tang.advertisement) && !json::Parse(*tang.advertisement)) {
        Error(Path(path, "advertisement"), "advertisement is not valid JSON");
      }
    }
  }

  template <typename Unit>
  void CheckUnit(const Unit& unit, const Path& path) {
    if (!IsUnitExtension(ExtensionOf(unit.name))) Error(Path(path, "name"), "invalid systemd unit extension");
    if (unit.contents) {
      const auto contents = ReadUnit(*unit.contents);
      if (!contents) Error(Path(path, "contents"), contents.error().message());
      if (contents && IsTrue(unit.enabled) && IsSet(unit.contents) && !contents->has_install_section) {
        Warning(Path(path, "contents"),
                "unit \"" + unit.name + "\" is enabled, but has no install section so enable does nothing");
      }
    }
    ForEach(unit.dropins, Path(path, "dropins"), [&](const auto& dropin, const Path& at) {
      if (dropin.contents) {
        if (const auto contents = ReadUnit(*dropin.contents); !contents) {
          Error(Path(at, "contents"), contents.error().message());
        }
      }
      if (ExtensionOf(dropin.name) != ".conf") Error(Path(at, "name"), "invalid systemd drop-in extension");
    });
  }

  // No element with a key may occur twice in a list, or in lists that share a key space.
  template <typename T>
  void FindDuplicates(const T& value, const Path& path) {
    if constexpr (json::Described<T>) {
      std::map<std::string_view, std::unordered_set<std::string>> seen;
      json::ForEachField<T>(
          [&](const auto& field) { FindDuplicatesIn(value.*field.member, Path(path, field.name), field.name, seen); });
      json::ForEachField<T>([&](const auto& field) { FindDuplicates(value.*field.member, Path(path, field.name)); });
    } else if constexpr (json::internal::kIsOptional<T>) {
      if (value) FindDuplicates(*value, path);
    } else if constexpr (json::internal::kIsVector<T>) {
      if constexpr (!std::same_as<T, std::vector<std::string>>) {
        ForEach(value, path, [&](const auto& element, const Path& at) { FindDuplicates(element, at); });
      }
    }
  }

  template <typename T>
  void FindDuplicatesIn(const T& value, const Path& path, std::string_view field,
                        std::map<std::string_view, std::unordered_set<std::string>>& seen) {
    if constexpr (json::internal::kIsVector<T>) {
      if (IsAppendedList(field) || value.empty()) return;
      std::unordered_set<std::string>& keys = seen[KeySpace(field)];
      ForEach(value, path, [&](const auto& element, const Path& at) {
        if (!keys.insert(Key(element)).second) Error(at, "duplicate entry defined");
      });
    }
  }

  const Rules& rules_;
  json::Report& report_;
};

}  // namespace internal

template <typename Config>
void ValidateBy(const Rules& rules, const Config& config, json::Report& report) {
  internal::Validator(rules, report).Walk(config);
}

}  // namespace pintle::ignition
