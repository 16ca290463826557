// SPDX-License-Identifier: Apache-2.0
#include "ctl/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <utility>

#include "base/thread.h"
#include "change/masking.h"
#include "ctl/output.h"

namespace pintle::ctl {
namespace {

using change::Printable;

constexpr int kPatienceInMilliseconds = 1000;

// Says it unless it is over before that.
void SayAfterAWhile(const UniqueFd& over, const std::string& doing) {
  pollfd end = {.fd = over.get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, kPatienceInMilliseconds) == 0) Tell(Printable(doing) + " ...\n");
}

}  // namespace

ProgressLines::ProgressLines() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLines::Begin(std::string_view doing) {
  Stop();
  int ends[2];
  if (!is_terminal_ || ::pipe2(ends, O_CLOEXEC) != 0) return;
  stop_ = UniqueFd(ends[1]);
  auto watch = StartThread([over = UniqueFd(ends[0]), text = std::string(doing)] { SayAfterAWhile(over, text); });
  // Where there can be no more threads, the change itself goes on, without a word of how far it is.
  if (watch) watch_ = *std::move(watch);
}

void ProgressLines::Stop() {
  stop_ = UniqueFd();
  if (watch_.joinable()) watch_.join();
}

}  // namespace pintle::ctl
