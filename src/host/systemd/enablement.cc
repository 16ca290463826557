// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/enablement.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "host/files/path_parts.h"
#include "host/systemd/presets.h"
#include "host/systemd/unit_files.h"
#include "host/systemd/unit_links.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {
namespace {

constexpr int kMostAliases = 64;  // systemd follows at most this many aliases.

// Batch::Traverse() follows the links that are in /etc/systemd/system and /run/systemd/system, or refuses them.
enum class LinksInUnitDirectories { kFollow, kRefuse };

bool IsInSearchPath(std::string_view path) {
  return std::find(kUnitSearchPath.begin(), kUnitSearchPath.end(), FolderOf(path)) != kUnitSearchPath.end();
}
bool IsInUnitDirectories(std::string_view path) {
  return FolderOf(path) == kUnitDirectory || FolderOf(path) == "/run/systemd/system";
}
bool IsTransientOrGenerated(std::string_view path) {
  return path.starts_with("/run/systemd/generator") || path.starts_with("/run/systemd/transient/");
}

// A unit of a batch.  `is_also` is true if the unit is in the batch only because another unit names it in Also=.
struct Entry {
  UnitFile unit;
  bool is_also;
};

// Units that are enabled or disabled together.  Traversing a unit may add other units.
class Batch {
 public:
  explicit Batch(const Root& root) : root_(root) {}

  bool Has(const UnitName& name) const { return Known(name) != nullptr; }

  Result<Entry*> Add(const std::string& text) {
    const std::optional<UnitName> name = UnitName::Parse(text);
    if (!name) return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not the name of a unit", text));
    return &Add(*name, false);
  }

  // Follows aliases and links to the unit that has the file.  If there is no file, the kind of that unit is kMissing.
  Result<Entry*> Traverse(Entry& start, ReadInstall read, LinksInUnitDirectories links) {
    TRY(Load(start, read, FindUnitFile));
    Entry* entry = &start;
    for (int aliases = 0;; ++aliases) {
      UnitFile& unit = entry->unit;
      if (unit.kind != UnitFileKind::kAlias && unit.kind != UnitFileKind::kLinked) return entry;
      if (aliases == kMostAliases) return Error::FromErrno("following aliases", ELOOP).While(start.unit.name.text());
      if (links == LinksInUnitDirectories::kRefuse && IsInUnitDirectories(unit.path)) {
        return Error(ErrorKind::kInvalid, unit.path + " is a link, and only its target can be enabled");
      }
      const std::optional<UnitName> aliased = NameBehindAlias(unit);
      if (!aliased) {
        TRY(Load(*entry, read, FollowUnitLink));
        continue;
      }
      entry = &Add(*aliased, false);
      TRY(Load(*entry, read, FindUnitFile));
    }
  }

  // Adds and traverses a unit, which must exist.
  Result<Entry*> Discover(const std::string& text, ReadInstall read) {
    Entry& start = *TRY(Add(text));
    Entry* entry = TRY(Traverse(start, read, LinksInUnitDirectories::kFollow), text);
    if (entry->unit.kind == UnitFileKind::kMissing) {
      return Error(ErrorKind::kNotFound, fmt::format("the unit {} does not exist", entry->unit.name.text()));
    }
    return entry;
  }

  Result<Entry*> DiscoverToEnable(const std::string& text) {
    Entry* entry = TRY(Discover(text, ReadInstall::kYes));
    const UnitFile& unit = entry->unit;
    if (unit.kind == UnitFileKind::kMasked) return Error(ErrorKind::kInvalid, "the unit " + text + " is masked");
    if (IsTransientOrGenerated(unit.path)) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("the unit {} is transient or generated ({}) and cannot be enabled", text, unit.path));
    }
    return entry;
  }

  // Each call returns the next entry in the order of adding, and null after the last entry.
  Entry* Next() { return next_ < entries_.size() ? entries_[next_++].get() : nullptr; }

 private:
  using Loader = Result<>(const Root&, UnitFile&, ReadInstall);

  Entry* Known(const UnitName& name) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry->unit.name == name; });
    return found == entries_.end() ? nullptr : found->get();
  }

  Entry& Add(const UnitName& name, bool is_also) {
    if (Entry* known = Known(name)) {
      known->is_also = known->is_also && is_also;
      return *known;
    }
    entries_.push_back(std::make_unique<Entry>(Entry{UnitFile(name), is_also}));
    return *entries_.back();
  }

  Result<> Load(Entry& entry, ReadInstall read, Loader& loader) {
    TRY(loader(root_, entry.unit, read));
    if (read == ReadInstall::kNo) return {};
    for (const std::string& also : entry.unit.install.also) Add(*UnitName::Parse(also), true);
    return {};
  }

  // Returns the unit name to which an alias leads, or nullopt if the link leads to a file of the unit's own name.
  static std::optional<UnitName> NameBehindAlias(const UnitFile& unit) {
    if (unit.kind == UnitFileKind::kLinked) return std::nullopt;
    std::optional<UnitName> aliased = UnitName::Parse(NameIn(unit.target));
    if (!aliased || *aliased == unit.name) return std::nullopt;
    if (unit.name.kind() != UnitNameKind::kInstance || aliased->kind() != UnitNameKind::kTemplate) return aliased;
    aliased = aliased->WithInstance(unit.name.instance());
    if (!aliased || *aliased == unit.name) return std::nullopt;
    return aliased;
  }

  const Root& root_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::size_t next_ = 0;
};

