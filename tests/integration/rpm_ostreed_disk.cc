// SPDX-License-Identifier: Apache-2.0
#include "rpm_ostreed_disk.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "host/ostree/image_name.h"
#include "host/ostree/import_ostree.h"
#include "host/ostree/kernel_arguments.h"
#include "host/program.h"

namespace pintle::test {
namespace {

using host::Failure;
using host::KeyFile;
using host::Object;
using host::ToError;
using Words = std::vector<std::string>;

constexpr const char* kReference = "container-image-reference";

std::string TextOf(GKeyFile* origin, const char* key) {
  const host::Text text(::g_key_file_get_string(origin, "origin", key, nullptr));
  return text == nullptr ? "" : text.get();
}

Words ListOf(GKeyFile* origin, const char* group, const char* key) {
  const CPtr<char*, ::g_strfreev> list(::g_key_file_get_string_list(origin, group, key, nullptr, nullptr));
  Words words;
  for (char** word = list.get(); word != nullptr && *word != nullptr; ++word) words.emplace_back(*word);
  return words;
}

void SetList(GKeyFile* origin, const char* group, const char* key, const Words& words) {
  if (words.empty()) {
    ::g_key_file_remove_key(origin, group, key, nullptr);
    return;
  }
  std::string text;
  for (const std::string& word : words) text += word + ";";
  ::g_key_file_set_value(origin, group, key, text.c_str());
}

// Removes words from a list of requests and adds others, as strictly as rpm-ostree does.  `missing` begins the error
// about a word that is not in the list.
Result<> Change(GKeyFile* origin, const char* group, const char* key, const Words& removed, const Words& added,
                bool is_idempotent, const char* missing) {
  Words words = ListOf(origin, group, key);
  for (const std::string& word : removed) {
    if (std::erase(words, word) == 0 && !is_idempotent) {
      return Error(ErrorKind::kInvalid, fmt::format("{} '{}'", missing, word));
    }
  }
  for (const std::string& word : added) {
    const bool is_there = std::find(words.begin(), words.end(), word) != words.end();
    if (is_there && !is_idempotent) return Error(ErrorKind::kInvalid, fmt::format("'{}' is already requested", word));
    if (!is_there) words.push_back(word);
  }
  SetList(origin, group, key, words);
  return {};
}

bool IsLayered(GKeyFile* origin) {
  return !ListOf(origin, "packages", "requested").empty() || !ListOf(origin, "overrides", "remove").empty();
}

std::string RefspecOf(GKeyFile* origin) {
  for (const char* key : {kReference, "refspec", "baserefspec"}) {
    const std::string text = TextOf(origin, key);
    if (!text.empty()) return text;
  }
  return "";
}

void SetRefspec(GKeyFile* origin, const std::string& refspec) {
  for (const char* key : {kReference, "refspec", "baserefspec"}) {
    ::g_key_file_remove_key(origin, "origin", key, nullptr);
  }
  const bool is_container = refspec.starts_with("ostree-");
  const char* key = is_container ? kReference : IsLayered(origin) ? "baserefspec" : "refspec";
  ::g_key_file_set_string(origin, "origin", key, refspec.c_str());
}

Words ArgumentsOf(OstreeDeployment* deployment) {
  OstreeBootconfigParser* entry = ::ostree_deployment_get_bootconfig(deployment);
  Words words = host::SplitKernelArguments(::ostree_bootconfig_parser_get(entry, "options"));
  std::erase_if(words, [](const std::string& word) { return word.starts_with("ostree="); });
  return words;
}

}  // namespace

Result<std::optional<LockedDisk>> LockedDisk::TryLock(host::RegistryAccess registries) {
  Object<OstreeSysroot> sysroot(::ostree_sysroot_new_default());
  ::ostree_sysroot_set_mount_namespace_in_use(sysroot.get());
  Failure failure;
  gboolean is_ours = FALSE;
  if (!::ostree_sysroot_try_lock(sysroot.get(), &is_ours, Out(failure))) return ToError(failure);
  if (!is_ours) return std::optional<LockedDisk>();
  LockedDisk disk(std::move(sysroot), std::move(registries));
  if (!::ostree_sysroot_load(disk.sysroot_.get(), nullptr, Out(failure))) return ToError(failure);
  return std::optional<LockedDisk>(std::move(disk));
}

LockedDisk::LockedDisk(Object<OstreeSysroot> sysroot, host::RegistryAccess registries)
    : sysroot_(std::move(sysroot)), registries_(std::move(registries)) {}

LockedDisk::~LockedDisk() {
  if (sysroot_ != nullptr) ::ostree_sysroot_unlock(sysroot_.get());
}

OstreeRepo* LockedDisk::repository() const { return ::ostree_sysroot_repo(sysroot_.get()); }
OstreeDeployment* LockedDisk::booted() const { return ::ostree_sysroot_get_booted_deployment(sysroot_.get()); }
std::string LockedDisk::booted_os() const { return ::ostree_deployment_get_osname(booted()); }

OstreeDeployment* LockedDisk::first() const {
  const host::Objects all(::ostree_sysroot_get_deployments(sysroot_.get()));
  return static_cast<OstreeDeployment*>(all->pdata[0]);
}

Result<LockedDisk::Draft> LockedDisk::Begin() const {
  OstreeDeployment* from = first();
  Draft draft{::ostree_deployment_get_csum(from), "", KeyFile(::g_key_file_new()), ArgumentsOf(from)};
  const host::Text origin(::g_key_file_to_data(::ostree_deployment_get_origin(from), nullptr, nullptr));
  ::g_key_file_load_from_data(draft.origin.get(), origin.get(), static_cast<gsize>(-1), G_KEY_FILE_NONE, nullptr);
  draft.base = draft.commit;
  if (IsLayered(draft.origin.get())) {
    Failure failure;
    host::Variant commit;
    if (!::ostree_repo_load_commit(repository(), draft.commit.c_str(), Out(commit), nullptr, Out(failure))) {
      return ToError(failure);
    }
    draft.base = host::Text(::ostree_commit_get_parent(commit.get())).get();
  }
  return draft;
}

Result<> LockedDisk::Rebase(Draft& draft, const Modifiers& modifiers, const std::stop_token& stop) const {
  const std::string& refspec = modifiers.refspec;
  if (refspec == RefspecOf(draft.origin.get())) {
    return Error(ErrorKind::kInvalid, "Old and new refs are equal: " + refspec);
  }
  host::RegistryAccess registries = registries_;
  // Without a policy, skopeo fetches nothing, so only an image that is in the repository is found.
  if (modifiers.is_cache_only) registries.policy = "/nonexistent/policy.json";
  host::DeploymentsOstree images("/", registries);
  const std::string name = host::ImageOfReference(refspec);
  draft.base = TRY(images.Fetch(name, stop)).commit;
  SetRefspec(draft.origin.get(), refspec);
  return {};
}

Result<> LockedDisk::Update(const Modifiers& modifiers, const std::stop_token& stop) {
  Draft draft = TRY(Begin());
  GKeyFile* origin = draft.origin.get();
  TRY(Change(origin, "packages", "requested", modifiers.uninstall, modifiers.install, modifiers.is_idempotent,
             "Package/capability not requested:"));
  TRY(Change(origin, "overrides", "remove", modifiers.override_reset, modifiers.override_remove, false,
             "No overrides for package"));
  if (!modifiers.refspec.empty()) TRY(Rebase(draft, modifiers, stop));
  if (modifiers.is_download_only) return {};
  SetRefspec(origin, RefspecOf(origin));
  draft.commit = IsLayered(origin) ? TRY(Layered(draft)) : draft.base;
  return Stage(draft);
}

Result<> LockedDisk::SetKernelArguments(const std::string& all) {
  Draft draft = TRY(Begin());
  draft.arguments = host::SplitKernelArguments(all);
  return Stage(draft);
}

Result<std::string> LockedDisk::Layered(const Draft& draft) const {
  const std::filesystem::path tree = "/run/rpm-ostreed-tree";
  std::filesystem::remove_all(tree);
  const auto mark = [&](const char* place, const Words& names) {
    std::filesystem::create_directories(tree / "usr/share" / place);
    for (const std::string& name : names) std::ofstream(tree / "usr/share" / place / name) << name;
  };
  mark("packages", ListOf(draft.origin.get(), "packages", "requested"));
  mark("removed-packages", ListOf(draft.origin.get(), "overrides", "remove"));
  host::Program program;
  program.words = {"ostree",
                   "commit",
                   "--repo=/sysroot/ostree/repo",
                   "--orphan",
                   "--parent=" + draft.base,
                   "--tree=ref=" + draft.base,
                   "--tree=dir=" + tree.string(),
                   "--owner-uid=0",
                   "--owner-gid=0",
                   "--subject=layered",
                   "--add-metadata=rpmostree.clientlayer=true"};
  program.environment = host::PlainEnvironment();
  std::string commit = TRY(host::RunProgram(program, {}));
  while (commit.ends_with('\n')) commit.pop_back();
  return commit;
}

Result<> LockedDisk::Stage(const Draft& draft) const {
  std::vector<char*> arguments;
  for (const std::string& word : draft.arguments) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  OstreeSysrootDeployTreeOpts options{};
  options.override_kernel_argv = arguments.data();
  Failure failure;
  if (!::ostree_sysroot_stage_tree_with_options(sysroot_.get(), booted_os().c_str(), draft.commit.c_str(),
                                                draft.origin.get(), booted(), &options, nullptr, nullptr,
                                                Out(failure))) {
    return ToError(failure);
  }
  return {};
}

Result<> LockedDisk::DropPending() {
  const host::Objects all(::ostree_sysroot_get_deployments(sysroot_.get()));
  const host::Objects kept(::g_ptr_array_new_with_free_func(::g_object_unref));
  bool is_kept = false;
  for (guint i = 0; i < all->len; ++i) {
    is_kept = is_kept || all->pdata[i] == booted();
    if (is_kept) ::g_ptr_array_add(kept.get(), g_object_ref(all->pdata[i]));
  }
  if (kept->len == all->len) return {};
  Failure failure;
  if (!::ostree_sysroot_write_deployments(sysroot_.get(), kept.get(), nullptr, Out(failure))) return ToError(failure);
  return {};
}

}  // namespace pintle::test
