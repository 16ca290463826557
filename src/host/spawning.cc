// SPDX-License-Identifier: Apache-2.0
#include "host/spawning.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pintle::host {
namespace {

// The settings of posix_spawn(3), which have to be destroyed.
class Settings {
 public:
  Settings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~Settings() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the path of a program, which may be named without its directory.
Result<std::string> FindProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  std::string_view directories = kSearchPath;
  while (!directories.empty()) {
    const std::size_t end = std::min(directories.find(':'), directories.size());
    std::string path = fmt::format("{}/{}", directories.substr(0, end), program);
    if (::access(path.c_str(), X_OK) == 0) return path;
    directories.remove_prefix(std::min(end + 1, directories.size()));
  }
  return Error(ErrorKind::kNotFound, fmt::format("there is no such program in {}", kSearchPath));
}

}  // namespace

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::FromErrno("pipe2");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<pid_t> Start(const Spawn& spawn) {
  const std::string path = TRY(FindProgram(spawn.words[0]));
  Settings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (spawn.output) {
    ::posix_spawn_file_actions_adddup2(&settings.actions, *spawn.output, STDOUT_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&settings.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&settings.actions, spawn.errors, STDERR_FILENO);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(&settings.attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words = Pointers(spawn.words), environment = Pointers(spawn.environment);
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, path.c_str(), &settings.actions, &settings.attributes, words.data(), environment.data());
  if (failed != 0) return Error::FromErrno("posix_spawn", failed);
  return pid;
}

Result<UniqueFd> OpenProcess(pid_t pid) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return Error::FromErrno("pidfd_open");
  return process;
}

int Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace pintle::host
