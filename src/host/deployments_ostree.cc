// SPDX-License-Identifier: Apache-2.0
#include "host/deployments_ostree.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <locale.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "host/image_name.h"
#include "host/import_ostree.h"
#include "host/kernel_arguments.h"
#include "host/lock_holder.h"
#include "host/types_ostree.h"

namespace pintle::host {
namespace {

using std::chrono::milliseconds;

constexpr auto kLockGlance = milliseconds(100);
constexpr const char* kStaged = "/run/ostree/staged-deployment";
constexpr const char* kStagedLocked = "/run/ostree/staged-deployment-locked";
constexpr const char* kOrigin = "origin";
constexpr const char* kContainerKey = "container-image-reference";
constexpr const char* kBranchKey = "refspec";

bool Exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// File names in archives are UTF-8, whatever the language of the rest of the program.
class Utf8 {
 public:
  Utf8() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (locale_ != locale_t{}) before_ = ::uselocale(locale_);
  }
  ~Utf8() {
    if (locale_ == locale_t{}) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;

 private:
  locale_t locale_;
  locale_t before_{};
};

// A thread can have mounts of its own, in which nobody else sees what libostree makes writable.
template <typename Work>
std::invoke_result_t<Work> OnThreadWithOwnMounts(Work work) {
  std::optional<std::invoke_result_t<Work>> result;
  std::thread([&] {
    const Utf8 utf8;
    if (::unshare(CLONE_NEWNS) == 0) {
      result.emplace(work());
    } else {
      result.emplace(Error::FromErrno("unshare").While("making mounts of our own"));
    }
  }).join();
  return *std::move(result);
}

// The OS's on a disk, and what the next boot takes.
class Sysroot {
 public:
  static Result<Sysroot> Open(const std::string& path) {
    Sysroot sysroot = TRY(At(path));
    TRY(sysroot.Load());
    return sysroot;
  }

  // To be called with mounts of our own.
  static Result<Sysroot> OpenToWrite(const std::string& path) {
    Sysroot sysroot = TRY(At(path));
    ::ostree_sysroot_set_mount_namespace_in_use(sysroot.get());
    // Trying to get the lock makes it writable.
    if (TRY(sysroot.TryLock())) ::ostree_sysroot_unlock(sysroot.get());
    TRY(sysroot.Load());
    return sysroot;
  }

  static Result<Sysroot> OpenLocked(const std::string& path, milliseconds patience) {
    Sysroot sysroot = TRY(At(path));
    ::ostree_sysroot_set_mount_namespace_in_use(sysroot.get());
    TRY(sysroot.Lock(patience));
    TRY(sysroot.Load());
    return sysroot;
  }

  OstreeSysroot* get() const { return sysroot_.get(); }
  OstreeRepo* repository() const { return ::ostree_sysroot_repo(sysroot_.get()); }
  // libostree itself knows it as a number of ours only, which tells other programs nothing.
  std::string repository_path() const { return path_ + "/ostree/repo"; }
  OstreeDeployment* booted() const { return ::ostree_sysroot_get_booted_deployment(sysroot_.get()); }
  OstreeDeployment* staged() const { return ::ostree_sysroot_get_staged_deployment(sysroot_.get()); }
  bool is_booted() const { return booted() != nullptr; }

  // The first is the one to boot.
  std::vector<OstreeDeployment*> All() const {
    const Objects list(::ostree_sysroot_get_deployments(sysroot_.get()));
    std::vector<OstreeDeployment*> all;
    for (guint i = 0; i < list->len; ++i) all.push_back(static_cast<OstreeDeployment*>(list->pdata[i]));
    return all;
  }

  OstreeDeployment* pending() const {
    const auto all = All();
    return all.empty() || all[0] == booted() ? nullptr : all[0];
  }

  OstreeDeployment* rollback() const {
    const auto all = All();
    const auto current = is_booted() ? std::find(all.begin(), all.end(), booted()) : all.begin();
    return current == all.end() || current + 1 == all.end() ? nullptr : *(current + 1);
  }

