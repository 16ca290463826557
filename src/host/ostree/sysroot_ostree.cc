// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/sysroot_ostree.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "host/ostree/image_name.h"
#include "host/ostree/import_ostree.h"
#include "host/ostree/kernel_arguments.h"
#include "host/ostree/lock_holder.h"

namespace pintle::host {
namespace {

using std::chrono::milliseconds;

constexpr auto kLockPollInterval = milliseconds(100);
constexpr const char* kBaseBranchKey = "baserefspec";  // Replaces `refspec` if rpm-ostree has layered packages.
constexpr const char* kLayeredKey = "rpmostree.clientlayer";

}  // namespace

bool Exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

std::vector<OstreeDeployment*> Sysroot::All() const {
  const Objects list(::ostree_sysroot_get_deployments(sysroot_.get()));
  std::vector<OstreeDeployment*> all;
  for (guint i = 0; i < list->len; ++i) all.push_back(static_cast<OstreeDeployment*>(list->pdata[i]));
  return all;
}

OstreeDeployment* Sysroot::pending() const {
  const auto all = All();
  return all.empty() || all[0] == booted() ? nullptr : all[0];
}

OstreeDeployment* Sysroot::rollback() const {
  const auto all = All();
  const auto current = is_booted() ? std::find(all.begin(), all.end(), booted()) : all.begin();
  return current == all.end() || current + 1 == all.end() ? nullptr : *(current + 1);
}

OstreeDeployment* Sysroot::merge() const {
  if (is_booted()) return booted();
  const auto all = All();
  return all.empty() ? nullptr : all[0];
}

Result<> Sysroot::Write(const std::vector<OstreeDeployment*>& deployments) const {
  const Objects list(::g_ptr_array_new_with_free_func(::g_object_unref));
  for (OstreeDeployment* deployment : deployments) ::g_ptr_array_add(list.get(), g_object_ref(deployment));
  OstreeSysrootWriteDeploymentsOpts options{};
  options.do_postclean = FALSE;
  Failure failure;
  if (!::ostree_sysroot_write_deployments_with_options(get(), list.get(), &options, nullptr, Out(failure))) {
    return ToError(failure).While("writing the boot loader's entries");
  }
  return RemoveLeftovers();
}

Result<> Sysroot::RemoveLeftovers() const {
  Failure failure;
  if (!::ostree_sysroot_prepare_cleanup(get(), nullptr, Out(failure))) return ToError(failure);
  return {};
}

Result<Sysroot> Sysroot::Open(const std::string& path) {
  Sysroot sysroot = TRY(ForPath(path));
  TRY(sysroot.Load());
  return sysroot;
}

Result<Sysroot> Sysroot::OpenToWrite(const std::string& path) {
  Sysroot sysroot = TRY(ForPath(path));
  ::ostree_sysroot_set_mount_namespace_in_use(sysroot.get());
  // An attempt to take the lock makes libostree remount the sysroot writable.
  if (TRY(sysroot.TryLock())) ::ostree_sysroot_unlock(sysroot.get());
  TRY(sysroot.Load());
  return sysroot;
}

Result<Sysroot> Sysroot::OpenLocked(const std::string& path, milliseconds patience) {
  Sysroot sysroot = TRY(ForPath(path));
  ::ostree_sysroot_set_mount_namespace_in_use(sysroot.get());
  TRY(sysroot.Lock(patience));
  TRY(sysroot.Load());
  return sysroot;
}

Result<Sysroot> Sysroot::ForPath(const std::string& path) {
  const bool is_here = path == "/" ? Exists("/run/ostree-booted") : Exists(path + "/ostree/repo");
  if (!is_here) {
    return Error(ErrorKind::kNotFound, path == "/" ? "this is no OSTree host: it was not booted from a deployment"
                                                   : fmt::format("{} is no OSTree host: it has no ostree/repo", path));
  }
  const Object<GFile> directory(::g_file_new_for_path(path.c_str()));
  return Sysroot(path, Object<OstreeSysroot>(::ostree_sysroot_new(directory.get())));
}

Result<> Sysroot::Load() const {
  Failure failure;
  if (!::ostree_sysroot_load(get(), nullptr, Out(failure))) {
    return ToError(failure).While("reading the deployments");
  }
  return {};
}

Result<bool> Sysroot::TryLock() const {
  Failure failure;
  gboolean is_ours = FALSE;
  if (!::ostree_sysroot_try_lock(get(), &is_ours, Out(failure)))
    return ToError(failure).While("locking the deployments");
  return is_ours != FALSE;
}

Result<> Sysroot::Lock(milliseconds patience) const {
  const MonotonicTime deadline = SystemClock().Monotonic() + patience;
  while (!TRY(TryLock())) {
    if (SystemClock().Monotonic() > deadline) {
      const auto holder = LockHolder(path_ + "/ostree/lock");
      return Error(ErrorKind::kUnavailable,
                   fmt::format("the deployments are being changed by {}", holder.value_or("someone else")));
    }
    std::this_thread::sleep_for(kLockPollInterval);
  }
  return {};
}

std::string CommitOf(OstreeDeployment* deployment) { return ::ostree_deployment_get_csum(deployment); }

std::vector<std::string> ArgumentsOf(OstreeDeployment* deployment) {
  OstreeBootconfigParser* entry = ::ostree_deployment_get_bootconfig(deployment);
  const char* options = entry == nullptr ? nullptr : ::ostree_bootconfig_parser_get(entry, "options");
  std::vector<std::string> arguments = SplitKernelArguments(options == nullptr ? "" : options);
  // This argument names the deployment, and libostree adds it.
  std::erase_if(arguments, [](const std::string& argument) { return argument.starts_with("ostree="); });
  return arguments;
}

std::string OriginText(GKeyFile* origin, const char* key) {
  const Text value(origin == nullptr ? nullptr : ::g_key_file_get_string(origin, kOrigin, key, nullptr));
  return value == nullptr ? "" : value.get();
}

std::string FromOrigin(OstreeDeployment* deployment, const char* key) {
  return OriginText(::ostree_deployment_get_origin(deployment), key);
}

namespace {

std::vector<std::string> ListFromOrigin(OstreeDeployment* deployment, const char* group, const char* key) {
  GKeyFile* origin = ::ostree_deployment_get_origin(deployment);
  const CPtr<char*, ::g_strfreev> list(
      origin == nullptr ? nullptr : ::g_key_file_get_string_list(origin, group, key, nullptr, nullptr));
  std::vector<std::string> words;
  for (char** word = list.get(); word != nullptr && *word != nullptr; ++word) words.emplace_back(*word);
  return words;
}

// Returns the commit on which rpm-ostree has layered packages, or the commit itself.
Result<std::string> BaseOf(const Sysroot& sysroot, const std::string& commit) {
  Failure failure;
  Variant loaded;
  if (!::ostree_repo_load_commit(sysroot.repository(), commit.c_str(), Out(loaded), nullptr, Out(failure))) {
    return ToError(failure);
  }
  const Variant metadata(::g_variant_get_child_value(loaded.get(), 0));
  gboolean is_layered = FALSE;
  ::g_variant_lookup(metadata.get(), kLayeredKey, "b", &is_layered);
  const Text base(is_layered ? ::ostree_commit_get_parent(loaded.get()) : nullptr);
  return base == nullptr ? commit : std::string(base.get());
}

Result<DeployedImage> DescribeDeployment(const Sysroot& sysroot, OstreeDeployment* deployment) {
  DeployedImage image;
  image.commit = CommitOf(deployment);
  image.id = fmt::format("{}-{}.{}", ::ostree_deployment_get_osname(deployment), image.commit,
                         ::ostree_deployment_get_deployserial(deployment));
  const auto doing = [&] { return "reading the commit " + image.commit; };
  image.base_commit = TRY(BaseOf(sysroot, image.commit), doing());
  image.version = TRY(CommitMetadata(sysroot.repository(), image.base_commit, OSTREE_COMMIT_META_KEY_VERSION), doing());
  image.branch = FromOrigin(deployment, kBranchKey);
  if (image.branch.empty()) image.branch = FromOrigin(deployment, kBaseBranchKey);
  image.image = ImageOfReference(FromOrigin(deployment, kContainerKey));
  if (!image.image.empty()) {
    image.digest = TRY(CommitMetadata(sysroot.repository(), image.base_commit, kManifestDigestKey), doing());
  }
  image.kernel_arguments = ArgumentsOf(deployment);
  image.packages = ListFromOrigin(deployment, "packages", "requested");
  image.removed_packages = ListFromOrigin(deployment, "overrides", "remove");
  image.is_staged = ::ostree_deployment_is_staged(deployment) != FALSE;
  return image;
}

}  // namespace

Result<std::optional<DeployedImage>> DescribeIfAny(const Sysroot& sysroot, OstreeDeployment* deployment) {
  if (deployment == nullptr) return std::optional<DeployedImage>();
  return std::optional<DeployedImage>(TRY(DescribeDeployment(sysroot, deployment)));
}

}  // namespace pintle::host
