// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/import_ostree.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "host/ostree/layer.h"
#include "host/ostree/packed_commit_ostree.h"

namespace pintle::host {
namespace {

constexpr std::string_view kLayerBranches = "pintle/layer";
constexpr std::string_view kImageBranches = "pintle/image";
// rpm-ostree also uses these keys, and prints their values.
constexpr const char* kManifestKey = "ostree.manifest";
constexpr const char* kConfigKey = "ostree.container.image-config";
// Pintle's own keys in the commits of layers.  kImpliedKey lists LayerContents::implied.  kOnlyFilesKey marks a commit
// that only keeps files of a packed commit from being pruned.
constexpr const char* kImpliedKey = "pintle.implied-directories";
constexpr const char* kOnlyFilesKey = "pintle.only-files";

std::string BranchOf(std::string_view folder, std::string_view digest) {
  return fmt::format("{}/{}", folder, HexOf(digest));
}

std::string ChecksumFrom(GVariant* bytes) {
  std::array<char, OSTREE_SHA256_STRING_LEN + 1> text{};
  ::ostree_checksum_inplace_from_bytes(::ostree_checksum_bytes_peek(bytes), text.data());
  return text.data();
}

Result<Variant> Load(OstreeRepo* repository, OstreeObjectType type, const std::string& checksum) {
  Failure failure;
  Variant variant;
  if (!::ostree_repo_load_variant(repository, type, checksum.c_str(), Out(variant), Out(failure))) {
    return ToError(failure);
  }
  return variant;
}

Variant Child(const Variant& parent, std::size_t index) {
  return Variant(::g_variant_get_child_value(parent.get(), index));
}

// Skips the entries of directories that have contents only while the machine runs, since an image must not fill these
// directories.
OstreeRepoCommitFilterResult LeaveOutVolatile(OstreeRepo*, const char* path, GFileInfo*, void*) {
  static constexpr std::array kVolatile = {"/dev/", "/proc/", "/run/", "/sys/", "/tmp/"};
  const auto is_below = [&](const char* directory) { return std::string_view(path).starts_with(directory); };
  return std::any_of(kVolatile.begin(), kVolatile.end(), is_below) ? OSTREE_REPO_COMMIT_FILTER_SKIP
                                                                   : OSTREE_REPO_COMMIT_FILTER_ALLOW;
}

// Merges layers into one tree.  The lowest layer must be added first.
class Overlay {
 public:
  explicit Overlay(OstreeRepo* repository) : repository_(repository), tree_(::ostree_mutable_tree_new()) {}

  OstreeMutableTree* tree() const { return tree_.get(); }

  Result<> Add(const std::string& layer) {
    // In OSTREE_COMMIT_GVARIANT_FORMAT, field 0 has the metadata, and fields 6 and 7 have the checksums of the tree's
    // contents and of the top directory's attributes.
    const Variant commit = TRY(Load(repository_, OSTREE_OBJECT_TYPE_COMMIT, layer));
    ReadImplied(Child(commit, 0));
    return AddDirectory(tree_.get(), "", ChecksumFrom(Child(commit, 6).get()), ChecksumFrom(Child(commit, 7).get()));
  }

 private:
  using Tree = Object<OstreeMutableTree>;

  void ReadImplied(const Variant& metadata) {
    implied_.clear();
    const Variant list(::g_variant_lookup_value(metadata.get(), kImpliedKey, G_VARIANT_TYPE_STRING_ARRAY));
    if (list == nullptr) return;
    for (std::size_t i = 0; i < ::g_variant_n_children(list.get()); ++i) {
      const Variant name(::g_variant_get_child_value(list.get(), i));
      implied_.insert(::g_variant_get_string(name.get(), nullptr));
    }
  }