  // What kernel arguments and /etc of the next one come from.
  OstreeDeployment* merge() const {
    if (is_booted()) return booted();
    const auto all = All();
    return all.empty() ? nullptr : all[0];
  }

  // Writes the boot loader's entries of these in this order; what a staged one leaves is removed.
  Result<> Write(const std::vector<OstreeDeployment*>& deployments) const {
    const Objects list(::g_ptr_array_new_with_free_func(::g_object_unref));
    for (OstreeDeployment* deployment : deployments) ::g_ptr_array_add(list.get(), g_object_ref(deployment));
    OstreeSysrootWriteDeploymentsOpts options{};
    options.do_postclean = FALSE;
    Failure failure;
    if (!::ostree_sysroot_write_deployments_with_options(get(), list.get(), &options, nullptr, Out(failure))) {
      return Told(failure).While("writing the boot loader's entries");
    }
    return PrepareCleanup();
  }

  // Removes directories and boot files of deployments that are none any more.
  Result<> PrepareCleanup() const {
    Failure failure;
    if (!::ostree_sysroot_prepare_cleanup(get(), nullptr, Out(failure))) return Told(failure);
    return {};
  }

 private:
  static Result<Sysroot> At(const std::string& path) {
    const bool is_here = path == "/" ? Exists("/run/ostree-booted") : Exists(path + "/ostree/repo");
    if (!is_here) {
      return Error(ErrorKind::kNotFound, path == "/"
                                             ? "this is no OSTree host: it was not booted from a deployment"
                                             : fmt::format("{} is no OSTree host: it has no ostree/repo", path));
    }
    const Object<GFile> directory(::g_file_new_for_path(path.c_str()));
    return Sysroot(path, Object<OstreeSysroot>(::ostree_sysroot_new(directory.get())));
  }

  Sysroot(std::string path, Object<OstreeSysroot> sysroot) : path_(std::move(path)), sysroot_(std::move(sysroot)) {}

  Result<> Load() const {
    Failure failure;
    if (!::ostree_sysroot_load(get(), nullptr, Out(failure))) {
      return Told(failure).While("reading the deployments");
    }
    return {};
  }

  Result<bool> TryLock() const {
    Failure failure;
    gboolean is_ours = FALSE;
    if (!::ostree_sysroot_try_lock(get(), &is_ours, Out(failure)))
      return Told(failure).While("locking the deployments");
    return is_ours != FALSE;
  }

  Result<> Lock(milliseconds patience) const {
    const MonotonicTime deadline = SystemClock().Monotonic() + patience;
    while (!TRY(TryLock())) {
      if (SystemClock().Monotonic() > deadline) {
        const auto holder = LockHolder(path_ + "/ostree/lock");
        return Error(ErrorKind::kUnavailable,
                     fmt::format("the deployments are being changed by {}", holder.value_or("someone else")));
      }
      std::this_thread::sleep_for(kLockGlance);
    }
    return {};
  }

