// SPDX-License-Identifier: Apache-2.0
#include "change/tuning.h"

#include <algorithm>
#include <functional>
#include <map>

namespace pintle::change {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

// Visits each line of a text, without the blanks around it.
template <typename Take>
void ForEachLine(std::string_view text, const Take& take) {
  constexpr std::string_view kBlanks = " \t\r";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    take(line.substr(0, line.find_last_not_of(kBlanks) + 1));
  }
}

Fields FieldsOf(std::string_view os_release) {
  Fields fields;
  ForEachLine(os_release, [&](std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    std::string_view value = line.substr(equals + 1);
    if (value.starts_with('"')) value.remove_prefix(1);
    if (value.ends_with('"')) value.remove_suffix(1);
    fields.insert_or_assign(std::string(line.substr(0, equals)), value);
  });
  return fields;
}

// The arguments that are allowed on an OS.
class AllowedArguments {
 public:
  explicit AllowedArguments(std::string_view os_release) {
    Fields fields = FieldsOf(os_release);
    const std::string& id = fields["ID"];
    const bool is_coreos = fields["VARIANT_ID"] == "coreos";
    allows_all_ = id == "fedora" && is_coreos;
    is_enterprise_ = id == "rhcos" || id == "scos" || ((id == "rhel" || id == "centos") && is_coreos);
  }

  bool Contains(std::string_view argument) const { return allows_all_ || (is_enterprise_ && argument == "nosmt"); }

 private:
  bool allows_all_ = false;
  bool is_enterprise_ = false;
};

}  // namespace

Tuning ParseTuning(std::string_view text, std::string_view os_release) {
  const AllowedArguments allowed(os_release);
  Tuning tuning;
  ForEachLine(text, [&](std::string_view line) {
    constexpr std::string_view kAdd = "ADD ", kDelete = "DELETE ";
    const bool adds = line.starts_with(kAdd);
    if (!adds && !line.starts_with(kDelete)) return;
    const std::string_view argument = line.substr(adds ? kAdd.size() : kDelete.size());
    auto& list = !allowed.Contains(argument) ? tuning.refused : adds ? tuning.add : tuning.remove;
    list.emplace_back(argument);
  });
  return tuning;
}

Result<Tuning> ReadTuning(const Root& root) {
  if (!TRY(root.Status(kTuning))) return Tuning();
  std::string os_release;
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    auto text = root.ReadFile(path);
    if (!text) continue;
    os_release = *std::move(text);
    break;
  }
  return ParseTuning(TRY(root.ReadFile(kTuning)), os_release);
}

}  // namespace pintle::change
