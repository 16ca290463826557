// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/packed_commit_ostree.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <array>
#include <map>
#include <span>
#include <utility>

#include "host/ostree/layer.h"

namespace pintle::host {
namespace {

using Writer = Object<OstreeContentWriter>;
using Bytes = CPtr<GBytes, g_bytes_unref>;

constexpr std::uint64_t kMostAttributes = 1 << 20;  // In bytes, for one file.
constexpr const char* kAttributesType = "a(ayay)";

std::optional<OstreeObjectType> MetadataType(std::string_view kind) {
  if (kind == "commit") return OSTREE_OBJECT_TYPE_COMMIT;
  if (kind == "dirtree") return OSTREE_OBJECT_TYPE_DIR_TREE;
  if (kind == "dirmeta") return OSTREE_OBJECT_TYPE_DIR_META;
  return std::nullopt;
}

// Reads an object into a GVariant.  g_malloc() aligns the memory as GVariant requires.
Result<Variant> ReadVariant(const GVariantType* type, const PackedObject& object, const ReadNext& read,
                            std::uint64_t limit) {
  if (object.size > limit) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("it has {} bytes, which is more than the limit of {}", object.size, limit));
  }
  CPtr<void, g_free> room(::g_malloc(object.size + 1));
  auto* const start = static_cast<char*>(room.get());
  std::size_t filled = 0;
  while (filled < object.size) {
    const std::size_t count = TRY(read(std::span(start + filled, object.size - filled)));
    if (count == 0) return Error(ErrorKind::kInvalid, "it ends early");
    filled += count;
  }
  const Bytes bytes(::g_bytes_new_take(room.release(), filled));
  return Variant(::g_variant_ref_sink(::g_variant_new_from_bytes(type, bytes.get(), FALSE)));
}

class CommitImporter {
 public:
  CommitImporter(OstreeRepo* repository, GCancellable* cancel) : repository_(repository), cancel_(cancel) {}

  Result<> Add(const PackedObject& object, const ReadNext& read) {
    if (const auto type = MetadataType(object.kind)) return AddMetadata(*type, object, read);
    if (object.kind == "file") return AddFile(object, read);
    if (object.kind == "file-xattrs") return KeepAttributes(object, read);
    if (object.kind == "file-xattrs-link") {
      // The object is a copy of the attributes and not a link if the builder's file system allowed no more links.
      if (!object.same_as) return KeepAttributes(object, read);
      attributes_of_[object.checksum] = *object.same_as;
    }
    // Objects of all other kinds are skipped, even signatures of commits: the policy for images decides which images
    // may run.
    return {};
  }

  ImportedObjects End() && { return std::move(imported_); }

 private:
  Result<> AddMetadata(OstreeObjectType type, const PackedObject& object, const ReadNext& read) {
    const Variant variant =
        TRY(ReadVariant(::ostree_metadata_variant_type(type), object, read, OSTREE_MAX_METADATA_SIZE));
    Failure failure;
    CPtr<guchar, g_free> written;
    if (!::ostree_repo_write_metadata(repository_, type, object.checksum.c_str(), variant.get(), Out(written), cancel_,
                                      Out(failure))) {
      return ToError(failure);
    }
    if (type != OSTREE_OBJECT_TYPE_COMMIT) return {};
    if (imported_.commit) return Error(ErrorKind::kInvalid, "the layer has two commits");
    imported_.commit = object.checksum;
    return {};
  }

  Result<> KeepAttributes(const PackedObject& object, const ReadNext& read) {
    attributes_[object.checksum] = TRY(ReadVariant(G_VARIANT_TYPE(kAttributesType), object, read, kMostAttributes));
    return {};
  }

  // Returns the attributes of a file.  In a layer, they come before the file.
  Result<GVariant*> AttributesOf(const std::string& file) const {
    const auto link = attributes_of_.find(file);
    const auto found = attributes_.find(link == attributes_of_.end() ? file : link->second);
    if (found != attributes_.end()) return found->second.get();
    return Error(ErrorKind::kInvalid, "its extended attributes are not in the layer before it");
  }