  std::string path_;
  Object<OstreeSysroot> sysroot_;
};

std::string CommitOf(OstreeDeployment* deployment) { return ::ostree_deployment_get_csum(deployment); }

std::vector<std::string> ArgumentsOf(OstreeDeployment* deployment) {
  OstreeBootconfigParser* entry = ::ostree_deployment_get_bootconfig(deployment);
  const char* options = entry == nullptr ? nullptr : ::ostree_bootconfig_parser_get(entry, "options");
  std::vector<std::string> arguments = SplitKernelArguments(options == nullptr ? "" : options);
  // It says where the deployment is, and libostree adds it.
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

Result<DeployedImage> Describe(const Sysroot& sysroot, OstreeDeployment* deployment) {
  DeployedImage image;
  image.commit = CommitOf(deployment);
  const auto doing = [&] { return "reading the commit " + image.commit; };
  image.version = TRY(CommitMetadata(sysroot.repository(), image.commit, OSTREE_COMMIT_META_KEY_VERSION), doing());
  image.branch = FromOrigin(deployment, kBranchKey);
  image.image = ImageOfReference(FromOrigin(deployment, kContainerKey));
  if (!image.image.empty()) {
    image.digest = TRY(CommitMetadata(sysroot.repository(), image.commit, kManifestDigestKey), doing());
  }
  image.kernel_arguments = ArgumentsOf(deployment);
  image.is_staged = ::ostree_deployment_is_staged(deployment) != FALSE;
  return image;
}

Result<std::optional<DeployedImage>> DescribeIfAny(const Sysroot& sysroot, OstreeDeployment* deployment) {
  if (deployment == nullptr) return std::optional<DeployedImage>();
  return std::optional<DeployedImage>(TRY(Describe(sysroot, deployment)));
}

// ---- fetching ------------------------------------------------------------------------------------------------------

// A directory for what is on its way, on the disk that it is to end up on.  It is emptied in the end, and if we do not
// live to see that, in the beginning of the next time.
class Workshop {
 public:
  static Result<Workshop> In(const std::string& repository) {
    const std::string path = repository + "/tmp/pintle-fetch";
    UniqueFd lock(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) return Error::FromErrno("open").While("locking " + path);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      const auto holder = LockHolder(path + ".lock");
      return Error(ErrorKind::kUnavailable,
                   fmt::format("an image is being fetched by {}", holder.value_or("someone else")));
    }
    Workshop workshop(path, std::move(lock));
    TRY(workshop.Empty());
    std::error_code failed;
    std::filesystem::create_directories(workshop.blobs(), failed);
    if (failed) return Error::FromErrno("mkdir", failed.value()).While("making " + path);
    return workshop;
  }
  Workshop(Workshop&&) noexcept = default;
  Workshop& operator=(Workshop&&) = delete;
  ~Workshop() {
    // What cannot be removed now is removed the next time.
    if (lock_) static_cast<void>(Empty());
  }

  const std::string& path() const { return path_; }
  std::string blobs() const { return path_ + "/blobs/sha256"; }

  // Something of this size under this digest, so that it is not fetched.
  Result<> Pretend(const OciDescriptor& layer) const {
    const std::string path = fmt::format("{}/{}", blobs(), layer.digest.substr(layer.digest.find(':') + 1));
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(layer.size)) != 0) {
      return Error::FromErrno("ftruncate").While("making " + path);
    }
    return {};
  }

 private:
  Workshop(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  Result<> Empty() const {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
    if (failed) return Error::FromErrno("unlink", failed.value()).While("emptying " + path_);
    return {};
  }

  std::string path_;
  UniqueFd lock_;
};

Result<std::string> MachineName() {
  struct utsname name {};
  if (::uname(&name) != 0) return Error::FromErrno("uname");
  return std::string(static_cast<const char*>(name.machine));
}

class Fetching {
 public:
  Fetching(const Sysroot& sysroot, const RegistryAccess& access, const std::stop_token& stop)
      : repository_(sysroot.repository()),
        place_(sysroot.repository_path()),
        store_(repository_),
        access_(access),
        stop_(stop) {}

  Result<FetchedImage> operator()(const OstreeCommit& name) const {
    Failure failure;
    OstreeRepoCommitState state{};
    if (!::ostree_repo_load_commit(repository_, name.checksum.c_str(), nullptr, &state, Out(failure)) ||
        (state & OSTREE_REPO_COMMIT_STATE_PARTIAL) != 0) {
      return Error(ErrorKind::kNotFound, fmt::format("the commit {} is not in the repository", name.checksum));
    }
    return FetchedImage{name.checksum, name.checksum};
  }

  Result<FetchedImage> operator()(const OstreeBranch& name) const {
    const std::string text = name.remote.empty() ? name.branch : name.remote + ":" + name.branch;
    if (!name.remote.empty()) TRY(Pull(name), "pulling " + text);
    const auto commit = TRY(ResolveBranch(repository_, text));
    if (!commit) return Error(ErrorKind::kNotFound, fmt::format("there is no branch {} in the repository", text));
    return FetchedImage{text, *commit};
  }

