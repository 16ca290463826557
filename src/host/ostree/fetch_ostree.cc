// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/fetch_ostree.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>
#include <vector>

#include "base/root.h"
#include "base/unique_fd.h"
#include "host/architecture.h"
#include "host/ostree/disk_space.h"
#include "host/ostree/import_ostree.h"
#include "host/ostree/lock_holder.h"

namespace pintle::host {
namespace {

// A directory for downloads, on the same disk as the repository.  It is cleared at the end, and also at the beginning,
// in case an earlier process was killed before the end.
class DownloadDirectory {
 public:
  static Result<DownloadDirectory> Open(const std::string& repository) {
    const std::string path = repository + "/tmp/pintle-fetch";
    UniqueFd lock(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) return Error::FromErrno("open").While("locking " + path);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      const auto holder = LockHolder(path + ".lock");
      return Error(ErrorKind::kUnavailable,
                   fmt::format("an image is being fetched by {}", holder.value_or("someone else")));
    }
    DownloadDirectory downloads(path, std::move(lock));
    TRY(downloads.Clear());
    std::error_code failed;
    std::filesystem::create_directories(downloads.blobs(), failed);
    if (failed) return Error::FromErrno("mkdir", failed.value()).While("making " + path);
    return downloads;
  }
  DownloadDirectory(DownloadDirectory&&) noexcept = default;
  DownloadDirectory& operator=(DownloadDirectory&&) = delete;
  ~DownloadDirectory() {
    // The next fetch removes the files that cannot be removed now.
    if (lock_) static_cast<void>(Clear());
  }

  const std::string& path() const { return path_; }
  std::string blobs() const { return path_ + "/blobs/sha256"; }

  // Makes a sparse file of the layer's name and size, so that skopeo does not fetch the layer.
  Result<> MakePlaceholder(const OciDescriptor& layer) const {
    const std::string path = fmt::format("{}/{}", blobs(), HexOf(layer.digest));
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(layer.size)) != 0) {
      return Error::FromErrno("ftruncate").While("making " + path);
    }
    return {};
  }

 private:
  DownloadDirectory(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  Result<> Clear() const {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
    if (failed) return Error::FromErrno("unlink", failed.value()).While("clearing " + path_);
    return {};
  }

  std::string path_;
  UniqueFd lock_;
};

// Reports the progress of a pull.  libostree calls OnChange() on the thread that pulls.
class PullProgress {
 public:
  explicit PullProgress(const ProgressCallback& report)
      : report_(report), progress_(report ? ::ostree_async_progress_new_and_connect(&OnChange, this) : nullptr) {}
  ~PullProgress() {
    if (progress_ != nullptr) ::ostree_async_progress_finish(progress_.get());
  }
  PullProgress(const PullProgress&) = delete;
  PullProgress& operator=(const PullProgress&) = delete;

  OstreeAsyncProgress* get() const { return progress_.get(); }

 private:
  static void OnChange(OstreeAsyncProgress*, gpointer self) { static_cast<const PullProgress*>(self)->Report(); }

  void Report() const {
    // If there is a static delta, its size is known.  The few objects that are fetched one by one are not counted.
    const std::uint64_t delta = Uint64Value("total-delta-part-size");
    if (delta > 0) return Report("downloading", PercentOf(Uint64Value("fetched-delta-part-size"), delta));
    // The number of objects is known once all directories have been fetched.
    const bool is_counting = Uint32Value("scanning") > 0 || Uint32Value("outstanding-metadata-fetches") > 0;
    const std::uint32_t requested = Uint32Value("requested");
    if (requested == 0) return;
    if (is_counting) return Report("finding out what is missing", std::nullopt);
    Report("downloading", PercentOf(Uint32Value("fetched"), requested));
  }
  void Report(const char* part, std::optional<std::uint32_t> percent) const {
    report_({.doing = {}, .part = part, .percent = percent});
  }

  std::uint32_t Uint32Value(const char* name) const {
    const Variant value(::ostree_async_progress_get_variant(progress_.get(), name));
    const bool is_uint32 = value != nullptr && ::g_variant_is_of_type(value.get(), G_VARIANT_TYPE_UINT32) != FALSE;
    return is_uint32 ? ::g_variant_get_uint32(value.get()) : 0;
  }
  std::uint64_t Uint64Value(const char* name) const {
    const Variant value(::ostree_async_progress_get_variant(progress_.get(), name));
    const bool is_uint64 = value != nullptr && ::g_variant_is_of_type(value.get(), G_VARIANT_TYPE_UINT64) != FALSE;
    return is_uint64 ? ::g_variant_get_uint64(value.get()) : 0;
  }

  const ProgressCallback& report_;
  Object<OstreeAsyncProgress> progress_;
};