// The outcome of making several links.  If a link cannot be made, the links after it are still made.
class Outcome {
 public:
  // Adds the result for one link: true if the link exists now, no matter who has made it, and false if no link was
  // needed.
  void Add(Result<bool> link) {
    if (!link && !error_) error_ = std::move(link).error();
    made_or_failed_ = made_or_failed_ || !link || *link;
  }
  bool made_or_failed() const { return made_or_failed_; }
  Result<> Take() && { return error_ ? Result<>(*std::move(error_)) : Result<>(); }

 private:
  std::optional<Error> error_;
  bool made_or_failed_ = false;
};

// For some entries of WantedBy=, RequiredBy= and UpheldBy=, no link can be made: the entry is not the name of a unit,
// or the unit is a template, and neither its DefaultInstance= nor the entry names an instance.  As with systemctl,
// presets skip these entries, and otherwise they are errors.
enum class UnusableEntries { kAreErrors, kAreSkipped };

// Makes the links of the units in a batch, as their [Install] sections demand.
class UnitEnabler {
 public:
  UnitEnabler(const Root& root, UnusableEntries unusable) : root_(root), unusable_(unusable) {}

  Result<> Run(Batch& batch) {
    std::optional<Error> first_error;
    while (Entry* entry = batch.Next()) {
      const auto found = batch.Traverse(*entry, ReadInstall::kYes, LinksInUnitDirectories::kRefuse);
      const bool is_usable = found && (*found)->unit.kind != UnitFileKind::kMissing;
      if (!is_usable && entry->is_also) continue;
      const std::string& name = entry->unit.name.text();
      if (!found) return Error(found.error()).While("enabling " + name);
      if (!is_usable) return Error(ErrorKind::kNotFound, fmt::format("the unit {} does not exist", name));
      if (entry->unit.kind != UnitFileKind::kFile) continue;
      if (Result<> enabled = Enable(entry->unit); !enabled && !first_error) first_error = std::move(enabled).error();
    }
    return first_error ? Result<>(*std::move(first_error)) : Result<>();
  }

 private:
  Result<> Enable(const UnitFile& unit) {
    const auto doing = [&] { return "enabling " + unit.name.text(); };
    if (!IsInSearchPath(unit.path))
      TRY(MakeLink(fmt::format("{}/{}", kUnitDirectory, unit.name.text()), unit), doing());
    // As with systemctl, the first of these outcomes that needed a link or failed decides the result.  So a unit with a
    // valid WantedBy= is enabled even if its RequiredBy= is not valid.
    Outcome outcomes[] = {
        MakeAliases(unit),
        MakeDependencies(unit, unit.install.wanted_by, "wants"),
        MakeDependencies(unit, unit.install.required_by, "requires"),
        MakeDependencies(unit, unit.install.upheld_by, "upholds"),
    };
    for (Outcome& outcome : outcomes) {
      if (!outcome.made_or_failed()) continue;
      TRY(std::move(outcome).Take(), doing());
      break;
    }
    return {};
  }

  Result<std::string> Expanded(const std::string& text, const UnitFile& unit) {
    return ExpandSpecifiers(text, unit.name, unit.install.default_instance, root_);
  }

  Outcome MakeAliases(const UnitFile& unit) {
    Outcome outcome;
    for (const std::string& alias : unit.install.aliases) outcome.Add(MakeAlias(unit, alias));
    return outcome;
  }

