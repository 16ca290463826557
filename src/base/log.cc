// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/printable.h"

namespace pintle::log {
namespace {

// The maximum length of a message or a field, in bytes.  journald accepts more, but some readers of the journal do not.
constexpr std::size_t kLongest = 8 << 10;

bool StderrIsJournal() {
  const char* stream = ::secure_getenv("JOURNAL_STREAM");
  struct stat status;
  return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 &&
         IsJournalStream(stream, status.st_dev, status.st_ino);
}

bool DebugWanted() { return ::secure_getenv("PINTLE_DEBUG") != nullptr; }

bool SendToJournal(const Entry& entry) {
  const std::vector<std::string> fields = JournalFields(entry);
  std::vector<iovec> vectors;
  vectors.reserve(fields.size());
  for (const std::string& field : fields) vectors.push_back({const_cast<char*>(field.data()), field.size()});
  return ::sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size())) >= 0;
}

void WriteToStderr(const Entry& entry) {
  const std::string line = StderrLine(::program_invocation_short_name, entry);
  // A single write() keeps the lines of several processes whole.  If stderr is gone, there is nowhere to report that.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kError:
      return "error: ";
    case Level::kWarning:
      return "warning: ";
    case Level::kNotice:
    case Level::kInfo:
      return "";
    case Level::kDebug:
      return "debug: ";
  }
  return "";
}

std::string Loggable(const std::string& text) { return Shortened(PrintableLines(text), kLongest); }

void AppendOnOneLine(std::string& line, const std::string& text) {
  for (const char c : Loggable(text)) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
}

void WriteIdentified(Level level, std::string&& text, const MessageId& id, std::vector<Field>&& fields) {
  Write({.level = level, .text = std::move(text), .message_id = std::string(id.hex()), .fields = std::move(fields)});
}

}  // namespace

void Write(const Entry& entry) {
  // Both are computed once: neither the environment nor stderr changes while one of our programs runs.
  static const bool to_journal = StderrIsJournal();
  static const bool debug_wanted = DebugWanted();
  if (entry.level == Level::kDebug && !debug_wanted) return;
  if (to_journal && SendToJournal(entry)) return;
  WriteToStderr(entry);
}

void Record(const Entry& entry) { SendToJournal(entry); }

void Error(std::string text, const MessageId& id, std::vector<Field> fields) {
  WriteIdentified(Level::kError, std::move(text), id, std::move(fields));
}

void Warning(std::string text, const MessageId& id, std::vector<Field> fields) {
  WriteIdentified(Level::kWarning, std::move(text), id, std::move(fields));
}

void Notice(std::string text, const MessageId& id, std::vector<Field> fields) {
  WriteIdentified(Level::kNotice, std::move(text), id, std::move(fields));
}

void Info(std::string text, std::vector<Field> fields) {
  Write({.level = Level::kInfo, .text = std::move(text), .message_id = {}, .fields = std::move(fields)});
}

void Debug(std::string text, std::vector<Field> fields) {
  Write({.level = Level::kDebug, .text = std::move(text), .message_id = {}, .fields = std::move(fields)});
}

std::string StderrLine(std::string_view program, const Entry& entry) {
  std::string line = fmt::format("{}: {}", program, LevelName(entry.level));
  AppendOnOneLine(line, entry.text);
  if (!entry.fields.empty()) {
    std::string_view before = " [";
    for (const Field& field : entry.fields) {
      line += before;
      line += field.name;
      line += '=';
      AppendOnOneLine(line, field.value);
      before = " ";
    }
    line += ']';
  }
  line += '\n';
  return line;
}

std::vector<std::string> JournalFields(const Entry& entry) {
  std::vector<std::string> fields;
  fields.reserve(entry.fields.size() + 4);
  fields.push_back("MESSAGE=" + Loggable(entry.text));
  fields.push_back(fmt::format("PRIORITY={}", static_cast<int>(entry.level)));
  fields.push_back(fmt::format("SYSLOG_IDENTIFIER={}", ::program_invocation_short_name));
  if (!entry.message_id.empty()) fields.push_back("MESSAGE_ID=" + entry.message_id);
  for (const Field& field : entry.fields) fields.push_back(field.name + "=" + Loggable(field.value));
  return fields;
}

bool IsJournalStream(std::string_view journal_stream, unsigned long long device, unsigned long long inode) {
  return journal_stream == fmt::format("{}:{}", device, inode);
}

}  // namespace pintle::log