  Result<FetchedImage> operator()(const RegistryImage& name) const {
    if (!name.digest.empty()) {
      if (const auto commit = TRY(store_.Find(name.digest))) return FetchedImage{PullSpec(name), *commit};
    }
    const Workshop workshop = TRY(Workshop::In(place_));
    const Skopeo skopeo(access_, workshop.path());
    ImageDocuments documents;
    const std::string top = TRY(skopeo.Manifest(name, stop_));
    RegistryImage exact{name.repository, "", "sha256:" + Sha256(top).hex()};
    if (!name.digest.empty()) TRY(ExpectDigest(name.digest, top), "checking the manifest of " + PullSpec(name));
    const FetchedImage named{PullSpec(exact), ""};
    documents.manifest_text = top;
    auto parsed = TRY(ParseOciManifest(top), "reading " + PullSpec(exact));
    if (const auto* index = std::get_if<OciIndex>(&parsed)) {
      exact.digest = TRY(ForMachine(*index, TRY(MachineName())), "choosing from " + PullSpec(exact)).digest;
      documents.manifest_text = TRY(skopeo.Manifest(exact, stop_));
      parsed = TRY(ParseOciManifest(documents.manifest_text), "reading " + PullSpec(exact));
    }
    documents.digest = exact.digest;
    TRY(TakeManifest(parsed, documents), "reading " + PullSpec(exact));
    const std::string commit = TRY(FetchFrom(skopeo, exact, documents, workshop));
    if (named.name != PullSpec(exact)) TRY(store_.Alias("sha256:" + Sha256(top).hex(), commit));
    return FetchedImage{named.name, commit};
  }

  Result<FetchedImage> operator()(const LayoutImage& name) const {
    const std::string text = fmt::format("oci:{}{}{}", name.directory, name.tag.empty() ? "" : ":", name.tag);
    const auto doing = [&] { return "reading " + text; };
    const Root layout = TRY(Root::Open(name.directory), doing());
    const auto top = TRY(ParseOciManifest(TRY(layout.ReadFile("index.json"), doing())), doing());
    const auto* images = std::get_if<OciIndex>(&top);
    if (images == nullptr) return Error(ErrorKind::kInvalid, "index.json is no index").While(doing());
    OciDescriptor image = TRY(WithTag(*images, name.tag), doing());
    ImageDocuments documents;
    documents.manifest_text = TRY(ReadBlob(layout, image.digest), doing());
    auto parsed = TRY(ParseOciManifest(documents.manifest_text), doing());
    if (const auto* index = std::get_if<OciIndex>(&parsed)) {
      image = TRY(ForMachine(*index, TRY(MachineName())), doing());
      documents.manifest_text = TRY(ReadBlob(layout, image.digest), doing());
      parsed = TRY(ParseOciManifest(documents.manifest_text), doing());
    }
    documents.digest = image.digest;
    TRY(TakeManifest(parsed, documents), doing());
    if (const auto commit = TRY(store_.Find(documents.digest))) return FetchedImage{text, *commit};
    documents.config_text = TRY(ReadBlob(layout, documents.manifest.config.digest), doing());
    documents.config = TRY(ParseOciConfig(documents.config_text), doing());
    TRY(ExpectPlainLayers(documents.config), doing());
    return FetchedImage{text, TRY(store_.Import(documents, name.directory + "/blobs/sha256", stop_))};
  }

 private:
  Result<> Pull(const OstreeBranch& name) const {
    const char* branches[] = {name.branch.c_str()};
    GVariantDict options;
    ::g_variant_dict_init(&options, nullptr);
    ::g_variant_dict_insert_value(&options, "refs", ::g_variant_new_strv(branches, 1));
    const Variant given(::g_variant_ref_sink(::g_variant_dict_end(&options)));
    const Cancellable cancel(stop_);
    Failure failure;
    if (!::ostree_repo_pull_with_options(repository_, name.remote.c_str(), given.get(), nullptr, cancel.get(),
                                         Out(failure))) {
      return Told(failure);
    }
    return {};
  }