  Result<> AddFile(const PackedObject& object, const ReadNext& read) {
    if (object.same_as) return Error(ErrorKind::kInvalid, "it is a hard link");
    imported_.files.insert(object.checksum);
    if (TRY(Has(object.checksum))) return {};
    GVariant* const attributes = TRY(AttributesOf(object.checksum));
    return object.target ? AddLink(object, attributes) : AddRegular(object, attributes, read);
  }

  Result<bool> Has(const std::string& file) const {
    Failure failure;
    gboolean has = FALSE;
    if (!::ostree_repo_has_object(repository_, OSTREE_OBJECT_TYPE_FILE, file.c_str(), &has, cancel_, Out(failure))) {
      return ToError(failure);
    }
    return has != FALSE;
  }

  Result<> AddLink(const PackedObject& object, GVariant* attributes) const {
    Failure failure;
    const Text written(::ostree_repo_write_symlink(repository_, object.checksum.c_str(), object.user, object.group,
                                                   attributes, object.target->c_str(), cancel_, Out(failure)));
    if (written == nullptr) return ToError(failure);
    return {};
  }

  Result<> AddRegular(const PackedObject& object, GVariant* attributes, const ReadNext& read) {
    Failure failure;
    const Writer writer(::ostree_repo_write_regfile(repository_, object.checksum.c_str(), object.user, object.group,
                                                    S_IFREG | object.permissions, object.size, attributes,
                                                    Out(failure)));
    if (writer == nullptr) return ToError(failure);
    while (const std::size_t count = TRY(read(piece_))) {
      if (!::g_output_stream_write_all(G_OUTPUT_STREAM(writer.get()), piece_.data(), count, nullptr, cancel_,
                                       Out(failure))) {
        return ToError(failure);
      }
    }
    const Text written(::ostree_content_writer_finish(writer.get(), cancel_, Out(failure)));
    if (written == nullptr) return ToError(failure);
    return {};
  }

  OstreeRepo* repository_;
  GCancellable* cancel_;
  ImportedObjects imported_;
  std::map<std::string, Variant> attributes_;
  std::map<std::string, std::string> attributes_of_;  // Maps a file to its key in `attributes_`.
  std::array<char, 128 << 10> piece_;
};

}  // namespace

Result<ImportedObjects> ImportObjects(OstreeRepo* repository, const std::string& layer, const std::stop_token& stop,
                                      GCancellable* cancel) {
  CommitImporter importer(repository, cancel);
  TRY(ForEachObject(layer, stop,
                    [&](const PackedObject& object, const ReadNext& read) { return importer.Add(object, read); }));
  return std::move(importer).End();
}

Result<> ExpectWhole(OstreeRepo* repository, const std::string& commit, GCancellable* cancel) {
  const auto doing = [&] { return fmt::format("checking whether the commit {} is complete", commit); };
  Failure failure;
  HashTable objects;
  if (!::ostree_repo_traverse_commit(repository, commit.c_str(), 0, Out(objects), cancel, Out(failure))) {
    return ToError(failure).While(doing());
  }
  GHashTableIter iterator;
  ::g_hash_table_iter_init(&iterator, objects.get());
  void* key = nullptr;
  while (::g_hash_table_iter_next(&iterator, &key, nullptr)) {
    const char* checksum = nullptr;
    OstreeObjectType type{};
    ::ostree_object_name_deserialize(static_cast<GVariant*>(key), &checksum, &type);
    gboolean has = FALSE;
    if (!::ostree_repo_has_object(repository, type, checksum, &has, cancel, Out(failure))) {
      return ToError(failure).While(doing());
    }
    if (has == FALSE) {
      return Error(ErrorKind::kInvalid, fmt::format("its layers do not have the object {}.{}", checksum,
                                                    ::ostree_object_type_to_string(type)))
          .While(doing());
    }
  }
  return {};
}

}  // namespace pintle::host
