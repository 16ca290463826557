// SPDX-License-Identifier: Apache-2.0
#include "change/journal.h"

#include <fmt/core.h>

#include <utility>

#include "base/first_characters.h"
#include "base/size_limits.h"
#include "change/any_bytes.h"
#include "host/paired_file.h"
#include "host/remedy.h"
#include "host/room.h"
#include "json/parse.h"

namespace pintle::change {
namespace {

constexpr const char* kDirectory = "/var/lib/pintle/change";
constexpr const char* kJournal = "/var/lib/pintle/change/journal.json";
constexpr const char* kBlobs = "/var/lib/pintle/change/contents";

// In bytes.  It fits into the room that the journal has for what comes later, also if each of them is written as six.
constexpr std::size_t kLongestReason = host::PairedFile::kRoomToGrow / 8;

// It names files and holds hashes of passwords.
constexpr FileMode kPrivateDirectory = {.permissions = 0700, .owner = {}};

// What may still be added to a change that has begun: why it is undone, and the boots.
constexpr std::size_t kRoomForMore = 1 << 20;

}  // namespace

Error TooLongForJournal(std::size_t steps, std::size_t size) {
  return Error(
      ErrorKind::kInvalid,
      fmt::format("the change has {} steps, and its journal would be {} bytes long, more than the {} that can be "
                  "read back after a crash: give its files shorter paths, or bring them in several changes",
                  steps, size, limits::kRecord - kRoomForMore));
}

Result<std::optional<Change>> Journal::Read() const {
  if (!TRY(root_.Status(kJournal))) return std::nullopt;
  const std::string text = TRY(root_.ReadFile(kJournal));
  json::Report report;
  Change change = json::Decode<Change>(TRY(WithAnyBytes(TRY(json::Parse(text), kJournal)), kJournal), report);
  TRY(report.ToResult(), kJournal);
  return change;
}

Result<host::BlobStore> Journal::OpenBlobs() const {
  TRY(host::WithRemedy(root_.MakeDirectories(kDirectory, kPrivateDirectory)));
  // What a change left behind that never began, or had ended, is of no use to the next.
  const bool is_under_way = TRY(IsThere());
  if (!is_under_way) TRY(root_.Remove(kBlobs));
  host::BlobStore contents = TRY(host::WithRemedy(host::BlobStore::Open(root_, kBlobs)));
  if (!is_under_way) contents.LimitTo(TRY(host::RoomAt(root_, kStateDirectory)).bytes);
  return contents;
}

Result<bool> Journal::IsThere() const { return TRY(root_.Status(kJournal)).has_value(); }

Result<> Journal::Write(const Change& change) const {
  json::Value document = json::Encode(change);
  if (change.reason.size() > kLongestReason) document["reason"] = FirstCharacters(change.reason, kLongestReason / 4);
  const std::string text = json::ToText(WithTextOnly(std::move(document)));
  const std::size_t limit = limits::kRecord - (change.phase == Phase::kApplying ? kRoomForMore : 0);
  if (text.size() > limit) return TooLongForJournal(change.steps.size() + change.undo.size(), text.size());
  TRY(host::WithRemedy(host::PairedFile(root_, kJournal).Write(text)), "keeping the journal");
  return {};
}

Result<> Journal::Close() const {
  TRY(host::WithRemedy(host::PairedFile(root_, kJournal).Remove()), "closing the journal");
  static_cast<void>(root_.Remove(kBlobs));  // OpenBlobs() removes what stays.
  return {};
}

}  // namespace pintle::change
