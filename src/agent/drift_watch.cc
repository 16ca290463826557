// SPDX-License-Identifier: Apache-2.0
#include "agent/drift_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/inotify.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/link_limit.h"

namespace pintle::agent {
namespace {

// sd-event keeps each directory open until the loop turns, so only this many directories are watched in one turn.
constexpr std::size_t kMostInATurn = 128;

// Masks of inotify(7): for entries that come and go, for directories on the way to a path, and for managed files.
constexpr std::uint32_t kEntryEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kOnTheWayEvents = kEntryEvents | IN_ONLYDIR | IN_EXCL_UNLINK;
// IN_MODIFY reports truncate(2) and a writer that keeps a file open.  IN_CLOSE_WRITE reports a writer that maps it into
// memory.
constexpr std::uint32_t kManagedEvents = kOnTheWayEvents | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;

std::string_view DirectoryOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

// Puts the parts of `path` before those that are in `left` already.
void PrependParts(std::string_view path, std::deque<std::string>& left) {
  for (std::size_t end = path.size(); end > 0;) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") left.emplace_front(part);
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

// Returns whether the error means that an entry on the way was removed or replaced meanwhile.  The watch of the entry's
// directory reports that.
bool IsGone(const Error& error) {
  const int value = error.errno_value();
  return value == ENOENT || value == ENOTDIR || value == ELOOP || value == EINVAL || value == ENAMETOOLONG;
}

// Normalizes a path, so that the text before its last slash is its directory.
std::string Tidy(std::string_view path) {
  std::deque<std::string> parts;
  PrependParts(path, parts);
  std::string tidy;
  for (const std::string& part : parts) tidy += "/" + part;
  return tidy;
}

}  // namespace

Result<std::unique_ptr<DriftWatch>> DriftWatch::Create(event::Loop& loop, const Root& root,
                                                       std::vector<std::string> paths, std::function<void()> changed) {
  for (std::string& path : paths) {
    if (!path.starts_with('/')) {
      return Error(ErrorKind::kInvalid, fmt::format("watching \"{}\": it is not an absolute path", path));
    }
    path = Tidy(path);
    if (path.empty()) return Error(ErrorKind::kInvalid, "watching \"/\": it has no parent directory");
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  paths.shrink_to_fit();
  std::unique_ptr<DriftWatch> watch(new DriftWatch(loop, root, std::move(paths), std::move(changed)));
  // If arming takes several turns of the loop, changes may be missed meanwhile, so `changed` is called at the end.
  if (!watch->Arm()) watch->report_.After(std::chrono::nanoseconds(0));
  return watch;
}

DriftWatch::DriftWatch(event::Loop& loop, const Root& root, std::vector<std::string> paths,
                       std::function<void()> changed)
    : loop_(loop),
      root_(root),
      paths_(std::move(paths)),
      changed_(std::move(changed)),
      report_(
          loop, [this] { Report(); }, event::Slack(1)),
      retry_(loop, [this] { Retry(); }) {}

void DriftWatch::OnEvent(const Directory& directory, const event::FileEvent& happening) {
  const auto* changed = std::get_if<event::FileChanged>(&happening);
  if (changed == nullptr) {  // Events were lost, or the directory is gone.
    is_stale_ = true;
    return ReportSoon();
  }
  const auto name = std::lower_bound(directory.names.begin(), directory.names.end(), changed->name,
                                     [](const Name& a, const std::string& text) { return a.text < text; });
  if (name == directory.names.end() || name->text != changed->name) return;
  const bool leads_elsewhere = name->is_on_the_way && (changed->mask & kEntryEvents) != 0;
  is_stale_ = is_stale_ || leads_elsewhere;
  if (name->is_managed || leads_elsewhere) ReportSoon();
}

void DriftWatch::ReportSoon() {
  if (!report_.armed()) report_.After(kDriftDelay);
}

void DriftWatch::Report() {
  if ((is_stale_ || attempt_) && !Arm()) return report_.After(std::chrono::nanoseconds(0));
  const std::function<void()> changed = changed_;  // The call may destroy this object.
  changed();
}

void DriftWatch::Retry() {
  is_stale_ = true;
  ReportSoon();
}

// Begins or continues an attempt to follow all paths, and returns true when the attempt is over.  The earlier watches
// stay active until then.
bool DriftWatch::Arm() {
  if (!attempt_) {
    attempt_ = Attempt();
    is_stale_ = false;
  }
  attempt_->made = 0;
  for (; attempt_->next < paths_.size(); ++attempt_->next) {
    if (attempt_->made >= kMostInATurn) return false;
    Result<> followed = Follow(paths_[attempt_->next]);
    if (!followed && !attempt_->problem) attempt_->problem = std::move(followed).error();
  }
  directories_ = std::move(attempt_->directories);
  std::optional<Error> problem = std::move(attempt_->problem);
  attempt_.reset();
  failures_ = problem ? failures_ + 1 : 0;
  // The first retry is soon, since some causes pass at once: sd-event refuses a directory that reuses the inode number
  // of a removed one, but only until sd-event has read the event of the removal.
  if (failures_ == 1) is_stale_ = true;
  problem_ = failures_ > 1 ? std::move(problem) : std::nullopt;
  problem_ ? retry_.After(kWatchRetry) : retry_.Cancel();
  // Paths that have changed during this attempt lead to another attempt, after the usual delay.
  if (is_stale_) ReportSoon();
  return true;
}

Result<> DriftWatch::Follow(const std::string& path) {
  Attempt& attempt = *attempt_;
  const std::string_view parent = DirectoryOf(path);
  if (attempt.parent_directory == nullptr || attempt.parent != parent) {
    attempt.parent_directory = TRY(Reach(path), fmt::format("watching {}", path));
    attempt.parent = parent;
  }
  if (attempt.parent_directory != nullptr) {
    NameIn(*attempt.parent_directory, std::string_view(path).substr(parent.size() + 1)).is_managed = true;
  }
  return {};
}

// Watches all directories on the way to the path.  Returns the last directory, which holds the last name of the path,
// or null if it does not exist.  Each directory is watched before a name is looked up in it, so that no change is
// missed.
Result<DriftWatch::Directory*> DriftWatch::Reach(const std::string& path) {
  std::deque<std::string> left;  // The parts of the way that were not followed yet.
  PrependParts(DirectoryOf(path), left);
  std::string place;
  for (int links = 0; !left.empty();) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part == "..") {
      place = DirectoryOf(place);
      continue;
    }
    Directory* directory = TRY(WatchDirectory(place, kOnTheWayEvents));
    if (directory == nullptr) return nullptr;
    NameIn(*directory, part).is_on_the_way = true;
    const std::string next = place + "/" + part;
    const auto status = root_.Status(next);
    if (!status && !IsGone(status.error())) return status.error();
    if (status && *status && S_ISDIR((*status)->st_mode)) {
      place = next;
      continue;
    }
    if (!status || !*status || !S_ISLNK((*status)->st_mode) || ++links > kMostLinks) return nullptr;
    const auto target = root_.ReadLink(next);
    if (!target && !IsGone(target.error())) return target.error();
    if (!target) return nullptr;
    if (target->starts_with('/')) place.clear();
    PrependParts(*target, left);
  }
  return WatchDirectory(place, kManagedEvents);
}

// Watches a directory for these events, unless this attempt watches it already.  Returns null if it is no longer there.
Result<DriftWatch::Directory*> DriftWatch::WatchDirectory(const std::string& place, std::uint32_t mask) {
  const auto [at, is_new] = attempt_->directories.try_emplace(place);
  Directory& directory = at->second;
  if ((directory.mask & mask) == mask) return &directory;
  const auto watch = [&]() -> Result<> {
    const UniqueFd opened = TRY(root_.OpenFile(place.empty() ? "/" : place, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    directory.watch = TRY(event::InotifyWatch::Create(
        loop_, opened, mask, [this, &directory](const event::FileEvent& happening) { OnEvent(directory, happening); }));
    directory.mask = mask;
    return {};
  };
  Result<> watched = watch();
  if (watched) {
    ++attempt_->made;
    return &directory;
  }
  if (is_new) attempt_->directories.erase(at);
  // With EINVAL, the directory is there, but sd-event refuses it, as Arm() explains.
  if (IsGone(watched.error()) && watched.error().errno_value() != EINVAL) return nullptr;
  return std::move(watched).error();
}

std::vector<std::string> WarningsOf(const DriftWatch& watch) {
  if (!watch.problem()) return {};
  return {fmt::format("some paths of the config are not watched, so an edit may be found only after {} s: {}",
                      std::chrono::seconds(kWatchRetry).count(), watch.problem()->message())};
}

DriftWatch::Name& DriftWatch::NameIn(Directory& directory, std::string_view text) {
  const auto name = std::lower_bound(directory.names.begin(), directory.names.end(), text,
                                     [](const Name& a, std::string_view b) { return a.text < b; });
  if (name != directory.names.end() && name->text == text) return *name;
  return *directory.names.insert(name, Name{std::string(text), false, false});
}

}  // namespace pintle::agent