  Result<> AddDirectory(OstreeMutableTree* to, const std::string& path, const std::string& contents,
                        const std::string& attributes) {
    const bool is_new = ::ostree_mutable_tree_get_metadata_checksum(to) == nullptr;
    if (is_new || !implied_.contains(path)) ::ostree_mutable_tree_set_metadata_checksum(to, attributes.c_str());
    const Variant directory = TRY(Load(repository_, OSTREE_OBJECT_TYPE_DIR_TREE, contents));
    const Variant files = Child(directory, 0), directories = Child(directory, 1);
    TRY(ApplyWhiteouts(to, path, files));
    for (std::size_t i = 0; i < ::g_variant_n_children(files.get()); ++i) TRY(AddFile(to, Child(files, i)));
    for (std::size_t i = 0; i < ::g_variant_n_children(directories.get()); ++i) {
      const Variant entry = Child(directories, i);
      const std::string name = ::g_variant_get_string(Child(entry, 0).get(), nullptr);
      const Tree below = TRY(MakeSubdirectory(to, name));
      TRY(AddDirectory(below.get(), path.empty() ? name : path + "/" + name, ChecksumFrom(Child(entry, 1).get()),
                       ChecksumFrom(Child(entry, 2).get())));
    }
    return {};
  }

  // Applies the whiteouts of a layer.  Whiteouts hide files of lower layers only, so they are applied before the
  // layer's own files are added.
  Result<> ApplyWhiteouts(OstreeMutableTree* tree, const std::string& path, const Variant& files) {
    for (std::size_t i = 0; i < ::g_variant_n_children(files.get()); ++i) {
      const Variant entry = Child(files, i);
      const std::string_view name = ::g_variant_get_string(Child(entry, 0).get(), nullptr);
      if (name == kOpaque) {
        TRY(Clear(tree));
      } else if (name.starts_with(kWhiteout)) {
        const std::string hidden(name.substr(kWhiteout.size()));
        // An image's /etc is stored as /usr/etc.
        if (path.empty() && hidden == "etc") {
          const Tree usr = TRY(MakeSubdirectory(tree, "usr"));
          TRY(Remove(usr.get(), hidden));
        }
        TRY(Remove(tree, hidden));
      }
    }
    return {};
  }

  Result<> AddFile(OstreeMutableTree* to, const Variant& entry) {
    const std::string name = ::g_variant_get_string(Child(entry, 0).get(), nullptr);
    if (name.starts_with(kWhiteout)) return {};
    TRY(RemoveDirectory(to, name));
    Failure failure;
    if (!::ostree_mutable_tree_replace_file(to, name.c_str(), ChecksumFrom(Child(entry, 1).get()).c_str(),
                                            Out(failure))) {
      return ToError(failure);
    }
    return {};
  }

  Result<Tree> MakeSubdirectory(OstreeMutableTree* tree, const std::string& name) {
    if (::g_hash_table_contains(::ostree_mutable_tree_get_files(tree), name.c_str())) TRY(Remove(tree, name));
    Failure failure;
    Tree below;
    if (!::ostree_mutable_tree_ensure_dir(tree, name.c_str(), Out(below), Out(failure))) return ToError(failure);
    return below;
  }

  Result<> RemoveDirectory(OstreeMutableTree* tree, const std::string& name) {
    if (!::g_hash_table_contains(::ostree_mutable_tree_get_subdirs(tree), name.c_str())) return {};
    return Remove(tree, name);
  }

  Result<> Remove(OstreeMutableTree* tree, const std::string& name) {
    Failure failure;
    if (!::ostree_mutable_tree_remove(tree, name.c_str(), TRUE, Out(failure))) return ToError(failure);
    return {};
  }

  Result<> Clear(OstreeMutableTree* tree) {
    std::vector<std::string> names;
    for (GHashTable* table : {::ostree_mutable_tree_get_files(tree), ::ostree_mutable_tree_get_subdirs(tree)}) {
      GHashTableIter iterator;
      ::g_hash_table_iter_init(&iterator, table);
      void* name = nullptr;
      while (::g_hash_table_iter_next(&iterator, &name, nullptr)) names.emplace_back(static_cast<const char*>(name));
    }
    for (const std::string& name : names) TRY(Remove(tree, name));
    return {};
  }

