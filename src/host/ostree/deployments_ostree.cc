// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/deployments_ostree.h"

#include <fmt/core.h>
#include <locale.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/thread.h"
#include "host/ostree/fetch_ostree.h"
#include "host/ostree/image_name.h"
#include "host/ostree/import_ostree.h"
#include "host/ostree/kernel_arguments.h"
#include "host/ostree/lock_holder.h"
#include "host/ostree/sysroot_ostree.h"
#include "host/ostree/types_ostree.h"

namespace pintle::host {
namespace {

using std::chrono::milliseconds;

// Sets the thread's locale to UTF-8, since libarchive converts the file names in archives to the locale.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (locale_ != locale_t{}) before_ = ::uselocale(locale_);
  }
  ~Utf8Locale() {
    if (locale_ == locale_t{}) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_;
  locale_t before_{};
};

// Runs `work` on a thread with its own mount namespace, so that /sysroot and /boot are writable for us alone.
template <typename Work>
std::invoke_result_t<Work> OnThreadWithOwnMounts(Work work) {
  std::optional<std::invoke_result_t<Work>> result;
  const auto work_apart = [&] {
    const Utf8Locale utf8;
    if (::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0) {
      result.emplace(work());
    } else {
      result.emplace(Error::FromErrno("making a mount namespace"));
    }
  };
  std::thread apart = TRY(StartThread(work_apart), "working on the OS image");
  apart.join();
  return *std::move(result);
}

KeyFile ContainerOrigin(const std::string& reference) {
  KeyFile origin(::g_key_file_new());
  ::g_key_file_set_string(origin.get(), kOrigin, kContainerKey, reference.c_str());
  return origin;
}

KeyFile BranchOrigin(OstreeSysroot* sysroot, const std::string& branch) {
  return KeyFile(::ostree_sysroot_origin_new_from_refspec(sysroot, branch.c_str()));
}

KeyFile OriginFor(const ImageName& name, OstreeSysroot* sysroot) {
  if (const auto* image = std::get_if<RegistryImage>(&name)) return ContainerOrigin(ContainerReference(*image));
  if (const auto* image = std::get_if<LayoutImage>(&name)) return ContainerOrigin(ContainerReference(*image));
  if (const auto* commit = std::get_if<OstreeCommit>(&name)) return BranchOrigin(sysroot, commit->checksum);
  const auto& branch = std::get<OstreeBranch>(name);
  return BranchOrigin(sysroot, branch.remote.empty() ? branch.branch : branch.remote + ":" + branch.branch);
}

// The wanted contents of the next deployment.
struct DeploymentSpec {
  std::string commit;
  KeyFile origin;
  std::vector<std::string> arguments;
  std::vector<std::string> initramfs_overlays = {};  // The checksums of initramfs archives.