  static Result<> TakeManifest(std::variant<OciManifest, OciIndex>& parsed, ImageDocuments& documents) {
    TRY(ExpectDigest(documents.digest, documents.manifest_text));
    auto* manifest = std::get_if<OciManifest>(&parsed);
    if (manifest == nullptr) return Error(ErrorKind::kInvalid, "it is an index of indexes");
    documents.manifest = std::move(*manifest);
    return {};
  }

  static Result<std::string> ReadBlob(const Root& layout, const std::string& digest) {
    std::string bytes = TRY(layout.ReadFile("blobs/sha256/" + digest.substr(digest.find(':') + 1)));
    TRY(ExpectDigest(digest, bytes));
    return bytes;
  }

  Result<std::string> FetchFrom(const Skopeo& skopeo, const RegistryImage& exact, ImageDocuments& documents,
                                const Workshop& workshop) const {
    if (const auto commit = TRY(store_.Find(documents.digest))) return *commit;
    const std::vector<OciDescriptor> missing = TRY(store_.MissingLayers(documents.manifest));
    TRY(ExpectSpace(SpaceFor(missing), TRY(store_.Space())), "fetching " + PullSpec(exact));
    documents.config_text = TRY(skopeo.Config(exact, stop_));
    TRY(ExpectDigest(documents.manifest.config.digest, documents.config_text),
        "checking the configuration of " + PullSpec(exact));
    documents.config = TRY(ParseOciConfig(documents.config_text), "reading " + PullSpec(exact));
    TRY(ExpectPlainLayers(documents.config), "reading " + PullSpec(exact));
    for (const OciDescriptor& layer : documents.manifest.layers) {
      const bool is_missing = std::any_of(missing.begin(), missing.end(),
                                          [&](const OciDescriptor& other) { return other.digest == layer.digest; });
      if (!is_missing) TRY(workshop.Pretend(layer));
    }
    TRY(skopeo.Copy(exact, documents.manifest, workshop.path(), stop_));
    return store_.Import(documents, workshop.blobs(), stop_);
  }

  OstreeRepo* repository_;
  std::string place_;
  ImageStore store_;
  const RegistryAccess& access_;
  const std::stop_token& stop_;
};

// ---- deploying -----------------------------------------------------------------------------------------------------

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

// A deployment as it is to be.
struct Target {
  std::string commit;
  KeyFile origin;
  std::vector<std::string> arguments;
  std::vector<std::string> initramfs_overlays = {};  // Their checksums.