  OstreeRepo* repository_;
  Tree tree_;
  std::unordered_set<std::string> implied_;  // The implied directories of the layer that is being added.
};

// A transaction of the repository.  Unless it is committed, nothing in the repository changes.
class RepositoryTransaction {
 public:
  static Result<RepositoryTransaction> Begin(OstreeRepo* repository, GCancellable* cancel) {
    Failure failure;
    if (!::ostree_repo_prepare_transaction(repository, nullptr, cancel, Out(failure))) return ToError(failure);
    return RepositoryTransaction(repository);
  }
  RepositoryTransaction(RepositoryTransaction&& other) noexcept
      : repository_(std::exchange(other.repository_, nullptr)) {}
  RepositoryTransaction& operator=(RepositoryTransaction&&) = delete;
  ~RepositoryTransaction() {
    // Errors are ignored, since something has failed already.  The next transaction cleans up the leftovers.
    if (repository_ != nullptr) ::ostree_repo_abort_transaction(repository_, nullptr, nullptr);
  }

  void SetBranch(const std::string& branch, const std::string& commit) const {
    ::ostree_repo_transaction_set_ref(repository_, nullptr, branch.c_str(), commit.c_str());
  }

  Result<> Commit(GCancellable* cancel) && {
    Failure failure;
    if (!::ostree_repo_commit_transaction(repository_, nullptr, cancel, Out(failure))) return ToError(failure);
    repository_ = nullptr;
    return {};
  }

 private:
  explicit RepositoryTransaction(OstreeRepo* repository) : repository_(repository) {}
  OstreeRepo* repository_;
};

// Collects the metadata of a commit.
class Metadata {
 public:
  Metadata() { ::g_variant_dict_init(&dictionary_, nullptr); }
  ~Metadata() { ::g_variant_dict_clear(&dictionary_); }
  Metadata(const Metadata&) = delete;
  Metadata& operator=(const Metadata&) = delete;

  void Add(const char* key, const std::string& text) {
    if (!text.empty()) ::g_variant_dict_insert_value(&dictionary_, key, ::g_variant_new_string(text.c_str()));
  }
  void Add(const char* key, const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    ::g_variant_dict_insert_value(&dictionary_, key,
                                  ::g_variant_new_strv(pointers.data(), static_cast<gssize>(pointers.size())));
  }
  Variant End() { return Variant(::g_variant_ref_sink(::g_variant_dict_end(&dictionary_))); }

 private:
  GVariantDict dictionary_;
};

// Returns the digests of the lowest layers.
std::set<std::string> DigestsOf(const OciManifest& manifest, std::size_t layer_count) {
  std::set<std::string> digests;
  for (std::size_t i = 0; i < std::min(layer_count, manifest.layers.size()); ++i) {
    digests.insert(manifest.layers[i].digest);
  }
  return digests;
}

// Reports the progress of an operation that visits the layers in turn.  Each layer counts by its size.
class LayerProgress {
 public:
  LayerProgress(const char* part, const std::vector<OciDescriptor>& layers, const ProgressCallback& report)
      : part_(part), report_(report) {
    for (const OciDescriptor& layer : layers) all_ += layer.size;
  }

  void Begin(const OciDescriptor& layer) {
    if (report_) report_({.doing = {}, .part = part_, .percent = PercentOf(done_, all_)});
    done_ += layer.size;
  }

