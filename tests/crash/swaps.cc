// SPDX-License-Identifier: Apache-2.0
#include "crash/swaps.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>

namespace pintle::crash {
namespace {

namespace fs = std::filesystem;

void GiveToUser(const fs::path& path) {
  if (::lchown(path.c_str(), UsersTree::kUser, UsersTree::kUser) != 0) throw std::runtime_error("chown: be root");
}

void Exchange(const std::string& one, const std::string& other) {
  ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
}

// The user's process: it runs in the user's home.
class Attack {
 public:
  explicit Attack(std::atomic<std::uint64_t>& count)
      : count_(count), events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    for (const char* place : {".", "conf", "conf/sub"}) {
      ::inotify_add_watch(events_, place, IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB);
    }
  }

  [[noreturn]] void SwapForever() {
    for (unsigned turn = 0;; ++turn) {
      // Every other turn waits until root changes something in the user's directories, but not for ever.
      for (int i = 0; turn % 2 == 0 && i < 2000 && !HasHappened(); ++i) {
      }
      Swap(turn / 2 % 9);
      ++count_;
    }
  }

 private:
  bool HasHappened() {
    alignas(inotify_event) std::array<char, 4096> room;
    return ::read(events_, room.data(), room.size()) > 0;
  }

  static void Linger() {
    for (int i = 0; i < 20'000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  static void SwapWith(const std::string& place, const std::string& trap) {
    Exchange(place, trap);
    Linger();
    Exchange(place, trap);
  }

  void Swap(unsigned kind) {
    switch (kind) {
      case 0:
        return SwapWith("conf", "link-absolute");
      case 1:
        return SwapWith("conf", "link-relative");
      case 2:
        return SwapWith("conf", "other");
      case 3:
        return SwapWith("conf/sub", "link-absolute");
      case 4:
        return SwapWith("conf/sub", "other");
      case 5:
        return SwapWith("conf/app", "link-file");
      case 6:
        return SwapWith("conf/app", "own-file");
      default:
        return SwapTemporaryFiles(kind == 7 ? "link-file" : "own-file");
    }
  }

  // Swaps root's temporary files, which are beside the files that they will replace.
  static void SwapTemporaryFiles(const std::string& trap) {
    for (const char* place : {"conf", "conf/sub"}) {
      DIR* const directory = ::opendir(place);
      if (directory == nullptr) continue;
      while (const dirent* entry = ::readdir(directory)) {
        if (std::strncmp(entry->d_name, ".pintle-", 8) != 0) continue;
        const std::string file = std::string(place) + "/" + entry->d_name;
        Exchange(file, trap);
        if (::link("../../etc/shadow", (file + "-").c_str()) == 0) Exchange(file, file + "-");
        Linger();
        Exchange(file, trap);
      }
      ::closedir(directory);
    }
  }

  std::atomic<std::uint64_t>& count_;
  int events_;
};

}  // namespace

UsersTree::UsersTree(const fs::path& top) : etc(top / "etc"), home(top / "home/user") {
  fs::permissions(top, fs::perms(0755));
  fs::create_directories(etc / "profile.d");
  for (const char* file : {"shadow", "profile.d/app", "profile.d/theirs"}) std::ofstream(etc / file) << "root's";
  fs::permissions(etc / "shadow", fs::perms(0600));
  fs::create_directories(home / "conf/sub");
  fs::create_directories(home / "other");
  fs::create_symlink("/etc/profile.d", home / "link-absolute");
  fs::create_symlink("../../etc/profile.d", home / "link-relative");
  fs::create_symlink("/etc/shadow", home / "link-file");
  std::ofstream(home / "own-file") << "mine";
  GiveToUser(home);
  for (const char* name : {"conf", "conf/sub", "other", "link-absolute", "link-relative", "link-file", "own-file"}) {
    GiveToUser(home / name);
  }
}

Swapper::Swapper(const UsersTree& tree) {
  void* const shared = ::mmap(nullptr, sizeof *count_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("mmap");
  count_ = new (shared) std::atomic<std::uint64_t>(0);
  process_ = ::fork();
  // The destructor would send the signal to all processes.
  if (process_ == -1) throw std::runtime_error("fork");
  if (process_ != 0) return;
  const gid_t group = UsersTree::kUser;
  if (::chdir(tree.home.c_str()) != 0 || ::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 ||
      ::setuid(UsersTree::kUser) != 0) {
    ::_exit(1);
  }
  Attack(*count_).SwapForever();
}

Swapper::~Swapper() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  ::munmap(count_, sizeof *count_);
}

std::uint64_t Swapper::count() const { return *count_; }

}  // namespace pintle::crash
