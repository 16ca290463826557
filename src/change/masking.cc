// SPDX-License-Identifier: Apache-2.0
#include "change/masking.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/ascii.h"
#include "base/printable.h"

namespace pintle::change {
namespace {

// The parts of the marks around a private key: "-----BEGIN RSA PRIVATE KEY-----" in PEM, for example, and
// "-----END PGP PRIVATE KEY BLOCK-----" in OpenPGP.
constexpr std::string_view kFirstMark = "-----BEGIN ";
constexpr std::string_view kLastMark = "-----END ";
constexpr std::string_view kPrivateKey = "PRIVATE KEY";
constexpr std::string_view kMarkEnd = "-----";
constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"password", "passwd", "passphrase", "secret", "token", "credential", "private", "apikey", "api_key", "api-key",
     "client-key-data", "psk", "preshared", "dockerconfig", "dockercfg"});
constexpr auto kHashMethods = std::to_array<std::string_view>({"apr1", "argon2", "md5", "pbkdf2", "scrypt", "sha1"});

bool IsNameCharacter(char c) { return IsLetterOrDigit(c) || c == '_' || c == '-' || c == '.'; }

// Returns whether the name of a value suggests that the value is a secret.
bool SuggestsASecret(std::string_view name) {
  const std::string lower = InLowerCase(name);
  if (lower == "auth" || lower == "_auth" || lower == "authorization" || lower.ends_with(".key")) return true;
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Returns the name that ends before this position, possibly in quotes and followed by blanks.
std::string_view NameBefore(std::string_view line, std::size_t at) {
  while (at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t' || line[at - 1] == '"' || line[at - 1] == '\'')) --at;
  std::size_t begin = at;
  while (begin > 0 && IsNameCharacter(line[begin - 1])) --begin;
  return line.substr(begin, at - begin);
}

bool IsQuote(char c) { return c == '"' || c == '\''; }

// Returns the position behind the closing quote of the value that begins with a quote at this position, or nullopt if
// the closing quote is on another line.
std::optional<std::size_t> EndOfQuoted(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    const bool is_doubled = quote == '\'' && line.substr(i, 2) == "''";  // YAML writes a single quote so.
    if (line[i] == '\\' || is_doubled) {
      ++i;
    } else if (line[i] == quote) {
      return i + 1;
    }
  }
  return std::nullopt;
}

// Returns the end of the value that begins at this position: after its closing quote, or the end of the line.
std::size_t EndOfValue(std::string_view line, std::size_t at) {
  return IsQuote(line[at]) ? EndOfQuoted(line, at).value_or(line.size()) : line.size();
}

// Returns whether a value that begins with this character has its secret later in the line or on other lines, as after
// "secret: {".
bool IsPartOfStructure(char c) { return c == '{' || c == '[' || c == '|' || c == '>'; }

// Masks the value in `password = SECRET` and `password: SECRET`.
std::string WithoutNamedSecrets(std::string_view line) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if ((line[at] != '=' && line[at] != ':') || !SuggestsASecret(NameBefore(line, at))) continue;
    const std::size_t begin = std::min(line.find_first_not_of(" \t", at + 1), line.size());
    if (begin == line.size() || IsPartOfStructure(line[begin])) continue;
    const std::size_t end = EndOfValue(line, begin);
    masked += line.substr(copied, begin - copied);
    masked += kMasked;
    copied = end;
    at = end - 1;
  }
  masked += line.substr(copied);
  return masked;
}

