// SPDX-License-Identifier: Apache-2.0
#include "agent/check_program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/first_characters.h"
#include "base/unique_fd.h"
#include "host/program.h"
#include "host/spawning.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostOutput = 4096;  // Counted in bytes, from the end of the output.
constexpr std::size_t kLongestLine = 300;  // Counted in characters.
// After the end of the program, at most this many bytes of its output are read.  A pipe holds no more, but processes
// that the program has left behind may go on writing.
constexpr std::size_t kMostLastOutput = 64 << 10;

// The pipe does not block: processes that the program leaves running may hold its other end open for ever.
Result<host::Pipe> MakeStderrPipe() {
  host::Pipe pipe = TRY(host::MakePipe());
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return Error::FromErrno("fcntl");
  return pipe;
}

// A descriptor that becomes readable when a stop is requested.
class StopFd {
 public:
  explicit StopFd(const std::stop_token& stop)
      : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, Ring{fd_.get()}) {}
  int get() const { return fd_.get(); }

 private:
  struct Ring {
    void operator()() const { static_cast<void>(::eventfd_write(fd, 1)); }  // Fails only if eventfd() has failed.
    int fd;
  };
  UniqueFd fd_;
  std::stop_callback<Ring> callback_;
};

// Appends up to `most` of the bytes that can be read now, and keeps only the end of `output`.  Returns false when no
// more will come.
bool ReadAvailable(int fd, std::size_t most, std::string& output) {
  std::array<char, 4096> buffer;
  for (std::size_t done = 0; done < most;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 && errno == EAGAIN;
    done += static_cast<std::size_t>(count);
    output.append(buffer.data(), static_cast<std::size_t>(count));
    if (output.size() > kMostOutput) output.erase(0, output.size() - kMostOutput);
  }
  return true;
}

std::string LastLine(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  text.remove_prefix(text.rfind('\n') + 1);  // If there is no newline, npos + 1 is 0.
  return FirstCharacters(text, kLongestLine);
}

enum class End { kByItself, kTooLate, kStopped };

// Waits until the program ends, a stop is requested, or the time limit has passed.  Collects the end of the output.
Result<End> Await(int process, int stop, UniqueFd& stderr_pipe, milliseconds limit, std::string& output) {
  const MonotonicTime deadline = SystemClock().Monotonic() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - SystemClock().Monotonic());
    if (left <= milliseconds(0)) return End::kTooLate;
    std::array<pollfd, 3> polled = {{{process, POLLIN, 0},
                                     {stop, POLLIN, 0},
                                     {stderr_pipe.get(), POLLIN, 0}}};  // poll() skips a closed descriptor.
    const auto patience = std::min(left, milliseconds(std::chrono::hours(1)));
    if (::poll(polled.data(), polled.size(), static_cast<int>(patience.count())) < 0) {
      if (errno == EINTR) continue;
      return Error::FromErrno("poll");
    }
    // A program that writes all the time must not keep us from looking at the clock.
    if (stderr_pipe && polled[2].revents != 0 && !ReadAvailable(stderr_pipe.get(), kMostOutput, output)) {
      stderr_pipe.Reset();
    }
    if (polled[1].revents != 0) return End::kStopped;
    if (polled[0].revents != 0) return End::kByItself;
  }
}

std::string FailureText(int status, const std::string& output) {
  std::string text = WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                         : fmt::format("failed with status {}", WEXITSTATUS(status));
  const std::string line = LastLine(output);
  if (!line.empty()) text += fmt::format(": {}", line);
  return text;
}

Result<std::optional<std::string>> Run(const std::string& path, milliseconds limit, const std::stop_token& stop) {
  const StopFd stopped(stop);
  if (stopped.get() < 0) return Error::FromErrno("eventfd");
  host::Pipe stderr_pipe = TRY(MakeStderrPipe());
  const pid_t pid = TRY(host::Start({{path}, host::PlainEnvironment(), std::nullopt, stderr_pipe.write.get()}));
  stderr_pipe.write.Reset();
  const auto process = host::OpenProcess(pid);
  std::string output;
  const Result<End> end =
      process ? Await(process->get(), stopped.get(), stderr_pipe.read, limit, output) : process.error();
  // The process is reaped only after this call, so its id cannot have been given to another process.
  ::kill(-pid, SIGKILL);
  const int status = host::Reap(pid);
  if (!end) return end.error();
  if (stderr_pipe.read) ReadAvailable(stderr_pipe.read.get(), kMostLastOutput, output);
  if (*end == End::kStopped) return Error(ErrorKind::kCancelled, "the health check was cancelled");
  if (*end == End::kTooLate) return fmt::format("took longer than {} s", std::chrono::duration<double>(limit).count());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  return FailureText(status, output);
}

}  // namespace

Result<std::optional<std::string>> RunCheck(const std::string& path, milliseconds limit, const std::stop_token& stop) {
  auto ran = Run(path, limit, stop);
  if (ran || ran.error().kind() == ErrorKind::kCancelled) return ran;
  return fmt::format("could not be run: {}", ran.error().message());
}

}  // namespace pintle::agent
