// SPDX-License-Identifier: Apache-2.0
#pragma once

// The log, for the person who runs the machine.
//
// Under systemd an entry goes to the system journal with its fields, and a MESSAGE_ID that names the kind of event, so
// that tools need not parse prose.  Anywhere else an entry is one line on stderr.  Only agent/, serving/, controller/
// and ctl/ log above debug: libraries return errors.

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::log {

// The syslog levels that we use, with the journal's numbers.
enum class Level { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6, kDebug = 7 };

// The id of a kind of event: 32 lower-case hexadecimal digits, made once with `systemd-id128 new` and never changed.
class MessageId {
 public:
  consteval explicit MessageId(const char (&hex)[33]) {
    for (std::size_t i = 0; i < hex_.size(); ++i) {
      const bool is_digit = (hex[i] >= '0' && hex[i] <= '9') || (hex[i] >= 'a' && hex[i] <= 'f');
      hex_[i] = is_digit ? hex[i] : throw "a message id is 32 lower-case hexadecimal digits";
    }
  }
  constexpr std::string_view hex() const { return {hex_.data(), hex_.size()}; }

 private:
  std::array<char, 32> hex_ = {};
};

// A field of a journal entry.  Names are upper-case letters, digits and underscores; ours begin with PINTLE_.
struct Field {
  std::string name;
  std::string value;
};

struct Entry {
  Level level = Level::kInfo;
  std::string text;
  std::string message_id;  // Empty for an event that no tool needs to recognise.
  std::vector<Field> fields;
};

// Writes an entry to the system journal or to stderr.
void Write(const Entry& entry);

// Writes an entry to the system journal and never to stderr.  This is for records of changes: `pintle history` reads
// them later, and people learn of these changes in another way.  Where there is no journal, the entry is lost.
void Record(const Entry& entry);

// Write an entry of this level.
void Error(std::string text, const MessageId& id, std::vector<Field> fields = {});
void Warning(std::string text, const MessageId& id, std::vector<Field> fields = {});
void Notice(std::string text, const MessageId& id, std::vector<Field> fields = {});
void Info(std::string text, std::vector<Field> fields = {});
// Writes the entry only if PINTLE_DEBUG is set in the environment.
void Debug(std::string text, std::vector<Field> fields = {});

// Returns the line for stderr: "pintled: warning: text [PINTLE_UNIT=a.service]".  A line break in a text or a value is
// written as \n, so that no part of it looks like an entry of its own.
std::string StderrLine(std::string_view program, const Entry& entry);

// Returns the fields as sd_journal_sendv() takes them: "NAME=value".
std::vector<std::string> JournalFields(const Entry& entry);

// Returns whether `journal_stream`, the value of JOURNAL_STREAM, names the stream with this device and inode number.
bool IsJournalStream(std::string_view journal_stream, unsigned long long device, unsigned long long inode);

}  // namespace pintle::log