std::size_t IndentOf(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// Returns the column that further lines of the value of this name, which is a part of the line, are indented more than.
// In YAML, this is the column of the line's first key, or that of the whole entry if the name is in braces.
std::size_t ColumnOfEntry(std::string_view line, std::string_view name) {
  const std::size_t indent = IndentOf(line);
  std::size_t key = indent;
  while (line.substr(key).starts_with("- ")) key = std::min(line.find_first_not_of(' ', key + 1), line.size());
  const auto begin = static_cast<std::size_t>(name.data() - line.data());
  if (begin <= key) return begin;
  return line.substr(key, begin - key).find_first_of("{[") == std::string_view::npos ? key : indent;
}

// Returns the column of the entry whose secret reaches the end of the line, or nullopt.  In YAML, such a secret goes on
// in the next lines if they are indented more than that.
std::optional<std::size_t> ColumnOfOpenSecret(std::string_view line) {
  for (std::size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
    const std::string_view name = NameBefore(line, at);
    const std::size_t begin = line.find_first_not_of(" \t", at + 1);
    if (begin == std::string_view::npos || IsPartOfStructure(line[begin]) || !SuggestsASecret(name)) continue;
    const auto end = IsQuote(line[begin]) ? EndOfQuoted(line, begin) : std::nullopt;
    if (!end) return ColumnOfEntry(line, name);
    at = *end - 1;
  }
  return std::nullopt;
}

// Returns the end of the word that begins at this position, of which a part may be in quotes.
std::size_t EndOfArgument(std::string_view line, std::size_t at) {
  while (at < line.size() && line[at] != ' ' && line[at] != '\t') {
    at = IsQuote(line[at]) ? EndOfValue(line, at) : at + 1;
  }
  return at;
}

// Masks the argument in `--token SECRET` and `"--token", "SECRET"`.
std::string WithoutSecretArguments(std::string_view line) {
  constexpr std::string_view kDashes = "--";
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = line.find(kDashes); at != std::string_view::npos; at = line.find(kDashes, at + 1)) {
    const bool is_in_word = at > 0 && (IsNameCharacter(line[at - 1]) || at < copied);
    const std::size_t name = at + kDashes.size();
    std::size_t end = name;
    while (end < line.size() && IsNameCharacter(line[end])) ++end;
    std::size_t after = end;
    if (after < line.size() && (line[after] == '"' || line[after] == '\'')) ++after;
    if (after < line.size() && line[after] == ',') ++after;
    const std::size_t begin = std::min(line.find_first_not_of(" \t", after), line.size());
    if (is_in_word || begin == end || begin == line.size() || line[begin] == '-') continue;
    if (!SuggestsASecret(line.substr(name, end - name))) continue;
    masked += line.substr(copied, begin - copied);
    masked += kMasked;
    copied = EndOfArgument(line, begin);
    at = begin;
  }
  masked += line.substr(copied);
  return masked;
}

// Returns whether the text may be the method that stands between the first two dollars of a hash.  The methods of
// crypt(5) have one to three characters.
bool IsHashMethod(std::string_view text) {
  if (text.size() < 4) return !text.empty();
  return std::any_of(kHashMethods.begin(), kHashMethods.end(),
                     [&](std::string_view method) { return text.starts_with(method); });
}

// Masks hashes such as $6$salt$hash.
std::string WithoutPasswordHashes(std::string_view line) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = line.find('$'); at != std::string_view::npos; at = line.find('$', at + 1)) {
    const std::size_t second = line.find('$', at + 1);
    if (second == std::string_view::npos || !IsHashMethod(line.substr(at + 1, second - at - 1))) continue;
    if (line.find('$', second + 1) == std::string_view::npos) continue;
    const std::size_t end = std::min(line.find_first_of(" \t:\"',", at), line.size());
    if (end < second) continue;
    masked += line.substr(copied, at - copied);
    masked += kMasked;
    copied = end;
    at = end;
  }
  masked += line.substr(copied);
  return masked;
}

// Returns whether the line begins a block such as "password: |", with the secret on the lines below.
bool BeginsSecretBlock(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" +-0123456789");
  if (end == std::string_view::npos || (line[end] != '|' && line[end] != '>')) return false;
  const std::size_t colon = line.substr(0, end).rfind(':');
  return colon != std::string_view::npos && SuggestsASecret(NameBefore(line, colon));
}

bool HasMark(std::string_view line, std::string_view mark) {
  const std::size_t begin = line.find(mark);
  return begin != std::string_view::npos && line.find(kPrivateKey, begin) != std::string_view::npos;
}

bool BeginsKey(std::string_view line) { return HasMark(line, kFirstMark); }
bool EndsKey(std::string_view line) { return HasMark(line, kLastMark); }

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

