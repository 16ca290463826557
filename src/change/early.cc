// SPDX-License-Identifier: Apache-2.0
#include "change/early.h"

#include <fmt/core.h>

#include <set>
#include <string_view>
#include <variant>

#include "change/boot.h"
#include "change/journal.h"
#include "change/next_boot.h"
#include "change/put.h"
#include "host/systemd/unit_files.h"

namespace pintle::change {
namespace {

using plan::Step;

enum class PutOutcome { kNothingPut, kPut };

// Puts the files of the new deployment if it is running without them.  If the old deployment is running, puts back the
// files that the change has put into /var, which both deployments share.
Result<PutOutcome> PutForDeployment(const host::Host& host, const host::BlobStore& contents, const Change& change) {
  if (host.deployments == nullptr) {
    return Error(ErrorKind::kInvalid, fmt::format("the change to {} began on an OSTree host", change.to));
  }
  const auto state = TRY(host.deployments->Observe());
  if (state.booted && state.booted->id == change.next_boot->replaces) {
    TRY(PutSharedBack(host, contents, change));
    return PutOutcome::kPut;
  }
  if (change.phase != Phase::kApplied || change.next_boot->is_finalized) return PutOutcome::kNothingPut;
  // Someone may have chosen another deployment; Recover() reports that.
  if (!CheckBooted(host, change)) return PutOutcome::kNothingPut;
  const auto put = PutLate(host, contents, change);
  // Files that someone has edited are not overwritten.  Recover() returns to the old deployment instead.
  if (!put && put.error().kind() == ErrorKind::kConflict) return PutOutcome::kNothingPut;
  TRY(put);
  return PutOutcome::kPut;
}

// Returns "app.service" for /etc/systemd/system/app.service, for a drop-in in app.service.d there, and for a link such
// as multi-user.target.wants/app.service there.  Returns "" for a path that is not below this directory.
std::string UnitOfPath(std::string_view path) {
  const std::string folder_of_units = fmt::format("{}/", host::kUnitDirectory);
  if (!path.starts_with(folder_of_units)) return "";
  path.remove_prefix(folder_of_units.size());
  const std::size_t slash = path.find('/');
  const std::string_view folder = path.substr(0, slash);
  if (slash == std::string_view::npos) return std::string(folder);
  if (folder.ends_with(".d")) return std::string(folder.substr(0, folder.size() - 2));
  return std::string(path.substr(slash + 1));
}

}  // namespace

Result<std::optional<Change>> PutFilesEarly(const host::Host& host) {
  const Journal journal(host.root);
  auto change = TRY(journal.Read());
  // In the boot in which the change began, services are already running, and Recover() does everything.
  if (!change || !TRY(HasRebooted(host.root, *change))) return std::nullopt;
  const host::BlobStore contents = TRY(journal.OpenBlobs());
  if (change->next_boot) {
    if (TRY(PutForDeployment(host, contents, *change)) == PutOutcome::kNothingPut) return std::nullopt;
    return change;
  }
  if (change->phase == Phase::kApplied || change->undo.empty()) return std::nullopt;
  // The result, which names edits that were left alone, is not needed: Recover() finds and reports the same edits.
  TRY(UndoSteps(host, contents, {.undo = change->undo, .done = change->steps}));
  return change;
}

std::vector<std::string> UnitsOf(const Change& change) {
  std::set<std::string> units;
  for (const Step& step : change.steps) {
    if (const auto* file = std::get_if<resource::Put<resource::FileEntry>>(&step)) units.insert(UnitOfPath(file->key));
    if (const auto* unit = std::get_if<resource::Put<resource::UnitState>>(&step)) units.insert(unit->key);
  }
  units.erase("");
  return {units.begin(), units.end()};
}

}  // namespace pintle::change
