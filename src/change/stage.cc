// SPDX-License-Identifier: Apache-2.0
#include "change/stage.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/size_limits.h"
#include "change/abilities.h"
#include "change/current_config.h"
#include "change/findings.h"
#include "change/format.h"
#include "change/image_mode.h"
#include "change/inverse.h"
#include "change/journal.h"
#include "change/names.h"
#include "change/next_boot.h"
#include "change/original_passwords.h"
#include "change/owners.h"
#include "host/files/files.h"
#include "host/files/observer.h"
#include "host/files/originals.h"
#include "host/files/remedy.h"
#include "host/files/seen_files.h"
#include "json/field_list.h"
#include "json/fields.h"
#include "machineconfig/objects.h"
#include "machineconfig/own_files.h"
#include "machineconfig/sizes.h"

namespace pintle::change {
namespace {

using host::FilePut;
using plan::ParsedConfig;
using plan::Step;
using FileState = resource::FileEntry::State;

// Ignition writes this file at the first boot, to enable and disable the units of the first config.  It must not stay:
// it would go on to decide about units that no config manages any more.
constexpr const char* kFirstPresets = "/etc/systemd/system-preset/20-ignition.preset";

// If this id is not set when systemd starts, systemd sets it, and sets all units to their presets; see machine-id(5).
constexpr const char* kMachineId = "/etc/machine-id";

// The config holds pull secrets and hashes of passwords.
constexpr std::int64_t kConfigPermissions = 0600;

// Returns the paths that are not in `excluded`.
std::vector<std::string> Without(const std::vector<std::string>& paths, const std::vector<std::string>& excluded) {
  const std::unordered_set<std::string_view> known(excluded.begin(), excluded.end());
  std::vector<std::string> left;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(left),
               [&](const std::string& path) { return !known.contains(path); });
  return left;
}

// Collects the steps of a change and of its undo.  A thing that is already as wanted gets no step.
class Stager {
 public:
  Stager(const host::Host& host, host::BlobStore& contents)
      : host_(host),
        contents_(contents),
        observer_(host.root),
        seen_(host::SeenFiles::Load(host.root, host::kSeenFilesPath, host.clock)) {}

  // Adds the steps of a change from one config to another.
  Result<> Add(const ParsedConfig& from, const ParsedConfig& to, const plan::Plan& plan, const Things& left_alone,
               Edits edits) {
    if (edits == Edits::kRefused) TRY(CollectConfigured(from));
    TRY(plan::ForEachContents(from.ignition, [&](const std::string& path, WalkPieces contents) -> Result<> {
      expected_.emplace(path, std::move(contents));
      return {};
    }));
    TRY(CheckPlaces(to.ignition));
    // The old config may have paths of Pintle's own files, from before Pintle refused them.  Steps for them are left
    // out.
    const auto is_own = [](const std::string& path) { return machineconfig::IsOwnFile(path); };
    auto before = plan::PathsOf(from.ignition);
    std::erase_if(before, is_own);
    const auto after = plan::PathsOf(to.ignition);
    auto given_back = TRY(host::FindOriginals(host_.root, contents_, Without(before, after), after));
    std::vector<Step> steps = TRY(plan::StepsFor(from, to, given_back.originals));
    std::erase_if(steps, [&](const Step& step) {
      const auto* file = std::get_if<FilePut>(&step);
      return file != nullptr && is_own(file->key);
    });
    const auto passwords = TRY(GiveBackPasswords(host_.root, from, to, steps));
    std::erase_if(steps, [&](const Step& step) { return left_alone.contains(NameOf(step)); });
    SortedSteps sorted = TRY(Sort(std::move(steps)));
    sorted.files = WithRemovalsFirst(std::move(sorted.files), given_back.afterwards);
    TRY(AddFiles(sorted.files, Without(after, before)));
    for (const FilePut& file : given_back.afterwards) TRY(AddFile(file));
    TRY(CheckNotEdited(from));
    if (TRY(HasStartedOnce())) TRY(AddFile({kFirstPresets, std::nullopt}));
    if (passwords) TRY(AddPasswords(*passwords));
    TRY(AddCurrentConfig(to, plan.writers));
    TRY(KeepContents(to.ignition));
    return AddOthers(std::move(sorted.others), plan.difference);
  }

