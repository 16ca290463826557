// SPDX-License-Identifier: Apache-2.0
#include "base/journal_reader.h"

#include <systemd/sd-journal.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/c_ptr.h"

namespace pintle::log {
namespace {

using Journal = CPtr<sd_journal, sd_journal_close>;

pintle::Error Failed(const char* call, int result) { return pintle::Error::FromErrno(call, -result); }

// Entries that others have written under our ids are as good as ours: the journal says who wrote them.
Result<> Match(sd_journal* journal, std::span<const MessageId> ids) {
  for (const MessageId& id : ids) {
    const std::string match = "MESSAGE_ID=" + std::string(id.hex());
    const int result = ::sd_journal_add_match(journal, match.data(), match.size());
    if (result < 0) return Failed("sd_journal_add_match", result);
  }
  return {};
}

Result<PastEntry> ReadEntry(sd_journal* journal) {
  std::uint64_t microseconds = 0;
  const int result = ::sd_journal_get_realtime_usec(journal, &microseconds);
  if (result < 0) return Failed("sd_journal_get_realtime_usec", result);
  PastEntry entry;
  entry.at = WallTime(std::chrono::microseconds(microseconds));
  const void* data = nullptr;
  std::size_t size = 0;
  SD_JOURNAL_FOREACH_DATA(journal, data, size) {
    const std::string_view field(static_cast<const char*>(data), size);
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    entry.fields.emplace(field.substr(0, equals), field.substr(equals + 1));
  }
  return entry;
}

}  // namespace

Result<std::vector<PastEntry>> ReadJournal(std::span<const MessageId> ids) {
  Journal journal;
  int result = ::sd_journal_open(Out(journal), SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
  if (result < 0) return Failed("opening the system journal", result);
  TRY(Match(journal.get(), ids));
  std::vector<PastEntry> entries;
  while ((result = ::sd_journal_next(journal.get())) > 0) entries.push_back(TRY(ReadEntry(journal.get())));
  if (result < 0) return Failed("sd_journal_next", result);
  return entries;
}

}  // namespace pintle::log
