// SPDX-License-Identifier: Apache-2.0
#include "ctl/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/output.h"
#include "base/printable.h"
#include "base/thread.h"

namespace pintle::ctl {
namespace {

constexpr int kPatienceInMilliseconds = 1000;
constexpr std::size_t kUsualColumns = 80;

// Prints the text, unless the work ends within a short time.
void PrintAfterAWhile(const UniqueFd& end_pipe, const std::string& doing) {
  pollfd end = {.fd = end_pipe.get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, kPatienceInMilliseconds) == 0) PrintToStderr(Printable(doing) + " ...\n");
}

// Returns how many columns a line may take.
std::size_t Columns() {
  struct winsize size {};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // Some terminals begin another line when the last column is written.
  return (is_known ? size.ws_col : kUsualColumns) - 1;
}

}  // namespace

ProgressLines::ProgressLines() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLines::Update(const host::ActivityProgress& activity) {
  if (!is_terminal_) {
    if (const auto line = tenths_.LineOf(activity, SystemClock().Monotonic())) PrintToStderr(Printable(*line) + "\n");
    return;
  }
  EndWatch();
  if (!PartInWords(activity).empty()) return Draw(FittingLine(activity, Columns()));
  Erase();
  StartWatch(activity.doing);
}

void ProgressLines::StartWatch(const std::string& doing) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  stop_ = UniqueFd(ends[1]);
  auto watch = StartThread([end_pipe = UniqueFd(ends[0]), text = doing] { PrintAfterAWhile(end_pipe, text); });
  // If no thread can be started, the change goes on without this line.
  if (watch) watch_ = *std::move(watch);
}

// Draws the line over the previous one, and overwrites the rest of the previous line with blanks.  This works on every
// terminal.
void ProgressLines::Draw(const std::string& line) {
  const std::size_t columns = ColumnsOf(line);
  const std::size_t blanks = drawn_ > columns ? drawn_ - columns : 0;
  const std::string text = "\r" + line + std::string(blanks, ' ');
  std::fwrite(text.data(), 1, text.size(), stderr);
  drawn_ = columns;
}

void ProgressLines::Erase() {
  if (drawn_ == 0) return;
  Draw("");
  std::fputc('\r', stderr);
}

void ProgressLines::EndWatch() {
  stop_ = UniqueFd();
  if (watch_.joinable()) watch_.join();
}

void ProgressLines::Stop() {
  EndWatch();
  Erase();
}

}  // namespace pintle::ctl