 private:
  const char* part_;
  const ProgressCallback& report_;
  std::uint64_t all_ = 0;
  std::uint64_t done_ = 0;
};

// Writes the metadata of a directory that belongs to root and has no special properties.  Returns its checksum.
Result<std::string> WritePlainDirectory(OstreeRepo* repository, GCancellable* cancel) {
  const Object<GFileInfo> info(::g_file_info_new());
  ::g_file_info_set_attribute_uint32(info.get(), "unix::uid", 0);
  ::g_file_info_set_attribute_uint32(info.get(), "unix::gid", 0);
  ::g_file_info_set_attribute_uint32(info.get(), "unix::mode", S_IFDIR | 0755);
  const Variant attributes(::g_variant_ref_sink(::ostree_create_directory_metadata(info.get(), nullptr)));
  Failure failure;
  CPtr<guchar, g_free> written;
  if (!::ostree_repo_write_metadata(repository, OSTREE_OBJECT_TYPE_DIR_META, nullptr, attributes.get(), Out(written),
                                    cancel, Out(failure))) {
    return ToError(failure);
  }
  std::array<char, OSTREE_SHA256_STRING_LEN + 1> text{};
  ::ostree_checksum_inplace_from_bytes(written.get(), text.data());
  return std::string(text.data());
}

// Returns the commits of all branches in a folder, by the names of the branches.
Result<std::map<std::string, std::string>> Branches(OstreeRepo* repository, std::string_view folder) {
  Failure failure;
  HashTable found;
  if (!::ostree_repo_list_refs_ext(repository, std::string(folder).c_str(), Out(found), OSTREE_REPO_LIST_REFS_EXT_NONE,
                                   nullptr, Out(failure))) {
    return ToError(failure);
  }
  std::map<std::string, std::string> branches;
  GHashTableIter iterator;
  ::g_hash_table_iter_init(&iterator, found.get());
  void *name = nullptr, *commit = nullptr;
  while (::g_hash_table_iter_next(&iterator, &name, &commit)) {
    branches.emplace(static_cast<const char*>(name), static_cast<const char*>(commit));
  }
  return branches;
}

Result<> SetBranch(OstreeRepo* repository, const std::string& branch, const char* commit) {
  Failure failure;
  if (!::ostree_repo_set_ref_immediate(repository, nullptr, branch.c_str(), commit, nullptr, Out(failure))) {
    return ToError(failure).While(fmt::format("setting the branch {}", branch));
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> ResolveBranch(OstreeRepo* repository, const std::string& branch) {
  Failure failure;
  Text commit;
  if (!::ostree_repo_resolve_rev_ext(repository, branch.c_str(), TRUE, OSTREE_REPO_RESOLVE_REV_EXT_NONE, Out(commit),
                                     Out(failure))) {
    return ToError(failure).While(fmt::format("looking up {}", branch));
  }
  if (commit == nullptr) return std::optional<std::string>();
  return std::optional<std::string>(commit.get());
}

Result<std::string> CommitMetadata(OstreeRepo* repository, const std::string& commit, const char* key) {
  const Variant loaded = TRY(Load(repository, OSTREE_OBJECT_TYPE_COMMIT, commit));
  const Variant value(::g_variant_lookup_value(Child(loaded, 0).get(), key, G_VARIANT_TYPE_STRING));
  return value == nullptr ? std::string() : std::string(::g_variant_get_string(value.get(), nullptr));
}

Result<std::optional<std::string>> ImageStore::Find(std::string_view manifest_digest) const {
  return ResolveBranch(repository_, BranchOf(kImageBranches, manifest_digest));
}

Result<> ImageStore::Alias(std::string_view index_digest, const std::string& commit) const {
  return SetBranch(repository_, BranchOf(kImageBranches, index_digest), commit.c_str());
}

Result<std::vector<OciDescriptor>> ImageStore::MissingLayers(const OciManifest& manifest) const {
  std::vector<OciDescriptor> missing;
  std::set<std::string> seen;
  for (const OciDescriptor& layer : manifest.layers) {
    const bool is_here = TRY(ResolveBranch(repository_, BranchOf(kLayerBranches, layer.digest))).has_value();
    if (!is_here && seen.insert(layer.digest).second) missing.push_back(layer);
  }
  return missing;
}

Result<DiskSpace> ImageStore::Space() const {
  Failure failure;
  guint64 reserved = 0;
  if (!::ostree_repo_get_min_free_space_bytes(repository_, &reserved, Out(failure))) return ToError(failure);
  struct statvfs status {};
  if (::fstatvfs(::ostree_repo_get_dfd(repository_), &status) != 0) return Error::FromErrno("fstatvfs");
  return DiskSpace{.free = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize, .reserved = reserved};
}

Result<std::string> ImageStore::Import(const ImageDocuments& image, const std::string& blobs,
                                       const std::stop_token& stop, const ProgressCallback& report) const {
  const Cancellable cancel(stop);
  return TRY(ImportAll(image, blobs, stop, report, cancel.get()), fmt::format("importing the image {}", image.digest));
}

Result<std::string> ImageStore::ImportAll(const ImageDocuments& image, const std::string& blobs,
                                          const std::stop_token& stop, const ProgressCallback& report,
                                          GCancellable* cancel) const {
  const auto file_of = [&](const OciDescriptor& layer) { return fmt::format("{}/{}", blobs, HexOf(layer.digest)); };
  const auto packed = TRY(PackedCommitOf(image.manifest, image.config));
  const std::set<std::string> packed_layers = DigestsOf(image.manifest, packed ? packed->layers : 0);
  const std::vector<OciDescriptor> missing = TRY(MissingLayers(image.manifest));
  std::map<std::string, LayerContents> contents;
  std::uint64_t bytes = 0;
  LayerProgress checked("checking", missing, report);
  for (const OciDescriptor& layer : missing) {
    checked.Begin(layer);
    const std::string file = file_of(layer);
    std::uint64_t size = 0;
    if (packed_layers.contains(layer.digest)) {
      size = TRY(CheckPackedLayer(file, layer, stop));
    } else {
      size = (contents[layer.digest] = TRY(CheckLayer(file, layer, stop))).bytes;
    }
    TRY(AddSize(bytes, size), fmt::format("the layer {}", layer.digest));
  }
  TRY(ExpectSpace(bytes, TRY(Space())));

  RepositoryTransaction transaction = TRY(RepositoryTransaction::Begin(repository_, cancel));
  std::map<std::string, std::string> imported;
  LayerProgress unpacked("unpacking", missing, report);
  for (const OciDescriptor& layer : missing) {
    unpacked.Begin(layer);
    const auto doing = [&] { return fmt::format("importing the layer {}", layer.digest); };
    imported[layer.digest] =
        packed_layers.contains(layer.digest)
            ? TRY(ImportPackedLayer(file_of(layer), layer, stop, cancel), doing())
            : TRY(ImportLayer(file_of(layer), layer, contents[layer.digest].implied, cancel), doing());
    transaction.SetBranch(BranchOf(kLayerBranches, layer.digest), imported[layer.digest]);
  }
  std::vector<std::string> layers;
  for (const OciDescriptor& layer : image.manifest.layers) {
    const auto found = imported.find(layer.digest);
    if (found != imported.end()) {
      layers.push_back(found->second);
    } else {
      layers.push_back(TRY(ResolveBranch(repository_, BranchOf(kLayerBranches, layer.digest))).value_or(""));
    }
  }
  if (packed) {
    const std::string packed_commit = TRY(TakePackedCommit(*packed, layers, cancel));
    layers.erase(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(packed->layers));
    layers.insert(layers.begin(), packed_commit);
  }
  const std::string commit = TRY(Merge(image, layers, cancel), "merging the layers");
  transaction.SetBranch(BranchOf(kImageBranches, image.digest), commit);
  TRY(std::move(transaction).Commit(cancel));
  return commit;
}

Result<std::string> ImageStore::ImportLayer(const std::string& path, const OciDescriptor& layer,
                                            const std::vector<std::string>& implied, GCancellable* cancel) const {
  const Archive archive = TRY(OpenLayer(path));
  const Object<OstreeMutableTree> tree(::ostree_mutable_tree_new());
  const Modifier modifier(
      ::ostree_repo_commit_modifier_new(OSTREE_REPO_COMMIT_MODIFIER_FLAGS_NONE, LeaveOutVolatile, nullptr, nullptr));
  OstreeRepoImportArchiveOptions options{};
  options.autocreate_parents = TRUE;
  options.use_ostree_convention = TRUE;  // Stores an image's /etc as /usr/etc.
  Failure failure;
  if (!::ostree_repo_import_archive_to_mtree(repository_, &options, archive.get(), tree.get(), modifier.get(), cancel,
                                             Out(failure))) {
    return ToError(failure);
  }
  Metadata metadata;
  metadata.Add(kImpliedKey, implied);
  return Commit(tree.get(), "layer " + layer.digest, metadata.End().get(), 0, cancel);
}

// Returns the commit for the layer's branch.  For the layer that has the packed commit, this is the packed commit
// itself.  For any other layer, it is a new commit with the layer's files, so that these files are not pruned.
Result<std::string> ImageStore::ImportPackedLayer(const std::string& path, const OciDescriptor& layer,
                                                  const std::stop_token& stop, GCancellable* cancel) const {
  const ImportedObjects imported = TRY(ImportObjects(repository_, path, stop, cancel));
  if (imported.commit) return *imported.commit;
  const Object<OstreeMutableTree> tree(::ostree_mutable_tree_new());
  ::ostree_mutable_tree_set_metadata_checksum(tree.get(), TRY(WritePlainDirectory(repository_, cancel)).c_str());
  for (const std::string& file : imported.files) {
    Failure failure;
    if (!::ostree_mutable_tree_replace_file(tree.get(), file.c_str(), file.c_str(), Out(failure)))
      return ToError(failure);
  }
  Metadata metadata;
  metadata.Add(kOnlyFilesKey, "yes");
  return Commit(tree.get(), "layer " + layer.digest, metadata.End().get(), 0, cancel);
}

// Returns the packed commit after checking that it is complete.  `layers` are the commits of all layers, the lowest
// first.
Result<std::string> ImageStore::TakePackedCommit(const PackedCommit& packed, const std::vector<std::string>& layers,
                                                 GCancellable* cancel) const {
  std::string commit;
  for (std::size_t i = 0; i < packed.layers; ++i) {
    if (!TRY(CommitMetadata(repository_, layers[i], kOnlyFilesKey)).empty() || layers[i] == commit) continue;
    if (!commit.empty()) return Error(ErrorKind::kInvalid, "its layers have two commits");
    commit = layers[i];
  }
  if (commit.empty()) return Error(ErrorKind::kInvalid, "its label names a commit, but its layers have none");
  if (!packed.checksum.empty() && packed.checksum != commit) {
    return Error(
        ErrorKind::kInvalid,
        fmt::format("its layers contain the commit {}, but its label ostree.commit names {}", commit, packed.checksum));
  }
  TRY(ExpectWhole(repository_, commit, cancel));
  return commit;
}

Result<std::string> ImageStore::Merge(const ImageDocuments& image, const std::vector<std::string>& layers,
                                      GCancellable* cancel) const {
  Overlay overlay(repository_);
  for (const std::string& layer : layers) TRY(overlay.Add(layer));
  Metadata metadata;
  metadata.Add("version", VersionOf(image.config));
  metadata.Add(kManifestDigestKey, image.digest);
  metadata.Add(kManifestKey, image.manifest_text);
  metadata.Add(kConfigKey, image.config_text);
  // The commit gets the image's time, so that an image becomes the same commit on every machine.
  std::uint64_t time = 0;
  if (const auto created = FromRfc3339(image.config.created)) {
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(created->time_since_epoch());
    time = static_cast<std::uint64_t>(std::max(since.count(), std::chrono::seconds::rep{0}));
  }
  return Commit(overlay.tree(), "image " + image.digest, metadata.End().get(), time, cancel);
}

Result<std::string> ImageStore::Commit(OstreeMutableTree* tree, const std::string& subject, GVariant* metadata,
                                       std::uint64_t time, GCancellable* cancel) const {
  Failure failure;
  Object<GFile> root;
  if (!::ostree_repo_write_mtree(repository_, tree, Out(root), cancel, Out(failure))) return ToError(failure);
  Text commit;
  if (!::ostree_repo_write_commit_with_time(repository_, nullptr, subject.c_str(), nullptr, metadata,
                                            OSTREE_REPO_FILE(root.get()), time, Out(commit), cancel, Out(failure))) {
    return ToError(failure);
  }
  return std::string(commit.get());
}

Result<bool> ImageStore::HasOthersThan(const std::set<std::string>& commits) const {
  const auto images = TRY(Branches(repository_, kImageBranches));
  return std::any_of(images.begin(), images.end(), [&](const auto& image) { return !commits.contains(image.second); });
}

Result<> ImageStore::KeepOnly(const std::set<std::string>& commits) const {
  std::set<std::string> layers;
  for (const auto& [branch, commit] : TRY(Branches(repository_, kImageBranches))) {
    if (!commits.contains(commit)) {
      TRY(SetBranch(repository_, branch, nullptr));
      continue;
    }
    const auto manifest = TRY(ParseOciManifest(TRY(CommitMetadata(repository_, commit, kManifestKey))));
    const auto* image = std::get_if<OciManifest>(&manifest);
    if (image == nullptr) continue;
    for (const OciDescriptor& layer : image->layers) layers.insert(BranchOf(kLayerBranches, layer.digest));
  }
  for (const auto& [branch, commit] : TRY(Branches(repository_, kLayerBranches))) {
    if (!layers.contains(branch)) TRY(SetBranch(repository_, branch, nullptr));
  }
  return {};
}

}  // namespace pintle::host
