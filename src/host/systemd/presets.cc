// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/presets.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "host/stripped.h"

namespace pintle::host {
namespace {

constexpr std::array<std::string_view, 5> kDirectories = {
    "/etc/systemd/system-preset",     "/run/systemd/system-preset", "/usr/local/lib/systemd/system-preset",
    "/usr/lib/systemd/system-preset", "/lib/systemd/system-preset",
};

constexpr std::pair<std::string_view, PresetAction> kActions[] = {
    {"enable", PresetAction::kEnable}, {"disable", PresetAction::kDisable}, {"ignore", PresetAction::kIgnore}};

// Removes the first word and returns it.
std::string_view TakeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kSpace), text.size());
  const std::string_view word = text.substr(0, end);
  text = Stripped(text.substr(end));
  return word;
}

// Maps the names of the preset files to their paths.  The files are read in the order of their names.  A file in an
// earlier directory hides a file of the same name in a later directory.
std::map<std::string, std::string> FilesOf(const Root& root) {
  std::map<std::string, std::string> files;
  for (const std::string_view directory : kDirectories) {
    const auto names = root.List(directory);
    if (!names) continue;  // Most machines have only some of these directories.
    for (const std::string& name : *names) {
      if (name.ends_with(".preset") && !name.starts_with('.')) files.emplace(name, std::string(directory) + "/" + name);
    }
  }
  return files;
}

}  // namespace

Result<Presets> Presets::Read(const Root& root) {
  Presets presets;
  for (const auto& [name, path] : FilesOf(root)) {
    // A link to /dev/null masks a file of the OS.
    const std::optional<struct stat> status = TRY(root.Status(path));
    if (status && S_ISLNK(status->st_mode) && TRY(root.ReadLink(path)) == "/dev/null") continue;
    const std::string text = TRY(root.ReadFile(path), "reading presets");
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      presets.AddRule(Stripped(std::string_view(text).substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  return presets;
}

// Ignores a line that cannot be parsed, as systemd does.
void Presets::AddRule(std::string_view line) {
  if (line.starts_with('#') || line.starts_with(';')) return;
  const std::string_view word = TakeWord(line);
  const auto action = std::find_if(std::begin(kActions), std::end(kActions),
                                   [&](const auto& candidate) { return candidate.first == word; });
  if (action == std::end(kActions) || line.empty()) return;
  Rule rule = {action->second, std::string(line), {}};
  if (rule.action == PresetAction::kEnable) {
    rule.pattern = TakeWord(line);
    while (!line.empty()) rule.instances.emplace_back(TakeWord(line));
    const std::optional<UnitName> name = UnitName::Parse(rule.pattern);
    if (!rule.instances.empty() && (!name || name->kind() != UnitNameKind::kTemplate)) return;
  }
  rules_.push_back(std::move(rule));
}

Preset Presets::Of(const UnitName& unit) const {
  for (const Rule& rule : rules_) {
    if (!rule.instances.empty() && unit.kind() == UnitNameKind::kTemplate && unit.text() == rule.pattern) {
      Preset preset = {rule.action, {}};
      for (const std::string& instance : rule.instances) {
        if (auto name = unit.WithInstance(instance)) preset.instances.push_back(*std::move(name));
      }
      return preset;
    }
    const bool is_listed =
        unit.kind() == UnitNameKind::kInstance && unit.Template()->text() == rule.pattern &&
        std::find(rule.instances.begin(), rule.instances.end(), unit.instance()) != rule.instances.end();
    if (is_listed || ::fnmatch(rule.pattern.c_str(), unit.text().c_str(), FNM_NOESCAPE) == 0) return {rule.action, {}};
  }
  return {};
}

}  // namespace pintle::host
