// SPDX-License-Identifier: Apache-2.0
#include "ignition/butane.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/base64.h"
#include "ignition/data_url.h"
#include "ignition/octal_mode.h"
#include "json/fields.h"

namespace pintle::ignition {
namespace {

using json::Path;
using json::Value;

// A version of Butane, and the version of Ignition to which Butane translates it.
struct ButaneVersion {
  std::string_view variant;
  std::string_view version;
  std::string_view ignition;
};

constexpr std::array kVersions = {
    ButaneVersion{"fcos", "1.0.0", "3.0.0"},       ButaneVersion{"fcos", "1.1.0", "3.1.0"},
    ButaneVersion{"fcos", "1.2.0", "3.2.0"},       ButaneVersion{"fcos", "1.3.0", "3.2.0"},
    ButaneVersion{"fcos", "1.4.0", "3.3.0"},       ButaneVersion{"fcos", "1.5.0", "3.4.0"},
    ButaneVersion{"fcos", "1.6.0", "3.5.0"},       ButaneVersion{"openshift", "4.8.0", "3.2.0"},
    ButaneVersion{"openshift", "4.9.0", "3.2.0"},  ButaneVersion{"openshift", "4.10.0", "3.2.0"},
    ButaneVersion{"openshift", "4.11.0", "3.2.0"}, ButaneVersion{"openshift", "4.12.0", "3.2.0"},
    ButaneVersion{"openshift", "4.13.0", "3.2.0"}, ButaneVersion{"openshift", "4.14.0", "3.4.0"},
    ButaneVersion{"openshift", "4.15.0", "3.4.0"}, ButaneVersion{"openshift", "4.16.0", "3.4.0"},
    ButaneVersion{"openshift", "4.17.0", "3.4.0"}, ButaneVersion{"openshift", "4.18.0", "3.4.0"},
    ButaneVersion{"openshift", "4.19.0", "3.5.0"}, ButaneVersion{"openshift", "4.20.0", "3.5.0"},
};

constexpr std::string_view kRoleLabel = "machineconfiguration.openshift.io/role";

// Translates a name such as "ssh_authorized_keys" to Ignition's "sshAuthorizedKeys".
std::string ToIgnitionName(std::string_view name) {
  std::string to;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i) == "_mib") return to + "MiB";
    if (name[i] == '_' && i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1])) != 0) {
      to += static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i])));
    } else {
      to += name[i];
    }
  }
  return to;
}

// Translates a whole path back to Butane's names.
std::string ToButanePath(std::string_view path) {
  std::string to;
  while (!path.empty()) {
    if (path.starts_with("MiB")) {
      to += "_mib";
      path.remove_prefix(3);
      continue;
    }
    const auto c = static_cast<unsigned char>(path[0]);
    if (std::isupper(c) != 0) to += '_';
    to += static_cast<char>(std::tolower(c));
    path.remove_prefix(1);
  }
  return to;
}

// Returns whether these keys lead to a string in T, which is a struct or the type of a field.
template <typename T>
bool HoldsText(std::span<const std::string_view> keys) {
  if constexpr (json::internal::kIsOptional<T> || json::internal::kIsVector<T>) {
    return HoldsText<typename T::value_type>(keys);
  } else if constexpr (json::internal::kIsMap<T>) {
    return !keys.empty() && HoldsText<typename T::mapped_type>(keys.subspan(1));
  } else if constexpr (json::Described<T>) {
    if (keys.empty()) return false;
    const std::string name = ToIgnitionName(keys.front());
    bool holds = false;
    json::ForEachField<T>([&](const auto& field) {
      using Member = typename std::remove_cvref_t<decltype(field)>::Member;
      // ButaneMetadata and ButaneOpenshift have Butane's names, and the structs of Ignition have Ignition's.
      if (field.name == name || field.name == keys.front()) holds = HoldsText<Member>(keys.subspan(1));
    });
    return holds;
  } else {
    return keys.empty() && std::is_same_v<T, std::string>;
  }
}

