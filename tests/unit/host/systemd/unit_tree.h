// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file tree of a machine that is not running, with the folders for units.

#include <filesystem>
#include <map>
#include <string>

#include "base/root.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {

class UnitTree : public TemporaryDirectory {
 public:
  UnitTree() {
    for (const char* folder : {"etc/systemd/system", "run/systemd/system", "usr/lib/systemd/system",
                               "etc/systemd/system-preset", "usr/lib/systemd/system-preset", "opt"}) {
      std::filesystem::create_directories(path() / folder);
    }
    Write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  }

  Root root() const { return ValueOf(Root::Open(path().string())); }

  // Makes parent folders as well.
  void Put(const std::string& name, const std::string& contents) const {
    std::filesystem::create_directories((path() / name).parent_path());
    Write(name, contents);
  }
  void Link(const std::string& name, const std::string& target) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::filesystem::create_symlink(target, path() / name);
  }

  // Returns everything below /etc/systemd/system: links with their targets, files and folders with an empty text.
  std::map<std::string, std::string> Links() const {
    namespace fs = std::filesystem;
    const fs::path folder = path() / "etc/systemd/system";
    std::map<std::string, std::string> links;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      links.emplace(entry.path().lexically_relative(folder).string(),
                    entry.is_symlink() ? fs::read_symlink(entry.path()).string() : "");
    }
    return links;
  }
};

}  // namespace pintle::host