  Result<bool> MakeAlias(const UnitFile& unit, const std::string& text) {
    const std::string alias = TRY(Expanded(text, unit));
    const auto refusal = [&] {
      return Error(ErrorKind::kInvalid, fmt::format("{} cannot have the alias \"{}\"", unit.name.text(), alias));
    };
    std::string path = alias;
    if (alias.find('/') != std::string::npos) {
      if (!IsDependencyPath(alias, unit.name)) return refusal();
    } else {
      std::optional<UnitName> name = UnitName::Parse(alias);
      if (name && name->kind() == UnitNameKind::kTemplate && unit.name.kind() == UnitNameKind::kInstance) {
        name = name->WithInstance(unit.name.instance());
      }
      if (!name || !CanBeAlias(*name, unit.name)) return refusal();
      if (*name == unit.name) return false;
      path = name->text();
    }
    return MakeLink(fmt::format("{}/{}", kUnitDirectory, path), unit);
  }

  static bool CanBeAlias(const UnitName& alias, const UnitName& unit) {
    const bool kinds_fit = alias.kind() == unit.kind() ||
                           (alias.kind() == UnitNameKind::kInstance && unit.kind() == UnitNameKind::kTemplate);
    const bool may_be = alias.MayBeAlias() && (alias.kind() == UnitNameKind::kPlain || alias.MayBeTemplate());
    const bool instances_fit = unit.kind() != UnitNameKind::kInstance || alias.instance() == unit.instance();
    return kinds_fit && may_be && instances_fit && alias.type() == unit.type();
  }

  // Recognises aliases such as "multi-user.target.wants/a.service", the old form of WantedBy= and RequiredBy=.
  static bool IsDependencyPath(std::string_view path, const UnitName& unit) {
    std::string_view folder = FolderOf(path);
    if (folder.ends_with(".wants")) {
      folder.remove_suffix(std::string_view(".wants").size());
    } else if (folder.ends_with(".requires")) {
      folder.remove_suffix(std::string_view(".requires").size());
    } else {
      return false;
    }
    const std::optional<UnitName> owner = UnitName::Parse(folder);
    const std::optional<UnitName> name = UnitName::Parse(NameIn(path));
    if (!owner || !name) return false;
    if (*name == unit) return unit.kind() != UnitNameKind::kTemplate || owner->kind() == UnitNameKind::kTemplate;
    return name->kind() == UnitNameKind::kInstance && *name->Template() == unit;
  }

  // Returns the name of the dependency links: the unit's own name or, for a template with a default instance, the name
  // of that instance.
  Result<UnitName> WantedName(const UnitFile& unit) {
    if (unit.name.kind() != UnitNameKind::kTemplate || unit.install.default_instance.empty()) return unit.name;
    UnitFile instance(*unit.name.WithInstance(unit.install.default_instance));
    TRY(FindUnitFile(root_, instance, ReadInstall::kNo));
    if (instance.kind == UnitFileKind::kMasked) {
      return Error(ErrorKind::kInvalid, instance.name.text() + " is masked");
    }
    return instance.name;
  }

  // Makes the links in the folders OWNER.DEPENDENCY, such as "multi-user.target.wants".
  Outcome MakeDependencies(const UnitFile& unit, const std::vector<std::string>& owners, std::string_view dependency) {
    Outcome outcome;
    if (owners.empty()) return outcome;
    const Result<UnitName> wanted = WantedName(unit);
    if (!wanted) outcome.Add(wanted.error());
    for (const std::string& owner : owners) {
      if (wanted) outcome.Add(MakeDependency(unit, *wanted, owner, dependency));
    }
    return outcome;
  }

  Result<bool> MakeDependency(const UnitFile& unit, const UnitName& wanted, const std::string& text,
                              std::string_view dependency) {
    const std::string owner = TRY(Expanded(text, unit));
    const std::optional<UnitName> name = UnitName::Parse(owner);
    const bool fits = name && (wanted.kind() != UnitNameKind::kTemplate || name->kind() != UnitNameKind::kPlain);
    if (!fits && unusable_ == UnusableEntries::kAreSkipped) return false;
    if (!name) return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not the name of a unit", owner));
    if (!fits) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("{} is a template without a default instance, and {} does not name an instance",
                               wanted.text(), owner));
    }
    return MakeLink(fmt::format("{}/{}.{}/{}", kUnitDirectory, owner, dependency, wanted.text()), unit);
  }

  Result<bool> MakeLink(const std::string& path, const UnitFile& unit) {
    const std::optional<struct stat> status = TRY(root_.Status(path));
    if (status && !S_ISLNK(status->st_mode)) return Error(ErrorKind::kConflict, path + " exists and is not a link");
    if (status && TRY(LeadsTo(path, unit.path))) return true;
    TRY(root_.MakeDirectories(FolderOf(path)));
    TRY(root_.WriteLink(path, unit.path));
    return true;
  }

  // Returns whether a link leads to the file.  A link to another file of the same name in the search path also counts,
  // since systemd reads the first such file.
  Result<bool> LeadsTo(const std::string& path, const std::string& file) {
    std::string target = TRY(root_.ReadLink(path));
    if (!target.starts_with('/')) target = fmt::format("{}/{}", FolderOf(path), target);
    if (target == file) return true;
    if (TRY(Resolve(root_, target, LastPart::kFollow)) == TRY(Resolve(root_, file, LastPart::kFollow))) return true;
    return NameIn(target) == NameIn(file) && IsBelowUnitSearchPath(target) && IsBelowUnitSearchPath(file);
  }

  const Root& root_;
  UnusableEntries unusable_;
};

