// SPDX-License-Identifier: Apache-2.0
#include "host/files/selinux.h"

#include <utility>

#ifdef PINTLE_HAS_SELINUX

#include <selinux/label.h>
#include <selinux/selinux.h>
#include <sys/stat.h>

#include "base/c_ptr.h"

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

}  // namespace

class Labels::Policy {
 public:
  // An empty path means the policy of this machine.
  explicit Policy(std::string path) : path_(std::move(path)) {}

  std::optional<std::string> LabelFor(const std::string& path, resource::EntryKind kind) {
    if (!std::exchange(is_open_, true)) Open();
    CPtr<char, ::freecon> label;
    if (handle_ == nullptr || ::selabel_lookup_raw(handle_.get(), Out(label), path.c_str(), ModeOf(kind)) != 0) {
      return std::nullopt;
    }
    return label.get();
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

}  // namespace pintle::host

#else

namespace pintle::host {

class Labels::Policy {
 public:
  std::optional<std::string> LabelFor(const std::string&, resource::EntryKind) { return std::nullopt; }
};

Labels Labels::OfThisMachine() { return {}; }
Labels Labels::FromFile(std::string) { return {}; }

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
