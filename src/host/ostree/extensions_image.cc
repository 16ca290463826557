// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/extensions_image.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "base/digest.h"
#include "base/root.h"
#include "host/architecture.h"
#include "host/files/files.h"
#include "host/files/room.h"
#include "host/ostree/disk_space.h"
#include "host/ostree/image_name.h"
#include "host/ostree/layer.h"
#include "host/ostree/lock_holder.h"
#include "host/ostree/oci_image.h"

namespace pintle::host {
namespace {

// The directory with the packages in an extensions image.  Only this directory is unpacked.
constexpr const char* kPackages = "usr/share/rpm-ostree/extensions";

Result<> RemoveAll(const std::string& path) {
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  if (failed) return Error::FromErrno("unlink", failed.value()).While("removing " + path);
  return {};
}

// Returns the manifest for this machine's architecture, and sets `image.digest` to the digest of that manifest.
Result<OciManifest> ManifestOf(RegistryImage& image, const Skopeo& skopeo, const std::stop_token& stop) {
  std::string text = TRY(skopeo.Manifest(image, stop));
  if (!image.digest.empty()) TRY(ExpectDigest(image.digest, text));
  auto parsed = TRY(ParseOciManifest(text));
  image = RegistryImage{image.repository, "", "sha256:" + Sha256(text).hex()};
  if (const auto* index = std::get_if<OciIndex>(&parsed)) {
    image.digest = TRY(ForMachine(*index, TRY(Architecture()))).digest;
    text = TRY(skopeo.Manifest(image, stop));
    TRY(ExpectDigest(image.digest, text));
    parsed = TRY(ParseOciManifest(text));
  }
  if (auto* manifest = std::get_if<OciManifest>(&parsed)) return std::move(*manifest);
  return Error(ErrorKind::kInvalid, "the index of images refers to another index");
}

}  // namespace

ExtensionsImage::ExtensionsImage(ExtensionsImage&& other) noexcept
    : root_(std::move(other.root_)), lock_(std::move(other.lock_)), is_there_(std::exchange(other.is_there_, false)) {}

ExtensionsImage::~ExtensionsImage() {
  // The next Unpack() removes the files that cannot be removed now.
  if (is_there_) static_cast<void>(Remove());
}

Result<ExtensionsImage> ExtensionsImage::Unpack(std::string root, const std::string& image,
                                                const RegistryAccess& access, const std::stop_token& stop,
                                                const ProgressCallback& report) {
  const auto doing = [&] { return fmt::format("unpacking the extensions image {}", image); };
  const ImageName name = TRY(ParseImageName(image), doing());
  const auto* in_registry = std::get_if<RegistryImage>(&name);
  if (in_registry == nullptr) {
    return Error(ErrorKind::kInvalid, "only images in a registry are supported").While(doing());
  }
  if (root == "/") root.clear();
  ExtensionsImage unpacked(std::move(root));
  TRY(unpacked.Lock(), doing());
  TRY(unpacked.Remove(), doing());
  TRY(unpacked.Fetch(*in_registry, access, stop, report), doing());
  TRY(unpacked.WriteRepositoryFile(), doing());
  return unpacked;
}

// Keeps others from unpacking an image: a change and the staging of a later change may need packages at the same time.
Result<> ExtensionsImage::Lock() {
  const Root root = TRY(Root::Open(root_.empty() ? "/" : root_));
  // The directory itself is removed again and again, so the directory above it is locked.
  const std::string path = DirectoryAbove(kExtensionsDirectory);
  TRY(root.MakeDirectories(path, {.permissions = 0700, .owner = {}}));
  lock_ = TRY(root.OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    const auto holder = LockHolder(root_ + path);
    return Error(ErrorKind::kUnavailable,
                 fmt::format("the packages of extensions are in use by {}; try again when it is done",
                             holder.value_or("another program")));
  }
  is_there_ = true;
  return {};
}

// Removes the repository file first, since this file refers to the directory.
Result<> ExtensionsImage::Remove() const {
  TRY(RemoveAll(root_ + kExtensionsRepository));
  return RemoveAll(directory());
}

Result<> ExtensionsImage::Fetch(const RegistryImage& name, const RegistryAccess& access, const std::stop_token& stop,
                                const ProgressCallback& report) const {
  const std::string layout = directory() + "/layout";
  std::error_code failed;
  std::filesystem::create_directories(layout, failed);
  if (failed) return Error::FromErrno("mkdir", failed.value()).While("making " + layout);
  const Skopeo skopeo(access, layout);
  RegistryImage image = name;
  const OciManifest manifest = TRY(ManifestOf(image, skopeo, stop));
  TRY(ExpectRoom(manifest));
  TRY(skopeo.Copy(image, manifest, layout, stop, report));
  if (report) report({.doing = {}, .part = "unpacking"});
  for (const OciDescriptor& layer : manifest.layers) {
    const std::string path = fmt::format("{}/blobs/sha256/{}", layout, HexOf(layer.digest));
    TRY(CheckLayer(path, layer, stop));
    TRY(UnpackLayer(path, kPackages, directory(), stop), "unpacking the layer " + layer.digest);
  }
  return RemoveAll(layout);
}

// Returns an error if the image would leave too little room to others: the kubelet often has its files on the same file
// system.
Result<> ExtensionsImage::ExpectRoom(const OciManifest& manifest) const {
  const Root root = TRY(Root::Open(root_.empty() ? "/" : root_));
  NeededRoom needed(root);
  TRY(needed.Add(kExtensionsDirectory, SpaceFor(manifest.layers)));
  return needed.ExpectEnough();
}

Result<> ExtensionsImage::WriteRepositoryFile() const {
  const Root root = TRY(Root::Open(root_.empty() ? "/" : root_));
  if (!TRY(root.Status(fmt::format("{}/{}/repodata", kExtensionsDirectory, kPackages)))) {
    return Error(ErrorKind::kInvalid, fmt::format("it has no packages in /{}", kPackages));
  }
  const std::string text = fmt::format(
      "[coreos-extensions]\nenabled=1\nmetadata_expire=1m\nbaseurl={}/{}/\ngpgcheck=0\nskip_if_unavailable=False\n",
      kExtensionsDirectory, kPackages);
  TRY(root.MakeDirectories("etc/yum.repos.d"));
  return root.WriteFile(kExtensionsRepository, text);
}

}  // namespace pintle::host