// Recognises keys of strings that only Butane has.
bool IsTextOfButane(std::string_view key) {
  constexpr std::array kKeys = {"inline", "local", "contents_local", "ssh_authorized_keys_local"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// Returns the shorter of the two forms of a data URL.
std::string ShortestDataUrl(std::string_view bytes) {
  std::string escaped = EncodeDataUrl(bytes);
  constexpr std::string_view kBase64 = "data:;base64,";
  if (kBase64.size() + (bytes.size() + 2) / 3 * 4 >= escaped.size()) return escaped;
  return std::string(kBase64) + EncodeBase64(bytes);
}

bool HasText(const Value& object, const char* key) {
  const Value* member = object.Find(key);
  return member != nullptr && member->is_string();
}

// Removes a member, which must be a string, and returns it.
std::string TakeText(Value& object, const char* key) {
  std::string text = std::move(object[key].text());
  object.Erase(key);
  return text;
}

class Translator {
 public:
  Translator(json::Report& report, const ReadLocalFile& read_local) : report_(report), read_local_(read_local) {}

  // Renames the keys in a value, and replaces fields that Ignition does not have.
  Value Translate(Value from, const Path& path) {
    if (from.is_array()) {
      std::size_t index = 0;
      for (Value& element : from) element = Translate(std::move(element), Path(path, index++));
      return from;
    }
    if (!from.is_object()) return from;
    ReplaceButaneFields(from, path);
    Value to = Value::object();
    for (auto& [key, value] : from.members()) {
      to[ToIgnitionName(key)] = Translate(std::move(value), Path(path, key));
    }
    return to;
  }

 private:
  void ReplaceButaneFields(Value& object, const Path& path) {
    for (const char* unsupported : {"boot_device", "grub", "trees"}) Refuse(object, unsupported, path);
    if (const Value* mount = object.Find("with_mount_unit")) {
      if (*mount == true) report_.Error(Path(path, "with_mount_unit"), "is not supported: write the mount unit");
      object.Erase("with_mount_unit");
    }
    SetSource(object, path);
    SetLocalText(object, "contents_local", "contents", path);
    AddLocalKeys(object, path);
    CheckMode(object, path);
  }

  void Refuse(Value& object, const char* key, const Path& path) {
    if (!object.Erase(key)) return;
    report_.Error(Path(path, key), "is not supported by Pintle; remove it");
  }

  void SetSource(Value& object, const Path& path) {
    const bool is_inline = HasText(object, "inline");
    const bool is_local = HasText(object, "local");
    if (!is_inline && !is_local) return;
    if (is_inline && is_local) return report_.Error(path, "only one of inline and local can be set");
    if (object.contains("source")) {
      return report_.Error(path, fmt::format("only one of source and {} can be set", is_inline ? "inline" : "local"));
    }
    std::string contents;
    if (is_inline) {
      contents = TakeText(object, "inline");
    } else if (auto read = ReadLocal(TakeText(object, "local"), Path(path, "local"))) {
      contents = *std::move(read);
    }
    object["source"] = ShortestDataUrl(contents);
    // The compression is set explicitly, since a merge could otherwise inherit a compression from the parent config.
    if (!object.contains("compression")) object["compression"] = "";
  }

  std::optional<std::string> ReadLocal(const std::string& name, const Path& path) {
    if (!read_local_) {
      report_.Error(path, "names a local file, which cannot be read here: write its contents as inline");
      return std::nullopt;
    }
    auto contents = read_local_(name);
    if (contents) return *std::move(contents);
    report_.Error(path, contents.error().message());
    return std::nullopt;
  }

  void SetLocalText(Value& object, const char* key, const char* to, const Path& path) {
    if (!HasText(object, key)) return;
    const auto contents = ReadLocal(TakeText(object, key), Path(path, key));
    if (object.contains(to)) return report_.Error(path, fmt::format("only one of {} and {} can be set", to, key));
    if (contents) object[to] = *contents;
  }

  // Adds the SSH keys in the files of `ssh_authorized_keys_local`, which have one key on each line.
  void AddLocalKeys(Value& object, const Path& path) {
    Value* files = object.Find("ssh_authorized_keys_local");
    if (files == nullptr || !files->is_array()) return;
    Value names = std::move(*files);
    object.Erase("ssh_authorized_keys_local");
    Value& keys = object["ssh_authorized_keys"];
    if (keys.is_null()) keys = Value::array();
    if (!keys.is_array()) return;
    const Path list(path, "ssh_authorized_keys_local");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].is_string()) {
        report_.Error(Path(list, i), "must be a string");
      } else if (const auto contents = ReadLocal(names[i].text(), Path(list, i))) {
        AddLines(*contents, keys);
      }
    }
  }

  static void AddLines(std::string_view text, Value& lines) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty() && !line.starts_with('#')) lines.push_back(std::string(line));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // Turns a mode such as "0o644", which YAML 1.1 reads as a string, into a number.  Warns about numbers such as 644
  // that are probably not the intended modes.
  void CheckMode(Value& object, const Path& path) {
    Value* member = object.Find("mode");
    if (member == nullptr) return;
    if (member->is_string()) {
      if (const auto mode = ReadOctal(member->text())) *member = *mode;
    } else if (member->is_integer()) {
      const auto mode = member->integer();
      if (const auto meant = MeantInOctal(mode)) {
        report_.Warning(Path(path, "mode"), fmt::format("is {:#o} in octal: did you mean {:#o}?", mode, *meant));
      }
    }
  }

  static std::optional<std::int64_t> ReadOctal(std::string_view text) {
    constexpr std::string_view kPrefix = "0o";
    constexpr std::size_t kMostDigits = 6;  // More than any mode has.
    if (!text.starts_with(kPrefix) || text.size() == kPrefix.size()) return std::nullopt;
    if (text.size() > kPrefix.size() + kMostDigits) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : text.substr(kPrefix.size())) {
      if (c < '0' || c > '7') return std::nullopt;
      value = value * 8 + (c - '0');
    }
    return value;
  }

  json::Report& report_;
  const ReadLocalFile& read_local_;
};

