// SPDX-License-Identifier: Apache-2.0
#include "change/journal.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/first_characters.h"
#include "base/size_limits.h"
#include "change/any_bytes.h"
#include "change/format.h"
#include "change/set_aside_remedy.h"
#include "change/state_directory.h"
#include "host/files/files.h"
#include "host/files/paired_file.h"
#include "host/files/remedy.h"
#include "host/files/room.h"
#include "json/fields.h"
#include "json/parse.h"
#include "plan/actions.h"

namespace pintle::change {
namespace {

constexpr const char* kJournal = format::kJournal.path;
constexpr const char* kBlobs = "/var/lib/pintle/change/contents";

// The limit of a reason, in bytes.  A reason of this length fits into the space by which a PairedFile can grow without
// an allocation, even if each byte is written as an escape of six bytes.
constexpr std::size_t kLongestReason = host::PairedFile::kRoomToGrow / 8;

// A change that is being applied must leave this much room in its journal, because data is added later: the links of
// its units, the deployment that was staged for it, the reason for undoing it, and the number of boots.
constexpr std::size_t kRoomForMore = 1 << 20;

Result<Change> ChangeIn(std::string_view text) {
  json::Value document = TRY(WithoutVersion(format::kJournal, TRY(json::Parse(text))));
  json::Report report;
  Change change = json::Decode<Change>(TRY(WithAnyBytes(std::move(document))), report);
  TRY(report.ToResult());
  TRY(plan::ExpectKnownActions(change.actions));
  return change;
}

}  // namespace

Error TooLongForJournal(std::size_t steps, std::size_t size) {
  return Error(
      ErrorKind::kInvalid,
      fmt::format("the change has {} steps, and its journal would be {} bytes long, more than the {} that can be "
                  "read back after a crash: give its files shorter paths, or bring them in several changes",
                  steps, size, limits::kRecord - kRoomForMore));
}

Result<std::optional<Change>> Journal::Read() const {
  const auto read = [&]() -> Result<std::optional<Change>> {
    if (!TRY(root_.Status(kJournal))) return std::nullopt;
    return TRY(ChangeIn(TRY(root_.ReadFile(kJournal))));
  };
  return WithSetAsideRemedy(kJournal, read());
}

Result<host::BlobStore> Journal::OpenBlobs() const {
  TRY(WithSetAsideRemedy(kChangeDirectory,
                         host::WithRemedy(root_.MakeDirectories(kChangeDirectory, kPrivateDirectory))));
  if (TRY(HasChange()) && TRY(root_.Status(kBlobs))) {
    return WithSetAsideRemedy(kBlobs,
                              host::WithRemedy(host::BlobStore::Open(root_, kBlobs, host::BlobStore::OpenMode::kRead)));
  }
  // Contents without a journal belong to a change that never began or has ended.
  TRY(WithSetAsideRemedy(kBlobs, root_.Remove(kBlobs)));
  host::BlobStore contents = TRY(host::WithRemedy(host::BlobStore::Open(root_, kBlobs)));
  contents.LimitTo(TRY(host::UsableRoomAt(root_, kStateDirectory)).bytes);
  return contents;
}

Result<> Journal::ExpectUsable() const {
  const auto directory = TRY(root_.Status(kChangeDirectory));
  if (directory && !S_ISDIR(directory->st_mode)) {
    return WithSetAsideRemedy(kChangeDirectory, Error(ErrorKind::kInvalid, "it is not a directory"));
  }
  const auto change = TRY(Read());
  if (change) return WithSetAsideRemedy(kBlobs, ExpectContents(*change, TRY(OpenBlobs())));
  for (const std::string& path : {std::string(kBlobs), host::PairedFile(root_, kJournal).spare()}) {
    const auto status = TRY(root_.Status(path));
    if (!status || !S_ISDIR(status->st_mode)) continue;
    return WithSetAsideRemedy(path, Error(ErrorKind::kInvalid, "there is a directory in the place of a file"));
  }
  return {};
}

Result<bool> Journal::HasChange() const { return TRY(root_.Status(kJournal)).has_value(); }

Result<> Journal::Write(const Change& change) const {
  json::Value document = WithVersion(format::kJournal, json::Encode(change));
  // A character has at most four bytes.
  if (change.reason.size() > kLongestReason) document["reason"] = FirstCharacters(change.reason, kLongestReason / 4);
  const std::string text = json::ToText(WithTextOnly(std::move(document)));
  const std::size_t limit = limits::kRecord - (change.phase == Phase::kApplying ? kRoomForMore : 0);
  if (text.size() > limit) return TooLongForJournal(change.steps.size() + change.undo.size(), text.size());
  TRY(host::WithRemedy(host::PairedFile(root_, kJournal).Write(text)), "writing the journal");
  return {};
}

Result<> Journal::Close() const {
  TRY(host::WithRemedy(host::PairedFile(root_, kJournal).Remove()), "closing the journal");
  static_cast<void>(root_.Remove(kBlobs));  // If this fails, OpenBlobs() removes the contents.
  return {};
}

Result<> ExpectContents(const Change& change, const host::BlobStore& contents) {
  const auto expect = [&](std::span<const plan::Step> steps) -> Result<> {
    for (const plan::Step& step : steps) {
      const auto* file = std::get_if<host::FilePut>(&step);
      if (file == nullptr || !file->want || file->want->sha256.empty() || contents.Has(file->want->sha256)) continue;
      return Error(ErrorKind::kNotFound, fmt::format("the stored contents of {} are missing", file->key));
    }
    return {};
  };
  TRY(expect(change.steps));
  TRY(expect(change.undo));
  return change.next_boot ? expect(change.next_boot->held) : Result<>();
}

}  // namespace pintle::change
