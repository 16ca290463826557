// SPDX-License-Identifier: Apache-2.0
#include "change/journal.h"

#include <utility>

#include "change/any_bytes.h"
#include "host/remedy.h"
#include "json/parse.h"

namespace pintle::change {
namespace {

constexpr const char* kDirectory = "/var/lib/pintle/change";
constexpr const char* kJournal = "/var/lib/pintle/change/journal.json";
constexpr const char* kBlobs = "/var/lib/pintle/change/contents";

// It names files and holds hashes of passwords.
constexpr FileMode kPrivate = {.permissions = 0600, .owner = {}};
constexpr FileMode kPrivateDirectory = {.permissions = 0700, .owner = {}};

}  // namespace

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
  if (!TRY(root_.Status(kJournal))) TRY(root_.Remove(kBlobs));
  return host::WithRemedy(host::BlobStore::Open(root_, kBlobs));
}

Result<> Journal::Write(const Change& change) const {
  const std::string text = json::ToText(WithTextOnly(json::Encode(change)));
  TRY(host::WithRemedy(root_.WriteFile(kJournal, text, kPrivate)), "keeping the journal");
  return {};
}

Result<> Journal::Close() const {
  TRY(root_.Remove(kJournal));
  return root_.Remove(kBlobs);
}

}  // namespace pintle::change