  // Adds the steps that put back the chosen parts of a config.  A person who restores a user accepts that the original
  // passwords are lost if their file is damaged.
  Result<> AddChosen(const ParsedConfig& config, const plan::Plan& plan, const Choice& choice) {
    std::vector<Step> steps = TRY(plan::StepsFor(config, config, {}));
    std::erase_if(steps, [&](const Step& step) { return !choice(step); });
    const bool has_user = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
      return std::holds_alternative<resource::Put<resource::PasswordHash>>(step);
    });
    const auto passwords = ReadOriginalPasswords(host_.root);
    if (has_user && !passwords && IsDamage(passwords.error())) TRY(AddPasswords(AcceptedLoss(config.ignition)));
    SortedSteps sorted = TRY(Sort(std::move(steps)));
    TRY(AddWithDirectories(sorted.files));
    TRY(KeepContents(config.ignition));
    return AddOthers(std::move(sorted.others), plan.difference);
  }

  void MoveTo(Change& change) && {
    change.steps = std::move(steps_);
    std::reverse(undo_.begin(), undo_.end());
    change.undo = std::move(undo_);
    change.fingerprints = std::move(fingerprints_);
  }

 private:
  // Returns whether systemd has started on this machine, and so has applied the presets.  In the initramfs of the first
  // boot, systemd has not yet started from the root file system.  If kFirstPresets were removed then, the first start
  // of systemd would disable the units that the first config enables.
  Result<bool> HasStartedOnce() const {
    const auto id = host_.root.ReadFile(kMachineId);
    if (!id && id.error().kind() == ErrorKind::kNotFound) return false;
    const std::string text = TRY(id);
    return !(text.empty() || text == "\n" || text.starts_with("uninitialized"));
  }

  // Returns an error if a path of the config leads to one of Pintle's own files, by a link on the machine.
  Result<> CheckPlaces(const ignition::Config& config) const {
    std::unordered_map<std::string, std::string> real;  // The keys are directories.
    for (const ignition::File& file : config.storage.files) {
      const std::string above = host::DirectoryAbove(file.path);
      auto found = real.find(above);
      if (found == real.end()) found = real.emplace(above, RealPathOf(above)).first;
      const std::string place = (found->second == "/" ? "" : found->second) + file.path.substr(file.path.rfind('/'));
      if (!machineconfig::IsOwnFile(place)) continue;
      return Error(ErrorKind::kInvalid, fmt::format("{} leads to {}: {}; {}", file.path, place,
                                                    machineconfig::OwnFileText(place), machineconfig::kOwnFileAdvice));
    }
    return {};
  }

  // Like Root::RealPath(), but also works for a directory that does not exist.
  std::string RealPathOf(const std::string& directory) const {
    if (auto real = host_.root.RealPath(directory)) return *std::move(real);
    if (directory == "/") return directory;
    const std::string above = RealPathOf(host::DirectoryAbove(directory));
    return (above == "/" ? "" : above) + directory.substr(directory.rfind('/'));
  }

  struct SortedSteps {
    std::vector<FilePut> files;
    std::vector<Step> others;  // The steps for all other things.
  };

  // Separates the steps for files from the others, and resolves the owners of the files.
  Result<SortedSteps> Sort(std::vector<Step> steps) const {
    SortedSteps sorted;
    for (Step& step : steps) {
      if (auto* file = std::get_if<FilePut>(&step)) {
        TRY(ResolveOwners(host_.root, *file));
        sorted.files.push_back(std::move(*file));
      } else {
        sorted.others.push_back(std::move(step));
      }
    }
    return sorted;
  }

  // Returns `files`, with the removals of a directory and its entries before the file that takes the directory's place.
  // Such removals are moved here from `afterwards` as well.
  static std::vector<FilePut> WithRemovalsFirst(std::vector<FilePut> files, std::vector<FilePut>& afterwards) {
    std::unordered_set<std::string> new_files;
    for (const FilePut& file : files) {
      if (file.want && file.want->kind != resource::EntryKind::kDirectory) new_files.insert(file.key);
    }
    const auto is_in_the_way = [&](const FilePut& file) {
      std::string above = file.key;
      while (!file.want && above != "/") {
        above = host::DirectoryAbove(above);
        if (new_files.contains(above)) return true;
      }
      return false;
    };
    std::vector<FilePut> all;
    for (std::vector<FilePut>* part : {&files, &afterwards}) {
      std::copy_if(part->begin(), part->end(), std::back_inserter(all), is_in_the_way);
      std::erase_if(*part, is_in_the_way);
    }
    std::move(files.begin(), files.end(), std::back_inserter(all));
    return all;
  }

  // Collects the files of the old config, so that CheckNotEdited() can find edits of them.
  Result<> CollectConfigured(const ParsedConfig& from) {
    Owners owners(host_.root);
    for (Step& step : TRY(plan::StepsFor(from, from, {}))) {
      auto* file = std::get_if<FilePut>(&step);
      if (file == nullptr || !file->want || !owners.Resolve(*file)) continue;
      std::string path = file->key;
      as_configured_.emplace(std::move(path), std::move(*file));
    }
    return {};
  }

  // Refuses to overwrite edits of the old config's files, such as edits that were made after the look that decided on
  // this change.
  Result<> CheckNotEdited(const ParsedConfig& from) const {
    if (edited_.empty()) return {};
    const auto findings = TRY(FindingsIn(host_, edited_));
    if (findings.empty()) return {};
    return Error(ErrorKind::kConflict, TextOf(findings, from.object.metadata.name));
  }

  // Records an edit of a file of the old config that the change would overwrite.
  void CompareWithOldConfig(const FilePut& file, const std::optional<FileState>& have) {
    const auto expected = as_configured_.find(file.key);
    if (expected == as_configured_.end() || (have && host::Matches(*expected->second.want, *have))) return;
    edited_.emplace_back(expected->second);
  }

  Result<> AddFiles(std::span<const FilePut> files, std::span<const std::string> newly_managed) {
    const auto directories = TRY(host::MissingDirectories(host_.root, files));
    TRY(AddWithDirectories(TRY(host::StepsToKeep(host_.root, contents_, newly_managed, directories))));
    for (const FilePut& directory : directories) TRY(AddFile(directory));
    for (const FilePut& file : files) TRY(AddFile(file));
    return {};
  }

  Result<> AddWithDirectories(std::span<const FilePut> files) {
    for (const FilePut& directory : TRY(host::MissingDirectories(host_.root, files))) TRY(AddFile(directory));
    for (const FilePut& file : files) TRY(AddFile(file));
    return {};
  }

  // The stored config is one of the files that change, so it always matches the other files.
  Result<> AddCurrentConfig(const ParsedConfig& to, const machineconfig::Writers& writers) {
    if (IsNoConfig(to.object)) {
      // Pintle's files are removed.  The directory is removed as well, unless someone else has files in it.
      for (const char* path : {kCurrentConfig, kCurrentImage, kWriters, host::kOriginalsDirectory,
                               host::kStampsDirectory, kConfigDirectory}) {
        TRY(AddFile({path, std::nullopt}));
      }
      return {};
    }
    FilePut files[] = {{kCurrentConfig, FileState()}, {kWriters, std::nullopt}, {kCurrentImage, std::nullopt}};
    api::MachineConfig config = to.object;
    const std::string image = Extract(config);
    const std::string text = json::ToIndentedText(machineconfig::ToDocument(std::move(config))) + "\n";
    if (text.size() > limits::kRecord) return TooLong(to, text.size());
    TRY(SetContents(files[0], text));
    if (!writers.empty()) TRY(SetContents(files[1], TextWithVersion(format::kWriters, json::Encode(writers))));
    if (!image.empty()) TRY(SetContents(files[2], image));
    return AddWithDirectories(files);
  }

  Result<> AddPasswords(const OriginalPasswords& passwords) {
    FilePut file = {kOriginalPasswords, std::nullopt};
    if (!passwords.empty()) TRY(SetContents(file, TextWithVersion(format::kPasswords, json::Encode(passwords))));
    return AddWithDirectories({&file, 1});
  }

  // A config that is too long to be read back must not be written.
  static Error TooLong(const ParsedConfig& to, std::size_t size) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} would be {} bytes long, more than the {} that can be read back{}", kCurrentConfig,
                             size, limits::kRecord, machineconfig::LargestFileText(to.ignition)));
  }

  Result<> SetContents(FilePut& file, std::string_view contents) {
    if (contents.size() > limits::kRecord) {
      return Error(ErrorKind::kInvalid, fmt::format("{} would be {} bytes long, more than the {} that can be read back",
                                                    file.key, contents.size(), limits::kRecord));
    }
    FileState& state = file.want.emplace();
    state.sha256 = TRY(contents_.Add(contents));
    state.permissions = kConfigPermissions;
    return {};
  }

  bool IsAsWanted(const FilePut& file, const std::optional<FileState>& have) const {
    if (!have || !file.want) return !have && !file.want;
    return host::Matches(*file.want, *have) && !host::FindWrongLabel(host_.labels, file.key, *file.want, *have);
  }

  // A file becomes a step only if it is not as wanted, and if its path has no step yet.
  Result<> AddFile(const FilePut& file) {
    if (changed_.contains(file.key)) return {};
    auto have = TRY(observer_.ObserveAndKeep(file.key, contents_, file.want, seen_, keep_expected_));
    if (IsAsWanted(file, have)) return {};
    changed_.insert(file.key);
    CompareWithOldConfig(file, have);
    if (const auto fingerprint = seen_.FingerprintOf(file.key)) fingerprints_.emplace(file.key, *fingerprint);
    undo_.push_back(FilePut{file.key, std::move(have)});
    steps_.push_back(file);
    return {};
  }

  Result<> KeepContents(const ignition::Config& config) {
    return plan::ForEachContents(config, [&](const std::string& path, const WalkPieces& contents) -> Result<> {
      if (changed_.contains(path)) TRY(contents_.AddPieces(contents), path);
      return {};
    });
  }

  // One undo step puts back all links, however many units change.
  Result<> AddOthers(std::vector<Step> others, const plan::Difference& difference) {
    std::unordered_set<std::string> changed_units;
    for (const plan::UnitChange& unit : difference.changed_units) changed_units.insert(unit.name);
    bool has_links_undo = false;
    for (Step& step : others) {
      if (std::holds_alternative<resource::Put<resource::Deployment>>(step)) {
        if (ChangesOs(difference)) steps_.push_back(std::move(step));
        continue;
      }
      auto undo = TRY(InverseOf(host_, step, changed_units));
      if (!undo) continue;
      const bool is_links = std::holds_alternative<resource::Put<resource::UnitLinks>>(*undo);
      if (!is_links || !std::exchange(has_links_undo, true)) undo_.push_back(*std::move(undo));
      steps_.push_back(std::move(step));
    }
    return {};
  }

  // Takes the contents from the old config if it has them, so that they need not be read from the disk.
  Result<> KeepExpected(const std::string& path) {
    const auto found = expected_.find(path);
    if (found == expected_.end()) return {};
    TRY(contents_.AddPieces(found->second), path);
    return {};
  }

  const host::Host& host_;
  host::BlobStore& contents_;
  host::Observer observer_;
  host::SeenFiles seen_;
  host::Fingerprints fingerprints_;
  std::unordered_map<std::string, WalkPieces> expected_;    // The contents of the old config's files, by path.
  std::unordered_map<std::string, FilePut> as_configured_;  // The old config's files, by path.
  std::vector<Step> edited_;                                // Those files of the old config that someone has edited.
  const host::Observer::KeepExpected keep_expected_ = [this](const std::string& path) { return KeepExpected(path); };
  std::unordered_set<std::string> changed_;  // The paths of the steps.
  std::vector<Step> steps_;
  std::vector<Step> undo_;
};

