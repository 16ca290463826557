// SPDX-License-Identifier: Apache-2.0
#include "change/put.h"

#include <fmt/core.h>

#include <variant>
#include <vector>

#include "host/authorized_keys.h"
#include "host/file_changes.h"
#include "host/password_hash.h"
#include "host/remedy.h"

namespace pintle::change {
namespace {

using plan::Step;
using resource::AuthorizedKeys;
using resource::FileEntry;
using resource::PasswordHash;
using resource::Put;
using resource::UnitLinks;
using resource::UnitState;

template <typename R>
std::vector<Put<R>> Of(std::span<const Step> steps) {
  std::vector<Put<R>> found;
  for (const Step& step : steps) {
    if (const auto* put = std::get_if<Put<R>>(&step)) found.push_back(*put);
  }
  return found;
}

// What takes time and space is done beside the places, and synced once; then all get to their places, and that is
// synced once.
Result<> PutFiles(const host::Host& host, const host::BlobStore& contents, const std::vector<host::FilePut>& files) {
  if (files.empty()) return {};
  host::FileChanges changes(host.root, contents, host.labels);
  for (const host::FilePut& file : files) TRY(changes.Prepare(file));
  TRY(changes.Sync());
  for (const host::FilePut& file : files) TRY(changes.Commit(file));
  return changes.Sync();
}

}  // namespace

Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const Step> steps) {
  TRY(PutFiles(host, contents, Of<FileEntry>(steps)));
  if (const auto units = Of<UnitState>(steps); !units.empty()) TRY(host.systemd.PutEnablement(units));
  for (const auto& put : Of<UnitLinks>(steps)) TRY(host.systemd.PutLinks(*put.want));
  for (const auto& put : Of<AuthorizedKeys>(steps)) {
    TRY(host::WithRemedy(host::PutAuthorizedKeys(host.root, put, host.labels)));
  }
  for (const auto& put : Of<PasswordHash>(steps)) {
    TRY(host::WithRemedy(host::PutPasswordHash(host.root, put, host.clock)));
  }
  return {};
}

}  // namespace pintle::change