  bool Is(OstreeDeployment* deployment) const {
    const auto is_same = [&](const char* key) { return OriginText(origin.get(), key) == FromOrigin(deployment, key); };
    return deployment != nullptr && CommitOf(deployment) == commit && ArgumentsOf(deployment) == arguments &&
           is_same(kBranchKey) && is_same(kContainerKey);
  }
};

class Words {
 public:
  explicit Words(const std::vector<std::string>& words) {
    for (const std::string& word : words) pointers_.push_back(const_cast<char*>(word.c_str()));
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

 private:
  std::vector<char*> pointers_;
};

// libostree finds out at shutdown only, when it is too late to tell anyone.
Result<> ExpectKernel(OstreeRepo* repository, const std::string& commit) {
  Failure failure;
  Object<GFile> root;
  if (!::ostree_repo_read_commit(repository, commit.c_str(), Out(root), nullptr, nullptr, Out(failure))) {
    return Told(failure);
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

Result<Target> TargetFor(const Sysroot& sysroot, const WantedDeployment& wanted, OstreeDeployment* merge) {
  Target target;
  target.arguments = MergedKernelArguments(ArgumentsOf(merge), wanted.remove_arguments, wanted.add_arguments);
  if (wanted.image) {
    target.commit = wanted.image->commit;
    target.origin = OriginFor(TRY(ParseImageName(wanted.image->name)), sysroot.get());
    TRY(ExpectKernel(sysroot.repository(), target.commit));
  } else {
    target.commit = CommitOf(merge);
    GKeyFile* origin = ::ostree_deployment_get_origin(merge);
    target.origin.reset(origin == nullptr ? ::g_key_file_new() : ::g_key_file_ref(origin));
  }
  return target;
}

Result<Object<OstreeDeployment>> Deploy(const Sysroot& sysroot, const Target& target, OstreeDeployment* merge) {
  Words arguments(target.arguments), overlays(target.initramfs_overlays);
  OstreeSysrootDeployTreeOpts options{};
  options.override_kernel_argv = arguments.get();
  if (!target.initramfs_overlays.empty()) options.overlay_initrds = overlays.get();
  Failure failure;
  Object<OstreeDeployment> deployment;
  if (!::ostree_sysroot_deploy_tree_with_options(sysroot.get(), ::ostree_deployment_get_osname(merge),
                                                 target.commit.c_str(), target.origin.get(), merge, &options,
                                                 Out(deployment), nullptr, Out(failure))) {
    return Told(failure);
  }
  return deployment;
}

// What is to be booted next, and what to fall back to.
Result<> WriteFirst(const Sysroot& sysroot, OstreeDeployment* deployment, OstreeDeployment* merge) {
  Failure failure;
  if (!::ostree_sysroot_simple_write_deployment(sysroot.get(), ::ostree_deployment_get_osname(merge), deployment, merge,
                                                OSTREE_SYSROOT_SIMPLE_WRITE_DEPLOYMENT_FLAGS_NO_CLEAN, nullptr,
                                                Out(failure))) {
    return Told(failure);
  }
  return sysroot.PrepareCleanup();
}

Result<> Stage(const Sysroot& sysroot, const Target& target, OstreeDeployment* merge) {
  Words arguments(target.arguments);
  Failure failure;
  if (!::ostree_sysroot_stage_tree(sysroot.get(), ::ostree_deployment_get_osname(merge), target.commit.c_str(),
                                   target.origin.get(), merge, arguments.get(), nullptr, nullptr, Out(failure))) {
    return Told(failure);
  }
  return {};
}

Result<Putting> DropPendingOf(const Sysroot& sysroot) {
  if (!sysroot.is_booted() || sysroot.pending() == nullptr) return Putting::kAsWanted;
  const auto all = sysroot.All();
  TRY(sysroot.Write({std::find(all.begin(), all.end(), sysroot.booted()), all.end()}),
      "dropping the pending deployment");
  return Putting::kChanged;
}

Result<Putting> PutOn(const Sysroot& sysroot, const WantedDeployment& wanted) {
  if (sysroot.merge() == nullptr) return Error(ErrorKind::kNotFound, "there is no deployment to take /etc from");
  const Object<OstreeDeployment> kept(g_object_ref(sysroot.merge()));
  OstreeDeployment* merge = kept.get();
  const Target target = TRY(TargetFor(sysroot, wanted, merge));
  if (sysroot.pending() != nullptr && target.Is(sysroot.pending())) return Putting::kAsWanted;
  if (sysroot.is_booted() && target.Is(sysroot.booted())) return DropPendingOf(sysroot);
  if (sysroot.is_booted()) {
    TRY(Stage(sysroot, target, merge), fmt::format("staging {}", target.commit));
  } else {
    const auto doing = [&] { return fmt::format("deploying {}", target.commit); };
    const Object<OstreeDeployment> deployment = TRY(Deploy(sysroot, target, merge), doing());
    TRY(WriteFirst(sysroot, deployment.get(), merge), doing());
  }
  return Putting::kChanged;
}

Result<> ChangeTree(const Sysroot& sysroot, OstreeDeployment* deployment,
                    const std::function<Result<>(const Root& next)>& put) {
  const Object<GFile> directory(::ostree_sysroot_get_deployment_directory(sysroot.get(), deployment));
  const Text path(::g_file_get_path(directory.get()));
  const Root next = TRY(Root::Open(path.get()));
  return put(next);
}

// What rpm-ostree has made of /etc for the initramfs, which libostree tells nobody.
Result<std::vector<std::string>> StagedInitramfsOverlays() {
  Failure failure;
  char* contents = nullptr;
  gsize size = 0;
  if (!::g_file_get_contents(kStaged, &contents, &size, Out(failure))) return Told(failure);
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

Result<> FinalizeOn(const Sysroot& sysroot, const std::function<Result<>(const Root& next)>& put) {
  const Object<OstreeDeployment> merge(g_object_ref(sysroot.merge()));
  OstreeDeployment* staged = sysroot.staged();
  Target target{CommitOf(staged), nullptr, ArgumentsOf(staged), TRY(StagedInitramfsOverlays())};
  GKeyFile* origin = ::ostree_deployment_get_origin(staged);
  target.origin.reset(origin == nullptr ? ::g_key_file_new() : ::g_key_file_ref(origin));
  const Object<OstreeDeployment> deployment = TRY(Deploy(sysroot, target, merge.get()));
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

Result<FetchedImage> DeploymentsOstree::Fetch(const std::string& image, const std::stop_token& stop) {
  const ImageName name = TRY(ParseImageName(image));
  return OnThreadWithOwnMounts([&]() -> Result<FetchedImage> {
    const Sysroot sysroot = TRY(Sysroot::OpenToWrite(sysroot_));
    return std::visit(Fetching(sysroot, registries_, stop), name);
  });
}

Result<Putting> DeploymentsOstree::Put(const WantedDeployment& wanted) {
  return OnThreadWithOwnMounts(
      [&]() -> Result<Putting> { return PutOn(TRY(Sysroot::OpenLocked(sysroot_, patience_)), wanted); });
}

Result<Putting> DeploymentsOstree::DropPending() {
  return OnThreadWithOwnMounts(
      [&]() -> Result<Putting> { return DropPendingOf(TRY(Sysroot::OpenLocked(sysroot_, patience_))); });
}

Result<Putting> DeploymentsOstree::RollBack() {
  return OnThreadWithOwnMounts([&]() -> Result<Putting> {
    const Sysroot sysroot = TRY(Sysroot::OpenLocked(sysroot_, patience_));
    OstreeDeployment* before = sysroot.rollback();
    if (before == nullptr) return Error(ErrorKind::kNotFound, "there is no deployment to roll back to");
    std::vector<OstreeDeployment*> order = {before};
    for (OstreeDeployment* deployment : sysroot.All()) {
      if (deployment != before && !::ostree_deployment_is_staged(deployment)) order.push_back(deployment);
    }
    TRY(sysroot.Write(order), "rolling back to " + CommitOf(before));
    return Putting::kChanged;
  });
}

Result<Putting> DeploymentsOstree::FinalizeStaged(const std::function<Result<>(const Root& next)>& put) {
  return OnThreadWithOwnMounts([&]() -> Result<Putting> {
    const Sysroot sysroot = TRY(Sysroot::OpenLocked(sysroot_, patience_));
    // Whoever has locked it wants it to stay as it is for now, and OSTree, too, leaves it so.
    if (sysroot.staged() == nullptr || Exists(kStagedLocked)) return Putting::kAsWanted;
    const Result<> finalized = FinalizeOn(sysroot, put);
    if (finalized) return Putting::kChanged;
    // Left staged, it would be finalized after us without what was to be put into it.
    const Error failed = Error(finalized.error()).While("finalizing the staged deployment");
    const auto dropped = DropPendingOf(sysroot);
    if (dropped) return failed;
    return Error(failed.kind(), fmt::format("{}; and then {}", failed.message(), dropped.error().message()));
  });
}

Result<> DeploymentsOstree::Prune() {
  return OnThreadWithOwnMounts([&]() -> Result<> {
    const Sysroot sysroot = TRY(Sysroot::OpenLocked(sysroot_, patience_));
    std::set<std::string> kept;
    for (OstreeDeployment* deployment : sysroot.All()) kept.insert(CommitOf(deployment));
    TRY(ImageStore(sysroot.repository()).KeepOnly(kept), "forgetting images that no deployment has");
    Failure failure;
    if (!::ostree_sysroot_cleanup(sysroot.get(), nullptr, Out(failure))) {
      return Told(failure).While("removing what no deployment needs");
    }
    return {};
  });
}

}  // namespace pintle::host
