// SPDX-License-Identifier: Apache-2.0
#include "base/journal_reader.h"

#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/c_ptr.h"

namespace pintle::log {
namespace {

using Journal = CPtr<sd_journal, sd_journal_close>;

pintle::Error Failed(const char* call, int result) { return pintle::Error::FromErrno(call, -result); }

// The journal combines matches of one field with OR, and matches of different fields with AND.
Result<> AddMatch(sd_journal* journal, std::string_view field, std::string_view value) {
  const std::string match = std::string(field) + "=" + std::string(value);
  const int result = ::sd_journal_add_match(journal, match.data(), match.size());
  if (result < 0) return Failed("sd_journal_add_match", result);
  return {};
}

// Selects the entries with any of these ids, even if another program has written them.  The caller can recognise the
// entries of other programs by the fields that name the sender.
Result<> SelectIds(sd_journal* journal, std::span<const MessageId> ids) {
  for (const MessageId& id : ids) TRY(AddMatch(journal, "MESSAGE_ID", id.hex()));
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

// Returns the value of a field of the journal's current entry, or "" if the entry does not have the field.
Result<std::string> FieldHere(sd_journal* journal, const char* name) {
  const void* data = nullptr;
  std::size_t size = 0;
  const int result = ::sd_journal_get_data(journal, name, &data, &size);
  if (result == -ENOENT) return std::string();
  if (result < 0) return Failed("sd_journal_get_data", result);
  const std::string_view field(static_cast<const char*>(data), size);
  return std::string(field.substr(std::min(field.size(), std::string_view(name).size() + 1)));
}

Result<Journal> OpenJournal() {
  Journal journal;
  const int result = ::sd_journal_open(Out(journal), SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
  if (result < 0) return Failed("opening the system journal", result);
  return journal;
}

// Returns the id of the boot before this one, or "" if the journal has no entry of an earlier boot.
Result<std::string> IdOfPreviousBoot(sd_journal* journal) {
  sd_id128_t boot = {};
  if (const int result = ::sd_id128_get_boot(&boot); result < 0) return Failed("sd_id128_get_boot", result);
  char text[SD_ID128_STRING_MAX] = {};
  TRY(AddMatch(journal, "_BOOT_ID", ::sd_id128_to_string(boot, text)));
  int result = ::sd_journal_seek_head(journal);
  if (result >= 0) result = ::sd_journal_next(journal);
  // The entry before the first one of this boot is the last one of the previous boot.  The match excludes that
  // entry, so the match is removed first.
  ::sd_journal_flush_matches(journal);
  if (result > 0) result = ::sd_journal_previous(journal);
  if (result < 0) return Failed("sd_journal_previous", result);
  return result == 0 ? std::string() : FieldHere(journal, "_BOOT_ID");
}

}  // namespace

Result<std::vector<PastEntry>> ReadJournal(std::span<const MessageId> ids) {
  const Journal journal = TRY(OpenJournal());
  TRY(SelectIds(journal.get(), ids));
  std::vector<PastEntry> entries;
  int result = 0;
  while ((result = ::sd_journal_next(journal.get())) > 0) entries.push_back(TRY(ReadEntry(journal.get())));
  if (result < 0) return Failed("sd_journal_next", result);
  return entries;
}

Result<std::vector<std::string>> MessagesOfPreviousBoot(std::span<const std::string_view> units) {
  const Journal journal = TRY(OpenJournal());
  std::vector<std::string> messages;
  const std::string boot = TRY(IdOfPreviousBoot(journal.get()));
  if (boot.empty()) return messages;
  TRY(AddMatch(journal.get(), "_BOOT_ID", boot));
  TRY(AddMatch(journal.get(), "_UID", "0"));
  for (const std::string_view unit : units) TRY(AddMatch(journal.get(), "_SYSTEMD_UNIT", unit));
  int result = ::sd_journal_seek_head(journal.get());
  while (result >= 0 && (result = ::sd_journal_next(journal.get())) > 0) {
    messages.push_back(TRY(FieldHere(journal.get(), "MESSAGE")));
  }
  if (result < 0) return Failed("sd_journal_next", result);
  return messages;
}

}  // namespace pintle::log