Change ChangeOf(const api::MachineConfig& from, const api::MachineConfig& to, const plan::Plan& plan, Stager&& stager) {
  Change change;
  change.from = from.metadata.name;
  change.to = to.metadata.name;
  change.to_image = EmbeddedImage(to);
  std::move(stager).MoveTo(change);
  for (const plan::Action& action : plan.actions) {
    const auto is_same = [&](const auto& known) { return json::Equal(known, action.what); };
    if (std::none_of(change.actions.begin(), change.actions.end(), is_same)) change.actions.push_back(action.what);
  }
  return change;
}

// In the journal, each step takes at least this many bytes besides the name of its thing.
constexpr std::size_t kMinStepBytes = 100;

// Finds a change whose journal would be far too long, before memory is used for its text.  Journal::Write() does the
// exact check.
Result<> CheckLength(const Change& change) {
  std::size_t size = 0;
  std::size_t count = 0;
  const auto add = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps) size += NameOf(step).size() + kMinStepBytes;
    count += steps.size();
  };
  add(change.steps);
  add(change.undo);
  if (change.next_boot) add(change.next_boot->held);
  return size > limits::kRecord ? TooLongForJournal(count, size) : Result<>();
}

}  // namespace

Result<Change> Stage(const host::Host& host, host::BlobStore& contents, const ParsedConfig& from,
                     const ParsedConfig& to, const plan::Plan& plan, const Things& left_alone, Edits edits) {
  TRY(CheckAbleTo(host, plan.difference));
  Stager stager(host, contents);
  TRY(CheckNames(to.ignition));
  TRY(host::WithRemedy(stager.Add(from, to, plan, left_alone, edits)));
  Change change = ChangeOf(from.object, to.object, plan, std::move(stager));
  TRY(LeaveToNextBoot(host, change));
  if (change.next_boot && plan.difference.os_image) TRY(HoldUnchanged(host, contents, to, change));
  TRY(CheckLength(change));
  TRY(contents.Sync());
  return change;
}

Result<Change> StageRestore(const host::Host& host, host::BlobStore& contents, const ParsedConfig& config,
                            const plan::Plan& plan, const Choice& choice) {
  Stager stager(host, contents);
  TRY(host::WithRemedy(stager.AddChosen(config, plan, choice)));
  Change change = ChangeOf(config.object, config.object, plan, std::move(stager));
  TRY(LeaveToNextBoot(host, change));
  TRY(contents.Sync());
  return change;
}

}  // namespace pintle::change
