// SPDX-License-Identifier: Apache-2.0
#include "ignition/go_types.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"

namespace pintle::ignition {
namespace {

// Maps a field to its Go type, or to the Go type of its elements if it is a list.
struct TypeName {
  std::string_view field;
  std::string_view type;
};

constexpr std::array kTypes = {
    TypeName{"append", "Resource"},
    TypeName{"cex", "Cex"},
    TypeName{"certificateAuthorities", "Resource"},
    TypeName{"clevis", "Clevis"},
    TypeName{"config", "IgnitionConfig"},
    TypeName{"contents", "Resource"},
    TypeName{"custom", "ClevisCustom"},
    TypeName{"devices", "Device"},
    TypeName{"directories", "Directory"},
    TypeName{"disks", "Disk"},
    TypeName{"dropins", "Dropin"},
    TypeName{"files", "File"},
    TypeName{"filesystems", "Filesystem"},
    TypeName{"group", "NodeGroup"},
    TypeName{"groups", "PasswdGroup"},
    TypeName{"httpHeaders", "HTTPHeader"},
    TypeName{"ignition", "Ignition"},
    TypeName{"kernelArguments", "KernelArguments"},
    TypeName{"keyFile", "Resource"},
    TypeName{"links", "Link"},
    TypeName{"luks", "Luks"},
    TypeName{"merge", "Resource"},
    TypeName{"mountOptions", "MountOption"},
    TypeName{"noProxy", "NoProxyItem"},
    TypeName{"openOptions", "OpenOption"},
    TypeName{"partitions", "Partition"},
    TypeName{"passwd", "Passwd"},
    TypeName{"proxy", "Proxy"},
    TypeName{"raid", "Raid"},
    TypeName{"replace", "Resource"},
    TypeName{"security", "Security"},
    TypeName{"shouldExist", "KernelArgument"},
    TypeName{"shouldNotExist", "KernelArgument"},
    TypeName{"sshAuthorizedKeys", "SSHAuthorizedKey"},
    TypeName{"storage", "Storage"},
    TypeName{"systemd", "Systemd"},
    TypeName{"tang", "Tang"},
    TypeName{"timeouts", "Timeouts"},
    TypeName{"tls", "TLS"},
    TypeName{"units", "Unit"},
    TypeName{"user", "NodeUser"},
    TypeName{"users", "PasswdUser"},
    TypeName{"verification", "Verification"},
};

// This is enough for the digits of a 64-bit number and a fraction.
constexpr std::size_t kLongestNumber = 24;

// Returns the type of a field that only spec 2 has, or that has another type there.
std::string_view TypeInSpec2(std::string_view field, std::string_view parent_field) {
  if (field == "append" || field == "replace") return "ConfigReference";
  if (field == "create") return parent_field == "users" ? "Usercreate" : "Create";
  if (field == "dropins") return "SystemdDropin";
  if (field == "mount") return "Mount";
  if (field == "networkd") return "Networkd";
  if (field == "options" && parent_field == "mount") return "MountOption";
  if (field == "units" && parent_field == "networkd") return "Networkdunit";
  return "";
}

std::string TypeOf(const std::vector<std::string_view>& fields, Spec spec) {
  if (fields.empty()) return "Config";
  const std::string_view field = fields.back();
  const std::string_view parent_field = fields.size() > 1 ? fields[fields.size() - 2] : "";
  const bool is_spec2 = spec.major == 2;
  if (is_spec2 && !TypeInSpec2(field, parent_field).empty()) return std::string(TypeInSpec2(field, parent_field));
  if (is_spec2 || spec.minor == 0) {
    if (field == "append" || field == "contents") return "FileContents";
    if (field == "merge" || field == "replace") return "ConfigReference";
    if (field == "certificateAuthorities") return "CaReference";
  }
  if (field == "custom" && spec.minor <= 2) return "Custom";
  if (field == "groups" && parent_field == "users") return "Group";
  if (field == "options") {
    return parent_field == "raid" ? "RaidOption" : parent_field == "luks" ? "LuksOption" : "FilesystemOption";
  }
  const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return t.field == field; });
  return type == kTypes.end() ? "" : std::string(type->type);
}

// Ignition keeps the fields of a file, directory or link in two embedded structs, which its messages name.  Returns the
// name of the struct that has the field, with a dot; "" for other types.
std::string_view PartOfNode(std::string_view type, std::string_view field) {
  if (type != "File" && type != "Directory" && type != "Link") return "";
  constexpr std::array kNodeFields = {"filesystem", "group", "overwrite", "path", "user"};
  if (std::find(kNodeFields.begin(), kNodeFields.end(), field) != kNodeFields.end()) return "Node.";
  return type == "File" ? "FileEmbedded1." : type == "Directory" ? "DirectoryEmbedded1." : "LinkEmbedded1.";
}

// Returns the JSON type of a value in the words of Go's messages.
std::string_view JsonTypeOf(std::string_view token) {
  switch (token.empty() ? 'n' : token[0]) {
    case '"':
      return "string";
    case '{':
      return "object";
    case '[':
      return "array";
    case 't':
    case 'f':
      return "bool";
    default:
      return "number";
  }
}

bool IsIndex(std::string_view part) { return !part.empty() && std::all_of(part.begin(), part.end(), IsDigit); }

}  // namespace

std::string WrongTypeText(const json::Problem& problem, std::string_view token, Spec spec) {
  std::vector<std::string_view> fields;  // The parts of the path that are not indexes in lists.
  std::string dotted_fields;
  std::string struct_name = "Config";
  std::string_view remaining = std::string_view(problem.path).substr(1);  // Without the "$" of the root.
  bool is_element = false;
  while (!remaining.empty()) {
    remaining.remove_prefix(1);  // The dot.
    const std::string_view part = remaining.substr(0, remaining.find('.'));
    remaining.remove_prefix(part.size());
    is_element = IsIndex(part);
    if (is_element) continue;
    struct_name = TypeOf(fields, spec);
    dotted_fields += fmt::format(".{}{}", PartOfNode(struct_name, part), part);
    fields.push_back(part);
  }
  const std::string type = "types." + TypeOf(fields, spec);
  std::string wanted = type;
  std::string kind(JsonTypeOf(token));
  if (problem.what == "must be a string") {
    wanted = is_element ? type : "string";
  } else if (problem.what == "must be true or false") {
    wanted = "bool";
  } else if (problem.what == "must be a list") {
    // Only the list of headers is a named type.
    wanted = fields.back() == "httpHeaders" ? "types.HTTPHeaders" : "[]" + type;
  } else if (problem.what != "must be an object") {
    wanted = "int";
    // Fields for numbers hold no secrets, but anything can be written there, so only short numbers are included.
    if (kind == "number" && token.size() <= kLongestNumber) kind += fmt::format(" {}", token);
  }
  if (fields.empty()) return fmt::format("json: cannot unmarshal {} into Go value of type {}", kind, wanted);
  return fmt::format("json: cannot unmarshal {} into Go struct field {}{} of type {}", kind, struct_name, dotted_fields,
                     wanted);
}

}  // namespace pintle::ignition
