// SPDX-License-Identifier: Apache-2.0
#pragma once

// A user of a machine, who owns a directory in which root changes files, and swaps what is there for what leads
// elsewhere.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace pintle::crash {

// What is at stake: /etc of the tree.  Root changes what is in /home/user/conf.
struct UsersTree {
  static constexpr uid_t kUser = 65534;

  explicit UsersTree(const std::filesystem::path& top);

  std::filesystem::path etc;
  std::filesystem::path home;
};

// A process of the user that swaps things in turn, as fast as it can, each time that the kernel tells of something of
// root's in a directory of the user's, and at other times; until this goes.
class Swapper {
 public:
  explicit Swapper(const UsersTree& tree);
  ~Swapper();
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

  // How often it has swapped something since it began.
  std::uint64_t count() const;

 private:
  pid_t process_ = -1;
  std::atomic<std::uint64_t>* count_ = nullptr;
};

}  // namespace pintle::crash
