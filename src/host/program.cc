// SPDX-License-Identifier: Apache-2.0
#include "host/program.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "host/spawning.h"

namespace pintle::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kSearchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t kMostOutput = 64 << 20;
constexpr std::size_t kMostComplaint = 4096;
constexpr auto kStopGlance = milliseconds(100);  // How often a running program is checked for a request to stop.
constexpr auto kGrace = seconds(10);             // The time that the program gets to clean up when it is asked to end.

// Appends what can be read; returns false at the end.
bool ReadSome(int fd, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

std::string LastLines(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

}  // namespace

Result<std::string> RunProgram(const Program& program, const std::stop_token& stop,
                               const std::function<void()>& each_second) {
  const auto doing = [&] { return fmt::format("running {}", program.words[0]); };
  Pipe output = TRY(MakePipe(), doing()), complaint = TRY(MakePipe(), doing());
  const pid_t pid =
      TRY(Start({program.words, program.environment, output.write.get(), complaint.write.get()}), doing());
  output.write.Reset();
  complaint.write.Reset();

  std::string said, complained;
  std::optional<MonotonicTime> give_up;
  bool is_too_long = false;
  MonotonicTime next_call = SystemClock().Monotonic() + seconds(1);
  while (output.read || complaint.read) {
    std::array<pollfd, 2> ends{pollfd{output.read.get(), POLLIN, 0}, pollfd{complaint.read.get(), POLLIN, 0}};
    if (::poll(ends.data(), ends.size(), static_cast<int>(kStopGlance.count())) < 0 && errno != EINTR) break;
    if (ends[0].revents != 0 && !ReadSome(output.read.get(), said)) output.read.Reset();
    if (ends[1].revents != 0 && !ReadSome(complaint.read.get(), complained)) complaint.read.Reset();
    if (complained.size() > kMostComplaint) complained.erase(0, complained.size() - kMostComplaint);
    is_too_long = is_too_long || said.size() > kMostOutput;
    const MonotonicTime now = SystemClock().Monotonic();
    if (each_second && now >= next_call) {
      each_second();
      next_call = now + seconds(1);
    }
    if ((stop.stop_requested() || is_too_long) && !give_up) {
      ::kill(-pid, SIGTERM);
      give_up = now + kGrace;
    }
    if (give_up && now > *give_up) ::kill(-pid, SIGKILL);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (stop.stop_requested()) return Error(ErrorKind::kCancelled, "it was asked to stop").While(doing());
  if (is_too_long) return Error(ErrorKind::kInvalid, "it wrote too much").While(doing());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return said;
  const std::string end = WIFSIGNALED(status) ? fmt::format("it was ended by signal {}", WTERMSIG(status))
                                              : fmt::format("it failed with status {}", WEXITSTATUS(status));
  // A program may repeat the URL of a proxy, with the password that it got from us.
  const std::string complaint_text = WithoutUrlPasswords(LastLines(std::move(complained)), "***");
  return Error(ErrorKind::kSystem, complaint_text.empty() ? end : Printable(complaint_text)).While(doing());
}

std::vector<std::string> PlainEnvironment() {
  std::vector<std::string> environment = {kSearchPath, "HOME=/root", "LC_ALL=C.UTF-8"};
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}) {
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

}  // namespace pintle::host
