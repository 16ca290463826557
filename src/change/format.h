// SPDX-License-Identifier: Apache-2.0
#pragma once

// The versions of the formats of the files that Pintle keeps from one run to the next.
//
// Each kind of file has a version of its own, and each file names its version.  A newer Pintle reads all older
// versions, so it ends what an older one has begun.  An older Pintle that meets a newer version changes nothing on the
// machine: Claim::Take() returns the error, which names the file, both versions and the remedy.
//
// docs/stability.md lists all files, also those that have no version because their format is not ours.

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "json/parse.h"

namespace pintle::change {

struct Format {
  const char* path;
  std::int64_t version;  // The version that this Pintle writes, and the newest one that it reads.
  // The member that holds the list or map of the file.  It is nullptr if the file is a struct, whose fields are beside
  // the version.
  const char* member = nullptr;
  // `pintle recover --set-aside` moves the file to another folder if it cannot be read.
  bool can_be_set_aside = true;
};

namespace format {
inline constexpr Format kJournal = {"/var/lib/pintle/change/journal.json", 1};
inline constexpr Format kRejected = {"/var/lib/pintle/rejected.json", 1};
inline constexpr Format kIgnored = {"/var/lib/pintle/ignored.json", 1, "ignored"};
inline constexpr Format kPolicy = {"/var/lib/pintle/policy.json", 1};
inline constexpr Format kRegistries = {"/var/lib/pintle/registries.json", 1, "registries"};
inline constexpr Format kStagedImage = {"/var/lib/pintle/staged-image.json", 1};
inline constexpr Format kHandedOver = {"/var/lib/pintle/handed-over", 1};
inline constexpr Format kPasswords = {"/etc/machine-config-daemon/pintle-passwords.json", 1, "users", false};
inline constexpr Format kWriters = {"/etc/machine-config-daemon/pintle-writers.json", 1, "writers"};
}  // namespace format

// Returns the formats of all files that have a version.
std::span<const Format> AllFormats();

// Returns the document to write: the contents with the version.
json::Value WithVersion(const Format& format, json::Value contents);
// Returns the text of the document, on several lines.
std::string TextWithVersion(const Format& format, json::Value contents);

// Reverts WithVersion().  A document without a version is from a Pintle that wrote none, and has version 1.  The error
// for a newer version has the kind kTooNew.
Result<json::Value> WithoutVersion(const Format& format, json::Value document);

// Returns an error if the file has a newer version.  A file that is missing, damaged or unreadable is no error here,
// since the reader of the file reports that.
Result<> ExpectKnownVersion(const Root& root, const Format& format);
// Does the same for all files that have a version.
Result<> ExpectKnownVersions(const Root& root);

}  // namespace pintle::change
