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
#include <utility>

#include "base/clock.h"
#include "base/printable.h"
#include "base/time_span.h"
#include "base/unique_fd.h"
#include "host/spawning.h"

namespace pintle::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostOutput = 64 << 20;          // In bytes.
constexpr std::size_t kMostErrors = 4096;              // In bytes, from the end of standard error.
constexpr auto kStopPollInterval = milliseconds(100);  // A request to stop is noticed after this time at the latest.
constexpr auto kGrace = seconds(10);  // The time between SIGTERM and SIGKILL, in which the program can clean up.
// After the program has ended, its output is read for at most this time.  A process that the program has left behind
// may keep the output open forever.
constexpr auto kLastOutput = seconds(2);

// Appends the bytes that can be read.  Returns false at the end of the output.
bool ReadSome(int fd, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

std::string OnOneLine(std::string text) {
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
  Pipe output = TRY(MakePipe(), doing()), errors = TRY(MakePipe(), doing());
  const pid_t pid = TRY(Start({program.words, program.environment, output.write.get(), errors.write.get()}), doing());
  output.write.Reset();
  errors.write.Reset();
  auto process = OpenProcess(pid);
  if (!process) {
    // We need the descriptor to notice the end of the program.
    ::kill(-pid, SIGKILL);
    Reap(pid);
    return std::move(process).error().While(doing());
  }

  std::string output_text, error_text;
  std::optional<MonotonicTime> kill_at, ended_at;
  bool is_too_long = false, is_too_late = false;
  const MonotonicTime began_at = SystemClock().Monotonic();
  MonotonicTime next_call = began_at + seconds(1);
  // The program may close its outputs long before it ends, and processes that it has started may write to them after it
  // has ended.
  while (output.read || errors.read || *process) {
    std::array<pollfd, 3> ends{pollfd{output.read.get(), POLLIN, 0}, pollfd{errors.read.get(), POLLIN, 0},
                               pollfd{process->get(), POLLIN, 0}};  // poll() skips a closed descriptor.
    if (::poll(ends.data(), ends.size(), static_cast<int>(kStopPollInterval.count())) < 0 && errno != EINTR) {
      const Error failure = Error::FromErrno("poll");
      ::kill(-pid, SIGKILL);
      Reap(pid);
      return Error(failure).While(doing());
    }
    if (ends[0].revents != 0 && !ReadSome(output.read.get(), output_text)) output.read.Reset();
    if (ends[1].revents != 0 && !ReadSome(errors.read.get(), error_text)) errors.read.Reset();
    if (ends[2].revents != 0) process->Reset();
    if (is_too_long) output_text.clear();  // The text is not used any more, but the program may go on writing.
    if (error_text.size() > kMostErrors) error_text.erase(0, error_text.size() - kMostErrors);
    is_too_long = is_too_long || output_text.size() > kMostOutput;
    const MonotonicTime now = SystemClock().Monotonic();
    if (each_second && now >= next_call) {
      each_second();
      next_call = now + seconds(1);
    }
    is_too_late = is_too_late || (*process && program.patience && now - began_at >= *program.patience);
    if ((stop.stop_requested() || is_too_long || is_too_late) && !kill_at) {
      ::kill(-pid, SIGTERM);
      kill_at = now + kGrace;
    }
    if (kill_at && now > *kill_at) ::kill(-pid, SIGKILL);
    if (*process) continue;
    if (!ended_at) ended_at = now;
    if (now > kill_at.value_or(*ended_at + kLastOutput)) break;
  }
  const int status = Reap(pid);
  if (stop.stop_requested()) return Error(ErrorKind::kCancelled, "it was cancelled").While(doing());
  if (is_too_late) {
    return Error(ErrorKind::kUnavailable,
                 fmt::format("it has not ended within {}; run it in a shell to find out what it waits for",
                             pintle::InWords(*program.patience)))
        .While(doing());
  }
  if (is_too_long) {
    return Error(ErrorKind::kInvalid, fmt::format("its output is longer than the limit of {} bytes", kMostOutput))
        .While(doing());
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output_text;
  const std::string end = WIFSIGNALED(status) ? fmt::format("it was ended by signal {}", WTERMSIG(status))
                                              : fmt::format("it failed with status {}", WEXITSTATUS(status));
  // A program may print the URL of a proxy, with the password that it got from us.
  const std::string reason = WithoutUrlPasswords(OnOneLine(std::move(error_text)), "***");
  return Error(ErrorKind::kSystem, reason.empty() ? end : Printable(reason)).While(doing());
}

std::vector<std::string> PlainEnvironment() {
  std::vector<std::string> environment = {fmt::format("PATH={}", kSearchPath), "HOME=/root", "LC_ALL=C.UTF-8"};
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}) {
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

}  // namespace pintle::host