// Masks the part of a key that shares a line with the key's first or last mark.  YAML writers fold long texts at
// blanks, and the marks have blanks.
std::string WithoutPartOfKey(std::string_view line) {
  if (BeginsKey(line)) {
    const std::size_t mark_end = line.find(kMarkEnd, line.find(kPrivateKey, line.find(kFirstMark)));
    const std::size_t begin = mark_end == std::string_view::npos ? line.size() : mark_end + kMarkEnd.size();
    if (IsBlank(line.substr(begin))) return std::string(line);
    return std::string(line.substr(0, begin)).append(kMasked);
  }
  const std::size_t end = EndsKey(line) ? line.find(kLastMark) : 0;
  if (IsBlank(line.substr(0, end))) return std::string(line);
  return std::string(kMasked).append(line.substr(end));
}

// Returns the beginning of the mark that a line ends in the middle of, or "".  The mark goes on in the next line.
std::string_view CutMarkIn(std::string_view line) {
  constexpr std::size_t kLongestMark = 80;
  std::size_t begin = std::string_view::npos;
  for (const std::string_view mark : {kFirstMark, kLastMark}) {
    const std::size_t found = line.rfind(mark.substr(0, mark.size() - 1));  // The line may end before the blank.
    if (found != std::string_view::npos && (begin == std::string_view::npos || found > begin)) begin = found;
  }
  if (begin == std::string_view::npos || line.size() - begin > kLongestMark) return "";
  if (line.find(kMarkEnd, begin + kMarkEnd.size()) != std::string_view::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t\r\\") + 1 - begin);
}

// Returns a line that goes on with a folded text, without the blanks and the backslash before the text.
std::string_view WithoutFold(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t\\"), line.size()));
}

}  // namespace

std::string WithoutDataUrls(std::string_view line) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = line.find("data:"); at != std::string_view::npos; at = line.find("data:", copied)) {
    const std::size_t comma = std::min(line.find(',', at), line.size());
    masked += line.substr(copied, comma - copied);
    masked += comma == line.size() ? std::string_view() : kMasked;
    copied = std::min(line.find_first_of(" \t\"'", comma), line.size());
  }
  masked += line.substr(copied);
  return masked;
}

bool HoldsASecret(std::string_view path) {
  const std::string name = InLowerCase(path.substr(path.rfind('/') + 1));
  return name.find("secret") != std::string::npos || name.find("token") != std::string::npos ||
         name.ends_with(".psk") || name.ends_with(".key");
}

std::string MaskedLine(std::string_view line) {
  // The whole key is in one line, as in JSON.
  if (BeginsKey(line) && EndsKey(line)) return std::string(kMasked);
  const std::string without_key = WithoutPartOfKey(line);
  return WithoutUrlPasswords(WithoutPasswordHashes(WithoutSecretArguments(WithoutNamedSecrets(without_key))), kMasked);
}

std::string LineMasker::Next(std::string_view line) {
  if (block_indent_ && (IndentOf(line) > *block_indent_ || IndentOf(line) == line.size())) return std::string(kMasked);
  block_indent_.reset();
  if (BeginsSecretBlock(line)) block_indent_ = IndentOf(line);
  const bool is_open = open_column_ && (IsBlank(line) || IndentOf(line) > *open_column_);
  if (!is_open) open_column_ = ColumnOfOpenSecret(line);
  const bool is_mark_cut = !cut_mark_.empty();
  const std::string joined = is_mark_cut ? cut_mark_ + " " + std::string(WithoutFold(line)) : "";
  const std::string_view marks = is_mark_cut ? joined : line;
  cut_mark_ = CutMarkIn(marks);
  const bool ends_key = EndsKey(marks);
  if (in_key_ && !ends_key) return std::string(kMasked);
  const bool begins_key = BeginsKey(marks);
  in_key_ = begins_key && (!ends_key || marks.rfind(kFirstMark) > marks.rfind(kLastMark));
  const bool is_part_of_mark = is_mark_cut && (begins_key || ends_key);
  return is_part_of_mark || (is_open && !IsBlank(line)) ? std::string(kMasked) : MaskedLine(line);
}

std::vector<std::string> Masked(const std::vector<std::string_view>& lines) {
  std::vector<std::string> masked;
  masked.reserve(lines.size());
  LineMasker masker;
  for (const std::string_view line : lines) masked.push_back(masker.Next(line));
  return masked;
}

}  // namespace pintle::change