// Removes a section from the document and decodes it.
template <typename T>
T TakeSection(Value& document, const char* key, json::Report& report) {
  T section;
  Value* member = document.Find(key);
  if (member == nullptr) return section;
  json::DecodeInto(std::move(*member), section, Path(Path(), key), report);
  document.Erase(key);
  return section;
}

std::string TakeTextOrNothing(Value& document, const char* key) {
  return HasText(document, key) ? TakeText(document, key) : "";
}

Result<std::string_view> IgnitionVersionOf(std::string_view variant, std::string_view version, json::Report& report) {
  std::string known;
  for (const ButaneVersion& entry : kVersions) {
    if (entry.variant != variant) continue;
    if (entry.version == version) return entry.ignition;
    known += (known.empty() ? "" : ", ") + std::string(entry.version);
  }
  if (known.empty()) {
    report.Error(Path(Path(), "variant"), "must be fcos or openshift");
  } else {
    report.Error(Path(Path(), "version"), fmt::format("must be one of {}", known));
  }
  return Error(ErrorKind::kInvalid, "unknown kind of Butane config");
}

void CheckMetadata(const Butane& butane, json::Report& report) {
  const Path root;
  const Path metadata(root, "metadata");  // It refers to `root`.
  if (butane.variant != "openshift") return;
  if (butane.metadata.name.empty()) report.Error(Path(metadata, "name"), "is required");
  if (butane.metadata.labels.contains(std::string(kRoleLabel))) return;
  report.Error(Path(metadata, "labels"), fmt::format("must have the label {}", kRoleLabel));
}

// Copies the problems of the Ignition config with Butane's names in their paths.
void ReportAsButane(const json::Report& from, json::Report& to) {
  for (const json::Problem& problem : from.problems()) {
    constexpr std::size_t kRootSize = 2;  // Each path is "$" or begins with "$.".
    const std::string path =
        ToButanePath(std::string_view(problem.path).substr(std::min(kRootSize, problem.path.size())));
    const Path root;
    const Path whole = path.empty() ? root : Path(root, path);
    if (problem.severity == json::Severity::kError) {
      to.Error(whole, problem.what);
    } else {
      to.Warning(whole, problem.what);
    }
  }
}

}  // namespace

bool IsButane(const Value& document) { return document.is_object() && document.contains("variant"); }

bool IsPlaceOfText(std::span<const std::string_view> keys) {
  if (keys.empty()) return false;
  const bool is_alone = keys.size() == 1;
  if (is_alone && (keys.front() == "variant" || keys.front() == "version")) return true;
  if (keys.front() == "metadata") return HoldsText<ButaneMetadata>(keys.subspan(1));
  if (keys.front() == "openshift") return HoldsText<ButaneOpenshift>(keys.subspan(1));
  return IsTextOfButane(keys.back()) || HoldsText<Config>(keys);
}

Result<Butane> ReadButane(Value document, json::Report& report, const ReadLocalFile& read_local) {
  if (!document.is_object()) {
    report.Error(Path(), "must be an object");
    return Error(ErrorKind::kInvalid, "a Butane config is an object");
  }
  Butane butane;
  butane.variant = TakeTextOrNothing(document, "variant");
  const std::string version = TakeTextOrNothing(document, "version");
  const std::string_view ignition_version = TRY(IgnitionVersionOf(butane.variant, version, report));
  butane.ignition_version = TRY(ParseSpecVersion(ignition_version));
  if (butane.variant == "openshift") {
    butane.metadata = TakeSection<ButaneMetadata>(document, "metadata", report);
    butane.openshift = TakeSection<ButaneOpenshift>(document, "openshift", report);
  }
  CheckMetadata(butane, report);
  Value ignition = Translator(report, read_local).Translate(std::move(document), Path());
  Value& section = ignition["ignition"];
  if (section.is_null()) section = Value::object();
  if (section.is_object()) section["version"] = std::string(ignition_version);
  json::Report ignition_report;
  auto config = Parse(std::move(ignition), ignition_report);
  ReportAsButane(ignition_report, report);
  TRY(report.ToResult());
  butane.config = TRY(std::move(config));
  return butane;
}

}  // namespace pintle::ignition