// Removes the links of the units in a batch from /etc/systemd/system, and the links that lead to removed links.
class UnitDisabler {
 public:
  explicit UnitDisabler(const Root& root) : root_(root) {}

  Result<> Run(Batch& batch) {
    while (Entry* entry = batch.Next()) Mark(batch, *entry);
    if (marked_.empty()) return {};
    std::vector<std::string> links;
    TRY(Collect(std::string(kUnitDirectory), links));
    while (TRY(RemoveMarked(links))) {
    }
    return {};
  }

 private:
  void Mark(Batch& batch, Entry& entry) {
    const auto found = batch.Traverse(entry, ReadInstall::kYes, LinksInUnitDirectories::kFollow);
    const UnitFile& unit = entry.unit;
    // The links of a unit can be removed even if its file is missing or cannot be read.
    const bool leads_nowhere = found && (*found)->unit.kind == UnitFileKind::kMissing;
    const bool must_go = !found || leads_nowhere || unit.kind == UnitFileKind::kFile;
    if (must_go) marked_.insert(unit.name.text());
  }

  Result<> Collect(const std::string& folder, std::vector<std::string>& links) {
    const std::optional<struct stat> status = TRY(root_.Status(folder));
    if (!status || !S_ISDIR(status->st_mode)) return {};
    for (const std::string& name : TRY(root_.List(folder))) {
      const std::string path = folder + "/" + name;
      const std::optional<struct stat> inner = TRY(root_.Status(path));
      if (inner && S_ISLNK(inner->st_mode) && UnitName::IsValid(name)) links.push_back(path);
      if (inner && S_ISDIR(inner->st_mode)) TRY(Collect(path, links));
    }
    return {};
  }

  // Removes the marked links, and returns whether there were any.  A link to a removed link must be removed as well, so
  // the caller repeats the call while the result is true.
  Result<bool> RemoveMarked(std::vector<std::string>& links) {
    bool has_removed = false;
    std::vector<std::string> left;
    for (std::string& path : links) {
      if (!TRY(IsMarked(path))) {
        left.push_back(std::move(path));
        continue;
      }
      TRY(root_.Remove(path));
      for (std::string folder(FolderOf(path)); folder != kUnitDirectory && TRY(root_.List(folder)).empty();
           folder = FolderOf(folder)) {
        TRY(root_.Remove(folder));
      }
      has_removed = marked_.insert(path).second || has_removed;
    }
    links = std::move(left);
    return has_removed;
  }

  Result<bool> IsMarked(const std::string& path) {
    const std::optional<UnitName> name = UnitName::Parse(NameIn(path));
    const std::optional<UnitName> unit_template = name->Template();
    const bool is_of_marked_template = unit_template && marked_.contains(unit_template->text());
    if (marked_.contains(name->text()) || is_of_marked_template) return true;
    const std::string target = TRY(Resolve(root_, path, LastPart::kFollow));
    return marked_.contains(target) || marked_.contains(std::string(NameIn(target)));
  }

  const Root& root_;
  std::set<std::string> marked_;  // The names of units, and the paths of removed links.
};

// Enables some units and disables others, according to presets.
class UnitPresetter {
 public:
  explicit UnitPresetter(const Root& root) : root_(root), enabled_(root), disabled_(root) {}

  Result<> Add(const Presets& presets, const std::string& unit) {
    const std::optional<UnitName> name = UnitName::Parse(unit);
    if (name && (enabled_.Has(*name) || disabled_.Has(*name))) return {};
    Batch alone(root_);
    const Entry* found = TRY(alone.Discover(unit, ReadInstall::kNo));
    if (found->unit.name != *name) return {};  // `unit` is an alias, and presets apply to the unit's real name only.
    const Preset preset = presets.Of(*name);
    if (preset.action == PresetAction::kDisable) TRY(disabled_.Discover(unit, ReadInstall::kNo));
    if (preset.action != PresetAction::kEnable) return {};
    for (const UnitName& instance : preset.instances) TRY(enabled_.DiscoverToEnable(instance.text()));
    if (preset.instances.empty()) TRY(enabled_.DiscoverToEnable(unit));
    return {};
  }

