// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster_files.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "change/findings.h"
#include "change/format.h"
#include "host/files/files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "net/certificates.h"
#include "net/last_certificate.h"

namespace pintle::agent {
namespace {

// This file lists the registries whose authorities the agent has written.  The agent does not touch other folders in
// kRegistryAuthorities.
constexpr const char* kWrittenRegistries = change::format::kRegistries.path;
constexpr std::size_t kLongestName = 255;  // The longest name of a file on Linux, in bytes.

std::string FolderOf(const std::string& registry) { return fmt::format("{}/{}", kRegistryAuthorities, registry); }
std::string FileOf(const std::string& registry) { return FolderOf(registry) + "/ca.crt"; }

// Returns the name of a registry.  The name of its bundle is a key of a ConfigMap.  A key cannot have a colon, and has
// two dots in its place.
std::string WithColons(std::string name) {
  for (std::size_t at = name.find(".."); at != std::string::npos; at = name.find("..", at)) name.replace(at, 2, ":");
  return name;
}

bool IsFileName(const std::string& name) {
  const bool leads_elsewhere =
      name == "." || name == ".." || name.find_first_of(std::string_view("/\0", 2)) != std::string::npos;
  return !name.empty() && name.size() <= kLongestName && !leads_elsewhere;
}

// Decodes the files in a ControllerConfig, and collects everything that is wrong with them.
class Reader {
 public:
  explicit Reader(const ClusterFilesSpec& spec) : spec_(spec) {}

  Result<ClusterFiles> Read() && {
    // The kubelet accepts only client certificates that one of these authorities has signed.  With an empty file, the
    // kubelet would refuse all client certificates, so an empty bundle is skipped, and the file stays as it is.  A
    // bundle without a certificate is an error.
    if (!spec_.kubelet_authorities.empty()) {
      const json::Path where(spec_path_, "kubeAPIServerServingCAData");
      Add(change::kKubeletAuthorities, spec_.kubelet_authorities, where);
      const auto bundle = DecodeBase64(spec_.kubelet_authorities);
      if (bundle && !net::HasCertificate(*bundle)) report_.Error(where, "has no certificate that can be read");
    }
    Add(change::kCloudAuthorities, spec_.cloud_authorities, json::Path(spec_path_, "cloudProviderCAData"));
    if (!spec_.internal_pull_secret.empty()) {
      Add(change::kInternalPullSecret, spec_.internal_pull_secret, json::Path(spec_path_, "internalRegistryPullSecret"),
          true);
    }
    AddRegistries(spec_.registries, json::Path(spec_path_, "imageRegistryBundleData"));
    AddRegistries(spec_.user_registries, json::Path(spec_path_, "imageRegistryBundleUserData"));
    TRY(report_.ToResult());
    for (auto& [registry, contents] : registries_) {
      files_.files.push_back({FileOf(registry), std::move(contents)});
      files_.registries.push_back(registry);
    }
    return std::move(files_);
  }

 private:
  std::string Decoded(const std::string& data, const json::Path& path) {
    auto bytes = DecodeBase64(data);
    if (!bytes) report_.Error(path, "is not base64");
    std::string contents = bytes ? *std::move(bytes) : "";
    if (!contents.ends_with('\n')) contents += '\n';
    return contents;
  }

  void Add(std::string_view path, const std::string& data, const json::Path& where, bool is_secret = false) {
    files_.files.push_back({std::string(path), Decoded(data, where), is_secret});
  }

  // Read() adds the users' bundles after those of the cluster, so a user's bundle replaces the cluster's for the same
  // registry.
  void AddRegistries(const std::vector<RegistryBundle>& bundles, const json::Path& path) {
    for (std::size_t i = 0; i < bundles.size(); ++i) {
      const json::Path where(path, i);
      const std::string name = WithColons(bundles[i].file);
      if (!IsFileName(name)) report_.Error(json::Path(where, "file"), "is not the name of a registry");
      registries_.insert_or_assign(name, Decoded(bundles[i].data, json::Path(where, "data")));
    }
  }

