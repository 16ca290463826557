// SPDX-License-Identifier: Apache-2.0
#include "change/put.h"

#include <fmt/core.h>

#include <string_view>
#include <unordered_map>
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
Result<> PutFiles(const host::Host& host, const host::BlobStore& contents, const std::vector<host::FilePut>& files,
                  std::span<const Step> was) {
  if (files.empty()) return {};
  std::unordered_map<std::string_view, const FileEntry::State*> states;
  for (const Step& step : was) {
    const auto* file = std::get_if<host::FilePut>(&step);
    if (file != nullptr && file->want) states.emplace(file->key, &*file->want);
  }
  host::FileChanges changes(host.root, contents, host.labels);
  for (const host::FilePut& file : files) {
    const auto state = states.find(file.key);
    TRY(changes.Prepare(file, state == states.end() ? nullptr : state->second));
  }
  TRY(changes.Sync());
  for (const host::FilePut& file : files) TRY(changes.Commit(file));
  return changes.Sync();
}

}  // namespace

Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const Step> steps,
                std::span<const Step> was) {
  TRY(PutFiles(host, contents, Of<FileEntry>(steps), was));
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