class ImageFetcher {
 public:
  ImageFetcher(OstreeRepo* repository, const std::string& repository_path, const RegistryAccess& access,
               const std::stop_token& stop, const ProgressCallback& report)
      : repository_(repository),
        repository_path_(repository_path),
        store_(repository_),
        access_(access),
        stop_(stop),
        report_(report) {}

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
    const DownloadDirectory downloads = TRY(DownloadDirectory::Open(repository_path_));
    const Skopeo skopeo(access_, downloads.path());
    ImageDocuments documents;
    const std::string top = TRY(skopeo.Manifest(name, stop_));
    RegistryImage exact{name.repository, "", "sha256:" + Sha256(top).hex()};
    if (!name.digest.empty()) TRY(ExpectDigest(name.digest, top), "checking the manifest of " + PullSpec(name));
    const std::string name_by_digest = PullSpec(exact);
    documents.manifest_text = top;
    auto parsed = TRY(ParseOciManifest(top), "reading " + PullSpec(exact));
    if (const auto* index = std::get_if<OciIndex>(&parsed)) {
      exact.digest = TRY(ForMachine(*index, TRY(Architecture())), "choosing from " + PullSpec(exact)).digest;
      documents.manifest_text = TRY(skopeo.Manifest(exact, stop_));
      parsed = TRY(ParseOciManifest(documents.manifest_text), "reading " + PullSpec(exact));
    }
    documents.digest = exact.digest;
    TRY(TakeManifest(parsed, documents), "reading " + PullSpec(exact));
    const std::string commit = TRY(FetchFrom(skopeo, exact, documents, downloads));
    if (name_by_digest != PullSpec(exact)) TRY(store_.Alias("sha256:" + Sha256(top).hex(), commit));
    return FetchedImage{name_by_digest, commit};
  }

  Result<FetchedImage> operator()(const LayoutImage& name) const {
    const std::string text = fmt::format("oci:{}{}{}", name.directory, name.tag.empty() ? "" : ":", name.tag);
    const auto doing = [&] { return "reading " + text; };
    const Root layout = TRY(Root::Open(name.directory), doing());
    const auto top = TRY(ParseOciManifest(TRY(layout.ReadFile("index.json"), doing())), doing());
    const auto* images = std::get_if<OciIndex>(&top);
    if (images == nullptr) return Error(ErrorKind::kInvalid, "index.json is not an image index").While(doing());
    OciDescriptor image = TRY(WithTag(*images, name.tag), doing());
    ImageDocuments documents;
    documents.manifest_text = TRY(ReadBlob(layout, image.digest), doing());
    auto parsed = TRY(ParseOciManifest(documents.manifest_text), doing());
    if (const auto* index = std::get_if<OciIndex>(&parsed)) {
      image = TRY(ForMachine(*index, TRY(Architecture())), doing());
      documents.manifest_text = TRY(ReadBlob(layout, image.digest), doing());
      parsed = TRY(ParseOciManifest(documents.manifest_text), doing());
    }
    documents.digest = image.digest;
    TRY(TakeManifest(parsed, documents), doing());
    if (const auto commit = TRY(store_.Find(documents.digest))) return FetchedImage{text, *commit};
    documents.config_text = TRY(ReadBlob(layout, documents.manifest.config.digest), doing());
    documents.config = TRY(ParseOciConfig(documents.config_text), doing());
    auto commit = TRY(store_.Import(documents, name.directory + "/blobs/sha256", stop_, report_));
    return FetchedImage{text, std::move(commit)};
  }

 private:
  Result<> Pull(const OstreeBranch& name) const {
    const char* branches[] = {name.branch.c_str()};
    GVariantDict options;
    ::g_variant_dict_init(&options, nullptr);
    ::g_variant_dict_insert_value(&options, "refs", ::g_variant_new_strv(branches, 1));
    const Variant given(::g_variant_ref_sink(::g_variant_dict_end(&options)));
    const Cancellable cancel(stop_);
    const PullProgress progress(report_);
    Failure failure;
    if (!::ostree_repo_pull_with_options(repository_, name.remote.c_str(), given.get(), progress.get(), cancel.get(),
                                         Out(failure))) {
      return ToError(failure);
    }
    return {};
  }

  static Result<> TakeManifest(std::variant<OciManifest, OciIndex>& parsed, ImageDocuments& documents) {
    TRY(ExpectDigest(documents.digest, documents.manifest_text));
    auto* manifest = std::get_if<OciManifest>(&parsed);
    if (manifest == nullptr) return Error(ErrorKind::kInvalid, "the index of images refers to another index");
    documents.manifest = std::move(*manifest);
    return {};
  }

  static Result<std::string> ReadBlob(const Root& layout, const std::string& digest) {
    std::string bytes = TRY(layout.ReadFile("blobs/sha256/" + HexOf(digest)));
    TRY(ExpectDigest(digest, bytes));
    return bytes;
  }

  Result<std::string> FetchFrom(const Skopeo& skopeo, const RegistryImage& exact, ImageDocuments& documents,
                                const DownloadDirectory& downloads) const {
    if (const auto commit = TRY(store_.Find(documents.digest))) return *commit;
    const std::vector<OciDescriptor> missing = TRY(store_.MissingLayers(documents.manifest));
    TRY(ExpectSpace(SpaceFor(missing), TRY(store_.Space())), "fetching " + PullSpec(exact));
    documents.config_text = TRY(skopeo.Config(exact, stop_));
    TRY(ExpectDigest(documents.manifest.config.digest, documents.config_text),
        "checking the configuration of " + PullSpec(exact));
    documents.config = TRY(ParseOciConfig(documents.config_text), "reading " + PullSpec(exact));
    TRY(PackedCommitOf(documents.manifest, documents.config), "reading " + PullSpec(exact));
    for (const OciDescriptor& layer : documents.manifest.layers) {
      const bool is_missing = std::any_of(missing.begin(), missing.end(), [&](const OciDescriptor& candidate) {
        return candidate.digest == layer.digest;
      });
      if (!is_missing) TRY(downloads.MakePlaceholder(layer));
    }
    TRY(skopeo.Copy(exact, documents.manifest, downloads.path(), stop_, report_));
    return store_.Import(documents, downloads.blobs(), stop_, report_);
  }

  OstreeRepo* repository_;
  std::string repository_path_;
  ImageStore store_;
  const RegistryAccess& access_;
  const std::stop_token& stop_;
  const ProgressCallback& report_;
};

}  // namespace

Result<FetchedImage> FetchInto(OstreeRepo* repository, const std::string& repository_path, const ImageName& name,
                               const RegistryAccess& access, const std::stop_token& stop,
                               const ProgressCallback& report) {
  return std::visit(ImageFetcher(repository, repository_path, access, stop, report), name);
}

}  // namespace pintle::host
