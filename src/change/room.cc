// SPDX-License-Identifier: Apache-2.0
#include "change/room.h"

#include <cstdint>
#include <span>
#include <variant>

#include "change/journal.h"
#include "change/state_directory.h"
#include "host/files/files.h"
#include "host/files/paired_file.h"
#include "host/files/room.h"

namespace pintle::change {
namespace {

// The estimated length of a step, or of its undo, in the journal.
constexpr std::uint64_t kJournalBytesPerStep = 512;
// The space that a directory takes, or a link that does not fit into its inode.
constexpr std::uint64_t kBytesPerEntry = 4096;

Result<> Add(host::NeededRoom& needed, std::span<const plan::Step> steps, const host::BlobStore& contents) {
  for (const plan::Step& step : steps) {
    const auto* file = std::get_if<host::FilePut>(&step);
    if (file == nullptr || !file->want) continue;
    const bool is_file = file->want->kind == resource::EntryKind::kFile;
    TRY(needed.Add(host::DirectoryAbove(file->key),
                   is_file ? contents.SizeOf(file->want->sha256).value_or(0) : kBytesPerEntry));
  }
  return {};
}

}  // namespace

Result<> ExpectRoom(const host::Host& host, const Change& change, const host::BlobStore& contents) {
  host::NeededRoom needed(host.root);
  TRY(Add(needed, change.steps, contents));
  if (change.next_boot) TRY(Add(needed, change.next_boot->held, contents));
  const std::uint64_t journal =
      (change.steps.size() + change.undo.size()) * kJournalBytesPerStep + host::PairedFile::kRoomToGrow;
  for (int copy = 0; copy < 2; ++copy) TRY(needed.Add(kStateDirectory, journal));
  return needed.ExpectEnough();
}

}  // namespace pintle::change