  Result<> Run() {
    TRY(UnitDisabler(root_).Run(disabled_));
    return UnitEnabler(root_, UnusableEntries::kAreSkipped).Run(enabled_);
  }

 private:
  const Root& root_;
  Batch enabled_;
  Batch disabled_;
};

}  // namespace

UnitsByEnablement SortByEnablement(std::span<const resource::Put<resource::UnitState>> units) {
  UnitsByEnablement sorted;
  for (const auto& unit : units) {
    const auto enablement = unit.want ? unit.want->enablement : resource::Enablement::kDisabled;
    switch (enablement) {
      case resource::Enablement::kPreset:
        sorted.preset.push_back(unit.key);
        break;
      case resource::Enablement::kEnabled:
        sorted.enabled.push_back(unit.key);
        break;
      case resource::Enablement::kDisabled:
        sorted.disabled.push_back(unit.key);
        break;
    }
  }
  return sorted;
}

Result<> EnableUnits(const Root& root, std::span<const std::string> units) {
  Batch batch(root);
  for (const std::string& unit : units) TRY(batch.DiscoverToEnable(unit), "enabling " + unit);
  return UnitEnabler(root, UnusableEntries::kAreErrors).Run(batch);
}

Result<> DisableUnits(const Root& root, std::span<const std::string> units) {
  Batch batch(root);
  for (const std::string& unit : units) TRY(batch.Add(unit), "disabling " + unit);
  return UnitDisabler(root).Run(batch);
}

Result<> PresetUnits(const Root& root, std::span<const std::string> units) {
  const Presets presets = TRY(Presets::Read(root));
  UnitPresetter presetter(root);
  for (const std::string& unit : units) TRY(presetter.Add(presets, unit), "presetting " + unit);
  return presetter.Run();
}

Result<bool> HasUnit(const Root& root, const std::string& unit) {
  const std::optional<UnitName> name = UnitName::Parse(unit);
  if (!name) return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not the name of a unit", unit));
  UnitFile file(*name);
  TRY(FindUnitFile(root, file, ReadInstall::kNo));
  return file.kind != UnitFileKind::kMissing;
}

Result<std::string> UnitFileStateOf(const Root& root, const std::string& unit) {
  Batch batch(root);
  Entry& start = *TRY(batch.Add(unit));
  const UnitFile& found = TRY(batch.Traverse(start, ReadInstall::kYes, LinksInUnitDirectories::kFollow))->unit;
  const std::string runtime = found.path.starts_with("/run/") ? "-runtime" : "";
  if (found.kind == UnitFileKind::kMissing) return std::string();
  if (found.kind == UnitFileKind::kMasked) return "masked" + runtime;
  if (&found != &start.unit) return std::string("alias");
  if (found.path.starts_with("/run/systemd/generator")) return std::string("generated");
  if (found.path.starts_with("/run/systemd/transient/")) return std::string("transient");
  std::string state_by_links;
  for (const auto& [path, target] : TRY(ObserveUnitLinks(root)).targets) {
    const std::optional<UnitName> name = UnitName::Parse(NameIn(path));
    const bool is_instance = name->Template() && *name->Template() == found.name;
    const bool is_dependency = FolderOf(path) != kUnitDirectory;
    if (*name == found.name) {
      if (is_dependency) return std::string("enabled");
      if (NameIn(target) == found.name.text()) state_by_links = "linked";
    } else if (is_dependency ? is_instance : NameIn(target) == found.name.text()) {
      const bool is_default = is_instance && name->instance() == found.install.default_instance;
      const auto& aliases = found.install.aliases;
      if (is_default || std::find(aliases.begin(), aliases.end(), name->text()) != aliases.end()) {
        return std::string("enabled");
      }
      if (state_by_links.empty()) state_by_links = "indirect";
    }
  }
  if (!state_by_links.empty()) return state_by_links;
  const InstallSection& install = found.install;
  const bool has_rules = !install.aliases.empty() || !install.wanted_by.empty() || !install.required_by.empty() ||
                         !install.upheld_by.empty();
  if (has_rules) return std::string("disabled");
  return std::string(install.also.empty() ? "static" : "indirect");
}

}  // namespace pintle::host
