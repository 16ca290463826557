// SPDX-License-Identifier: Apache-2.0
#include "host/files/selinux.h"

#include <algorithm>
#include <utility>

#ifdef PINTLE_HAS_SELINUX

#include <fcntl.h>
#include <fmt/core.h>
#include <selinux/label.h>
#include <selinux/selinux.h>
#include <sys/stat.h>

#include <string_view>

#include "base/c_ptr.h"
#include "base/unique_fd.h"

namespace pintle::host {
namespace {

int ModeOf(resource::EntryKind kind) {
  switch (kind) {
    case resource::EntryKind::kFile:
      return S_IFREG;
    case resource::EntryKind::kDirectory:
      return S_IFDIR;
    case resource::EntryKind::kLink:
      return S_IFLNK;
  }
  return 0;
}

// Returns the name of the policy that a tree's configuration selects, as libselinux reads it: "targeted", for example.
std::string NameOfPolicy(const Root& tree) {
  constexpr std::string_view kKey = "SELINUXTYPE=";
  constexpr std::string_view kSpace = " \t\r";
  std::string name = "targeted";
  const auto config = tree.ReadFile("/etc/selinux/config");
  std::string_view lines = config ? std::string_view(*config) : std::string_view();
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
    if (!line.starts_with(kKey)) continue;
    name = line.substr(kKey.size());
    name.erase(name.find_last_not_of(kSpace) + 1);
  }
  return name;
}

}  // namespace

class Labels::Policy {
 public:
  // An empty path means the policy of this machine.
  explicit Policy(std::string path) : path_(std::move(path)) {}

  std::optional<std::string> LabelFor(const std::string& path, resource::EntryKind kind) {
    CPtr<char, ::freecon> label;
    if (!Read() || ::selabel_lookup_raw(handle_.get(), Out(label), path.c_str(), ModeOf(kind)) != 0) {
      return std::nullopt;
    }
    return label.get();
  }

  // Reads the policy at the first call.  Returns whether it could be read.
  bool Read() {
    if (!std::exchange(is_open_, true)) Open();
    return handle_ != nullptr;
  }

 private:
  void Open() {
    const selinux_opt from = {SELABEL_OPT_PATH, path_.c_str()};
    handle_.reset(::selabel_open(SELABEL_CTX_FILE, path_.empty() ? nullptr : &from, path_.empty() ? 0 : 1));
  }

  std::string path_;
  bool is_open_ = false;
  CPtr<selabel_handle, ::selabel_close> handle_;
};

Labels Labels::OfThisMachine() { return ::is_selinux_enabled() == 1 ? Labels(std::make_shared<Policy>("")) : Labels(); }

Labels Labels::FromFile(std::string path) { return Labels(std::make_shared<Policy>(std::move(path))); }

Labels Labels::ForTree(const Root& tree) const {
  if (policy_ == nullptr) return {};
  const auto folder =
      tree.OpenFile(fmt::format("/etc/selinux/{}/contexts/files", NameOfPolicy(tree)), O_PATH | O_DIRECTORY);
  if (!folder) return *this;
  // libselinux takes paths only.  It also reads the files beside file_contexts, and keeps none of them open.
  auto policy = std::make_shared<Policy>(fmt::format("/proc/self/fd/{}/file_contexts", folder->get()));
  return policy->Read() ? Labels(std::move(policy)) : *this;
}

}  // namespace pintle::host

#else

namespace pintle::host {

class Labels::Policy {
 public:
  std::optional<std::string> LabelFor(const std::string&, resource::EntryKind) { return std::nullopt; }
};

Labels Labels::OfThisMachine() { return {}; }
Labels Labels::FromFile(std::string) { return {}; }
Labels Labels::ForTree(const Root&) const { return {}; }

}  // namespace pintle::host

#endif

namespace pintle::host {

std::optional<std::string> Labels::LabelFor(const std::string& path, resource::EntryKind kind) const {
  return policy_ == nullptr ? std::nullopt : policy_->LabelFor(path, kind);
}

std::optional<std::string> Labels::AttributeFor(const std::string& path, resource::EntryKind kind) const {
  std::optional<std::string> label = LabelFor(path, kind);
  if (label) *label += '\0';
  return label;
}

}  // namespace pintle::host