  // Returns whether the deployment has this commit, these arguments and this origin.
  bool Matches(OstreeDeployment* deployment) const {
    const auto is_same = [&](const char* key) { return OriginText(origin.get(), key) == FromOrigin(deployment, key); };
    return deployment != nullptr && CommitOf(deployment) == commit && ArgumentsOf(deployment) == arguments &&
           is_same(kBranchKey) && is_same(kContainerKey);
  }
};

class ArgumentPointers {
 public:
  explicit ArgumentPointers(const std::vector<std::string>& words) {
    for (const std::string& word : words) pointers_.push_back(const_cast<char*>(word.c_str()));
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

 private:
  std::vector<char*> pointers_;
};

// Returns an error if the image has no kernel.  libostree notices this only at shutdown, when it is too late to report
// it.
Result<> ExpectKernel(OstreeRepo* repository, const std::string& commit) {
  Failure failure;
  Object<GFile> root;
  if (!::ostree_repo_read_commit(repository, commit.c_str(), Out(root), nullptr, nullptr, Out(failure))) {
    return ToError(failure);
  }
  const Object<GFile> modules(::g_file_resolve_relative_path(root.get(), "usr/lib/modules"));
  const Object<GFileEnumerator> versions(::g_file_enumerate_children(
      modules.get(), G_FILE_ATTRIBUTE_STANDARD_NAME, G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, nullptr, nullptr));
  while (versions != nullptr) {
    const Object<GFileInfo> version(::g_file_enumerator_next_file(versions.get(), nullptr, nullptr));
    if (version == nullptr) break;
    const Object<GFile> directory(::g_file_get_child(modules.get(), ::g_file_info_get_name(version.get())));
    const Object<GFile> kernel(::g_file_get_child(directory.get(), "vmlinuz"));
    if (::g_file_query_exists(kernel.get(), nullptr)) return {};
  }
  return Error(ErrorKind::kInvalid, "the image cannot be booted: it has no kernel in /usr/lib/modules");
}

// Returns the checksums of the archives that rpm-ostree has made of files in /etc for the initramfs.  The checksums are
// also the names of these archives in /boot.
std::vector<std::string> InitramfsOverlaysOf(OstreeDeployment* deployment) {
  OstreeBootconfigParser* entry = ::ostree_deployment_get_bootconfig(deployment);
  char** paths = entry == nullptr ? nullptr : ::ostree_bootconfig_parser_get_overlay_initrds(entry);
  std::vector<std::string> checksums;
  for (; paths != nullptr && *paths != nullptr; ++paths) {
    checksums.push_back(std::filesystem::path(*paths).stem().string());
  }
  return checksums;
}

// `merge` is the deployment whose kernel arguments and /etc the next deployment begins with (libostree's term).
Result<DeploymentSpec> SpecFor(const Sysroot& sysroot, const WantedDeployment& wanted, OstreeDeployment* merge) {
  DeploymentSpec spec;
  spec.arguments = MergedKernelArguments(ArgumentsOf(merge), wanted.remove_arguments, wanted.add_arguments);
  if (wanted.image) {
    spec.commit = wanted.image->commit;
    spec.origin = OriginFor(TRY(ParseImageName(wanted.image->name)), sysroot.get());
    TRY(ExpectKernel(sysroot.repository(), spec.commit));
  } else {
    spec.commit = CommitOf(merge);
    GKeyFile* origin = ::ostree_deployment_get_origin(merge);
    spec.origin.reset(origin == nullptr ? ::g_key_file_new() : ::g_key_file_ref(origin));
    spec.initramfs_overlays = InitramfsOverlaysOf(merge);
  }
  return spec;
}

Result<Object<OstreeDeployment>> Deploy(const Sysroot& sysroot, const DeploymentSpec& spec, OstreeDeployment* merge) {
  ArgumentPointers arguments(spec.arguments), overlays(spec.initramfs_overlays);
  OstreeSysrootDeployTreeOpts options{};
  options.override_kernel_argv = arguments.get();
  if (!spec.initramfs_overlays.empty()) options.overlay_initrds = overlays.get();
  Failure failure;
  Object<OstreeDeployment> deployment;
  if (!::ostree_sysroot_deploy_tree_with_options(sysroot.get(), ::ostree_deployment_get_osname(merge),
                                                 spec.commit.c_str(), spec.origin.get(), merge, &options,
                                                 Out(deployment), nullptr, Out(failure))) {
    return ToError(failure);
  }
  return deployment;
}

// Makes `deployment` the one for the next boot.  libostree keeps `merge` for a rollback.
Result<> WriteFirst(const Sysroot& sysroot, OstreeDeployment* deployment, OstreeDeployment* merge) {
  Failure failure;
  if (!::ostree_sysroot_simple_write_deployment(sysroot.get(), ::ostree_deployment_get_osname(merge), deployment, merge,
                                                OSTREE_SYSROOT_SIMPLE_WRITE_DEPLOYMENT_FLAGS_NO_CLEAN, nullptr,
                                                Out(failure))) {
    return ToError(failure);
  }
  return sysroot.RemoveLeftovers();
}

Result<> Stage(const Sysroot& sysroot, const DeploymentSpec& spec, OstreeDeployment* merge) {
  ArgumentPointers arguments(spec.arguments), overlays(spec.initramfs_overlays);
  OstreeSysrootDeployTreeOpts options{};
  options.override_kernel_argv = arguments.get();
  if (!spec.initramfs_overlays.empty()) options.overlay_initrds = overlays.get();
  Failure failure;
  if (!::ostree_sysroot_stage_tree_with_options(sysroot.get(), ::ostree_deployment_get_osname(merge),
                                                spec.commit.c_str(), spec.origin.get(), merge, &options, nullptr,
                                                nullptr, Out(failure))) {
    return ToError(failure);
  }
  return {};
}

Result<PutEffect> DropPendingOf(const Sysroot& sysroot) {
  if (!sysroot.is_booted() || sysroot.pending() == nullptr) return PutEffect::kAsWanted;
  const auto all = sysroot.All();
  TRY(sysroot.Write({std::find(all.begin(), all.end(), sysroot.booted()), all.end()}),
      "dropping the pending deployment");
  return PutEffect::kChanged;
}

Error NoPackages() {
  return Error(
      ErrorKind::kInvalid,
      "only rpm-ostree can add packages to an image or remove them, and it does not run here: use an image that "
      "has exactly the wanted packages, or an image with rpm-ostree");
}

Result<PutEffect> PutOn(const Sysroot& sysroot, const WantedDeployment& wanted) {
  if (!wanted.packages.IsEmpty()) return NoPackages();
  if (sysroot.merge() == nullptr) return Error(ErrorKind::kNotFound, "there is no deployment to take /etc from");
  const Object<OstreeDeployment> kept(g_object_ref(sysroot.merge()));
  OstreeDeployment* merge = kept.get();
  const DeploymentSpec spec = TRY(SpecFor(sysroot, wanted, merge));
  // If the caller wants a new deployment in order to put files into it, a pending deployment serves only while it is
  // staged: a staged deployment is completed at shutdown, so files can still be put into it.
  const bool is_reusable = !wanted.always_new || sysroot.staged() != nullptr;
  if (is_reusable && sysroot.pending() != nullptr && spec.Matches(sysroot.pending())) return PutEffect::kAsWanted;
  if (sysroot.is_booted()) TRY(CheckMayReplace(TRY(DescribeIfAny(sysroot, sysroot.pending())), wanted));
  if (!wanted.always_new && sysroot.is_booted() && spec.Matches(sysroot.booted())) return DropPendingOf(sysroot);
  if (sysroot.is_booted()) {
    TRY(Stage(sysroot, spec, merge), fmt::format("staging {}", spec.commit));
  } else {
    const auto doing = [&] { return fmt::format("deploying {}", spec.commit); };
    const Object<OstreeDeployment> deployment = TRY(Deploy(sysroot, spec, merge), doing());
    TRY(WriteFirst(sysroot, deployment.get(), merge), doing());
  }
  return PutEffect::kChanged;
}

// A bind mount.  The destructor removes it.
class BindMount {
 public:
  static Result<BindMount> Bind(const std::string& source, const std::string& place) {
    if (::mount(source.c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return BindMount(place);
    return Error::FromErrno("mount").While(fmt::format("binding {} to {}", source, place));
  }
  BindMount(BindMount&& other) noexcept : place_(std::exchange(other.place_, {})) {}
  BindMount& operator=(BindMount&&) = delete;
  ~BindMount() {
    if (!place_.empty()) ::umount2(place_.c_str(), MNT_DETACH);
  }

  Result<> MakeReadOnly() const {
    if (::mount(nullptr, place_.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0) return {};
    return Error::FromErrno("mount").While(fmt::format("making {} read-only", place_));
  }

 private:
  explicit BindMount(std::string place) : place_(std::move(place)) {}

  std::string place_;
};

// Calls `put` with the deployment's tree as it will be after the boot: with the shared /var and a read-only /usr.
Result<> ChangeTree(const Sysroot& sysroot, OstreeDeployment* deployment,
                    const std::function<Result<>(const Root& next)>& put) {
  const Object<GFile> directory(::ostree_sysroot_get_deployment_directory(sysroot.get(), deployment));
  const Text path(::g_file_get_path(directory.get()));
  const std::string tree = path.get();
  const BindMount var = TRY(BindMount::Bind("/var", tree + "/var"));
  const BindMount usr = TRY(BindMount::Bind(tree + "/usr", tree + "/usr"));
  TRY(usr.MakeReadOnly());
  return put(TRY(Root::Open(tree)));
}

// Like InitramfsOverlaysOf(), for the staged deployment.  Reads the deployment's file in /run, since libostree has no
// function that returns these overlays.
Result<std::vector<std::string>> StagedInitramfsOverlays() {
  Failure failure;
  char* contents = nullptr;
  gsize size = 0;
  if (!::g_file_get_contents(kStagedDeployment, &contents, &size, Out(failure))) return ToError(failure);
  const Variant staged(::g_variant_ref_sink(
      ::g_variant_new_from_data(G_VARIANT_TYPE_VARDICT, contents, size, FALSE, ::g_free, contents)));
  std::vector<std::string> overlays;
  const Variant list(::g_variant_lookup_value(staged.get(), "overlay-initrds", G_VARIANT_TYPE_STRING_ARRAY));
  for (std::size_t i = 0; list != nullptr && i < ::g_variant_n_children(list.get()); ++i) {
    const Variant overlay(::g_variant_get_child_value(list.get(), i));
    overlays.emplace_back(::g_variant_get_string(overlay.get(), nullptr));
  }
  return overlays;
}

std::set<std::string> DeployedCommits(const Sysroot& sysroot) {
  std::set<std::string> commits;
  for (OstreeDeployment* deployment : sysroot.All()) commits.insert(CommitOf(deployment));
  return commits;
}

Result<> FinalizeOn(const Sysroot& sysroot, const std::function<Result<>(const Root& next)>& put) {
  const Object<OstreeDeployment> merge(g_object_ref(sysroot.merge()));
  OstreeDeployment* staged = sysroot.staged();
  auto overlays = TRY(StagedInitramfsOverlays());
  DeploymentSpec spec{CommitOf(staged), nullptr, ArgumentsOf(staged), std::move(overlays)};
  GKeyFile* origin = ::ostree_deployment_get_origin(staged);
  spec.origin.reset(origin == nullptr ? ::g_key_file_new() : ::g_key_file_ref(origin));
  const Object<OstreeDeployment> deployment = TRY(Deploy(sysroot, spec, merge.get()));
  TRY(ChangeTree(sysroot, deployment.get(), put), "changing the next deployment");
  return WriteFirst(sysroot, deployment.get(), merge.get());
}

}  // namespace

DeploymentsOstree::DeploymentsOstree(std::string sysroot, RegistryAccess registries, milliseconds patience)
    : sysroot_(std::move(sysroot)), registries_(std::move(registries)), patience_(patience) {}

Result<DeploymentsState> DeploymentsOstree::Observe() {
  const Sysroot sysroot = TRY(Sysroot::Open(sysroot_));
  DeploymentsState state;
  state.booted = TRY(DescribeIfAny(sysroot, sysroot.booted()));
  state.pending = TRY(DescribeIfAny(sysroot, sysroot.pending()));
  state.rollback = TRY(DescribeIfAny(sysroot, sysroot.rollback()));
  return state;
}

Result<std::string> DeploymentsOstree::RunningTransaction() {
  const auto holder = LockHolder(sysroot_ + "/ostree/lock");
  return holder ? fmt::format("{} has the lock on the deployments", *holder) : std::string();
}

Result<FetchedImage> DeploymentsOstree::Fetch(const std::string& image, const std::stop_token& stop) {
  const ImageName name = TRY(ParseImageName(image));
  return OnThreadWithOwnMounts([&]() -> Result<FetchedImage> {
    const Sysroot sysroot = TRY(Sysroot::OpenToWrite(sysroot_));
    return FetchInto(sysroot.repository(), sysroot.repository_path(), name, registries_, stop, report_);
  });
}

Result<std::unique_ptr<OfferedPackages>> DeploymentsOstree::OfferPackages(const std::string&, const std::stop_token&) {
  return NoPackages();
}

Result<PutEffect> DeploymentsOstree::Put(const WantedDeployment& wanted) {
  return OnThreadWithOwnMounts(
      [&]() -> Result<PutEffect> { return PutOn(TRY(Sysroot::OpenLocked(sysroot_, patience_)), wanted); });
}

Result<PutEffect> DeploymentsOstree::DropPending() {
  return OnThreadWithOwnMounts(
      [&]() -> Result<PutEffect> { return DropPendingOf(TRY(Sysroot::OpenLocked(sysroot_, patience_))); });
}

Result<PutEffect> DeploymentsOstree::RollBack() {
  return OnThreadWithOwnMounts([&]() -> Result<PutEffect> {
    const Sysroot sysroot = TRY(Sysroot::OpenLocked(sysroot_, patience_));
    OstreeDeployment* before = sysroot.rollback();
    if (before == nullptr) return Error(ErrorKind::kNotFound, "there is no deployment to roll back to");
    std::vector<OstreeDeployment*> order = {before};
    for (OstreeDeployment* deployment : sysroot.All()) {
      if (deployment != before && !::ostree_deployment_is_staged(deployment)) order.push_back(deployment);
    }
    TRY(sysroot.Write(order), "rolling back to " + CommitOf(before));
    return PutEffect::kChanged;
  });
}

Result<PutEffect> DeploymentsOstree::FinalizeStaged(const std::function<Result<>(const Root& next)>& put) {
  return OnThreadWithOwnMounts([&]() -> Result<PutEffect> {
    const Sysroot sysroot = TRY(Sysroot::OpenLocked(sysroot_, patience_));
    // A locked deployment must not be finalized.  OSTree's own finalizer also skips it.
    if (sysroot.staged() == nullptr || Exists(kStagedDeploymentLock)) return PutEffect::kAsWanted;
    const Result<> finalized = FinalizeOn(sysroot, put);
    if (finalized) return PutEffect::kChanged;
    // If the deployment stayed staged, OSTree's finalizer would complete it without our files.
    const Error failed = Error(finalized.error()).While("finalizing the staged deployment");
    const auto dropped = DropPendingOf(sysroot);
    if (dropped) return failed;
    return Error(failed.kind(), fmt::format("{}; and then {}", failed.message(), dropped.error().message()));
  });
}

Result<bool> DeploymentsOstree::HasUnneededImages() {
  const Sysroot sysroot = TRY(Sysroot::Open(sysroot_));
  return ImageStore(sysroot.repository()).HasOthersThan(DeployedCommits(sysroot));
}

Result<> DeploymentsOstree::Prune() {
  return OnThreadWithOwnMounts([&]() -> Result<> {
    const Sysroot sysroot = TRY(Sysroot::OpenLocked(sysroot_, patience_));
    TRY(ImageStore(sysroot.repository()).KeepOnly(DeployedCommits(sysroot)), "removing images that no deployment has");
    Failure failure;
    if (!::ostree_sysroot_cleanup(sysroot.get(), nullptr, Out(failure))) {
      return ToError(failure).While("removing data that no deployment needs");
    }
    return {};
  });
}

}  // namespace pintle::host
