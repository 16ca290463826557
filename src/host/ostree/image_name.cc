// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/image_name.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/digest.h"

namespace pintle::host {
namespace {

constexpr std::string_view kSha256 = "sha256:";

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool IsPort(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit); }

bool BeginsWithHost(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view first = text.substr(0, slash);
  const std::size_t colon = first.rfind(':');
  if (colon != std::string_view::npos) return IsPort(first.substr(colon + 1));
  return first == "localhost" || first.find('.') != std::string_view::npos;
}

bool IsPlain(std::string_view text, std::string_view also_allowed) {
  return !text.empty() && text[0] != '-' && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLetterOrDigit(c) || also_allowed.find(c) != std::string_view::npos;
  });
}

Result<ImageName> ParseRegistryImage(std::string_view text) {
  RegistryImage image;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos) {
    std::string_view digest = text.substr(at + 1);
    if (!TakePrefix(digest, kSha256)) return Error(ErrorKind::kInvalid, "its digest does not begin with sha256:");
    image.digest = std::string(kSha256) + TRY(Digest::FromHex(DigestAlgorithm::kSha256, digest)).hex();
    text = text.substr(0, at);
  }
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find('/', colon) == std::string_view::npos) {
    image.tag = text.substr(colon + 1);
    if (!IsPlain(image.tag, "._-")) return Error(ErrorKind::kInvalid, "its tag is not valid");
    text = text.substr(0, colon);
  }
  image.repository = text;
  if (!IsPlain(text, "._-/:[]") || !BeginsWithHost(text)) {
    return Error(ErrorKind::kInvalid, "it does not begin with the name of a registry and a path");
  }
  if (!image.digest.empty()) image.tag.clear();
  if (image.digest.empty() && image.tag.empty()) image.tag = "latest";
  return ImageName(std::move(image));
}

Result<ImageName> ParseLayoutImage(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  LayoutImage image{std::string(text.substr(0, colon)), {}};
  if (colon != std::string_view::npos) image.tag = text.substr(colon + 1);
  if (!image.directory.starts_with('/')) return Error(ErrorKind::kInvalid, "its directory is not an absolute path");
  return ImageName(std::move(image));
}

Result<ImageName> ParseOstreeBranch(std::string_view text) {
  OstreeBranch name;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    name.remote = text.substr(0, colon);
    if (!IsPlain(name.remote, "._-")) return Error(ErrorKind::kInvalid, "the name of its remote is not valid");
    text = text.substr(colon + 1);
  }
  name.branch = text;
  if (!IsPlain(text, "._-/") || text.ends_with('/'))
    return Error(ErrorKind::kInvalid, "the name of its branch is not valid");
  return ImageName(std::move(name));
}

Result<ImageName> Parse(std::string_view text) {
  if (TakePrefix(text, "docker://")) return ParseRegistryImage(text);
  if (TakePrefix(text, "oci:")) return ParseLayoutImage(text);
  if (text.find('@') != std::string_view::npos || BeginsWithHost(text)) return ParseRegistryImage(text);
  if (auto checksum = Digest::FromHex(DigestAlgorithm::kSha256, text))
    return ImageName(OstreeCommit{std::string(checksum->hex())});
  return ParseOstreeBranch(text);
}

}  // namespace

Result<ImageName> ParseImageName(std::string_view text) {
  return TRY(Parse(text), fmt::format("\"{}\" is not the name of an image", text));
}

std::string PullSpec(const RegistryImage& image) {
  return image.digest.empty() ? fmt::format("{}:{}", image.repository, image.tag)
                              : fmt::format("{}@{}", image.repository, image.digest);
}

std::string ContainerReference(const RegistryImage& image) { return "ostree-unverified-registry:" + PullSpec(image); }

std::string ContainerReference(const LayoutImage& image) {
  return fmt::format("ostree-unverified-image:oci:{}{}{}", image.directory, image.tag.empty() ? "" : ":", image.tag);
}

std::string ImageOfReference(std::string_view reference) {
  const auto take_word = [&] { reference.remove_prefix(std::min(reference.find(':'), reference.size() - 1) + 1); };
  bool names_transport = false;
  if (TakePrefix(reference, "ostree-unverified-registry:")) {
  } else if (TakePrefix(reference, "ostree-remote-registry:")) {
    take_word();
  } else if (TakePrefix(reference, "ostree-remote-image:")) {
    take_word();
    names_transport = true;
  } else if (TakePrefix(reference, "ostree-unverified-image:") || TakePrefix(reference, "ostree-image-signed:")) {
    names_transport = true;
  }
  if (names_transport && !TakePrefix(reference, "docker://") && !TakePrefix(reference, "registry:")) {
    TakePrefix(reference, "containers-storage:");
  }
  return std::string(reference);
}

}  // namespace pintle::host