  const ClusterFilesSpec& spec_;
  const json::Path document_;
  const json::Path spec_path_{document_, "spec"};
  json::Report report_;
  ClusterFiles files_;
  std::map<std::string, std::string> registries_;
};

// Returns the registries in kWrittenRegistries, sorted.
Result<std::vector<std::string>> ReadWrittenRegistries(const Root& root) {
  if (!TRY(root.Status(kWrittenRegistries))) return std::vector<std::string>();
  json::Report report;
  auto document = TRY(json::Parse(TRY(root.ReadFile(kWrittenRegistries))), kWrittenRegistries);
  document = TRY(change::WithoutVersion(change::format::kRegistries, std::move(document)), kWrittenRegistries);
  auto written = json::Decode<std::vector<std::string>>(std::move(document), report);
  TRY(report.ToResult(), kWrittenRegistries);
  std::erase_if(written, [](const std::string& name) { return !IsFileName(name); });
  std::sort(written.begin(), written.end());
  return written;
}

Result<> WriteWrittenRegistries(const Root& root, const std::vector<std::string>& written) {
  TRY(root.MakeDirectories(host::DirectoryAbove(kWrittenRegistries)));
  return root.WriteFile(kWrittenRegistries,
                        change::TextWithVersion(change::format::kRegistries, json::Encode(written)));
}

// Returns the mode with which the file has to be written, or nullopt if the file is as wanted.
Result<std::optional<FileMode>> ModeToPut(const Root& root, const ClusterFile& file) {
  const auto status = TRY(root.Status(file.path));
  const bool is_regular = status && S_ISREG(status->st_mode);
  FileMode mode{.permissions = file.is_secret ? mode_t(0600) : mode_t(0644), .owner = Owner()};
  if (is_regular && !file.is_secret) mode = {status->st_mode & 07777, Owner{status->st_uid, status->st_gid}};
  const bool is_mode_right = is_regular && (status->st_mode & 07777) == mode.permissions;
  if (is_mode_right && TRY(root.ReadFile(file.path)) == file.contents) return std::optional<FileMode>();
  return std::optional(mode);
}

// Returns the registries that are in `before` and not in `now`; both are sorted.  Their authorities were written
// earlier and are no longer wanted.
std::vector<std::string> RegistriesToRemove(const std::vector<std::string>& before,
                                            const std::vector<std::string>& now) {
  std::vector<std::string> removed;
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(), std::back_inserter(removed));
  return removed;
}

// Describes a waiting file by the certificate that net::LastToExpire() chooses from the copy on the disk.  A copy that
// cannot be read counts as one without certificates.
api::WaitingFile WaitingAt(const Root& root, const std::string& path) {
  api::WaitingFile waiting{.path = path, .valid_until = {}, .subject = {}};
  const auto contents = root.ReadFile(path);
  auto certificates = contents ? net::ReadCertificates(*contents) : Result<std::vector<net::Certificate>>({});
  if (!certificates) return waiting;
  const auto whose = path == change::kKubeletAuthorities ? net::BundleOf::kKubelet : net::BundleOf::kAnyone;
  const auto last = net::LastToExpire(*std::move(certificates), whose);
  if (!last) return waiting;
  waiting.valid_until = api::Time{last->not_after};
  waiting.subject = last->subject;
  return waiting;
}

class Putter {
 public:
  explicit Putter(const Root& root) : root_(root) {}

  Result<> Put(const ClusterFile& file) {
    const auto mode = TRY(ModeToPut(root_, file));
    if (!mode) return {};
    TRY(root_.MakeDirectories(host::DirectoryAbove(file.path)));
    TRY(root_.WriteFile(file.path, file.contents, *mode));
    changed_.push_back(file.path);
    return {};
  }

  // Removes the authorities of a registry.  Their folder stays if someone has put something else into it.
  Result<> RemoveRegistry(const std::string& registry) {
    if (!TRY(root_.Status(FolderOf(registry)))) return {};
    TRY(root_.Remove(FileOf(registry)));
    if (TRY(root_.List(FolderOf(registry))).empty()) TRY(root_.Remove(FolderOf(registry)));
    changed_.push_back(FileOf(registry));
    return {};
  }

  std::vector<std::string> Take() && { return std::move(changed_); }

 private:
  const Root& root_;
  std::vector<std::string> changed_;
};

}  // namespace

Result<ClusterFiles> FilesOf(const ClusterFilesSource& source) {
  auto files = Reader(source.spec).Read();
  if (!files) return std::move(files).error().While(fmt::format("ControllerConfig {}", source.metadata.name));
  return files;
}

Result<std::vector<std::string>> PutClusterFiles(const Root& root, const ClusterFiles& wanted) {
  TRY(change::ExpectKnownVersions(root));
  const auto before = TRY(ReadWrittenRegistries(root));
  std::vector<std::string> old_and_new;
  const auto& now = wanted.registries;
  std::set_union(before.begin(), before.end(), now.begin(), now.end(), std::back_inserter(old_and_new));
  // The list is written first, with the old and the new names.  So after a crash it has every folder that may exist.
  if (old_and_new != before) TRY(WriteWrittenRegistries(root, old_and_new));
  Putter putter(root);
  for (const ClusterFile& file : wanted.files) TRY(putter.Put(file), "writing " + file.path);
  for (const std::string& registry : RegistriesToRemove(before, now))
    TRY(putter.RemoveRegistry(registry), "removing " + FolderOf(registry));
  if (old_and_new != now) TRY(WriteWrittenRegistries(root, now));
  return std::move(putter).Take();
}

Result<std::vector<api::WaitingFile>> FilesThatWait(const Root& root, const ClusterFiles& wanted) {
  std::vector<api::WaitingFile> waiting;
  for (const ClusterFile& file : wanted.files) {
    if (TRY(ModeToPut(root, file), file.path)) waiting.push_back(WaitingAt(root, file.path));
  }
  for (const std::string& registry : RegistriesToRemove(TRY(ReadWrittenRegistries(root)), wanted.registries)) {
    if (TRY(root.Status(FolderOf(registry)))) waiting.push_back(WaitingAt(root, FileOf(registry)));
  }
  return waiting;
}

}  // namespace pintle::agent
