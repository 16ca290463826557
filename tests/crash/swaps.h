// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates a user who owns a directory in which root changes files, and who swaps the entries of this directory for
// links that lead elsewhere, and for files and directories of the user's own.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace pintle::crash {

// The tree: root changes files in /home/user/conf, and the user must not reach /etc.
struct UsersTree {
  static constexpr uid_t kUser = 65534;

  explicit UsersTree(const std::filesystem::path& top);

  std::filesystem::path etc;
  std::filesystem::path home;
};

// A process of the user that swaps entries as fast as it can: whenever the kernel reports a change by root in the
// user's directories, and at other times.  The destructor ends it.
class Swapper {
 public:
  explicit Swapper(const UsersTree& tree);
  ~Swapper();
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

  // Returns how often it has swapped something.
  std::uint64_t count() const;

 private:
  pid_t process_ = -1;
  std::atomic<std::uint64_t>* count_ = nullptr;
};

}  // namespace pintle::crash
