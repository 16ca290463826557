// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/rpm_ostree_transaction_dbus.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "host/systemd/types_dbus.h"

namespace pintle::host {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Unlike Bus, this does not flush: flushing could wait for a daemon that does not read.
using PeerBus = CPtr<sd_bus, sd_bus_close_unref>;

constexpr const char* kInterface = "org.projectatomic.rpmostree1.Transaction";
constexpr auto kTransactionCallPatience = seconds(90);
constexpr auto kTransactionPollInterval = seconds(10);  // Every relevant event ends the wait earlier.
constexpr auto kCancelPatience = seconds(60);           // The time for the daemon to clean up.
constexpr std::uint32_t kWhole = 100;
constexpr std::size_t kLongestPart = 200;  // In bytes.

// Returns the time after which sd-bus wants to be called again.
milliseconds TimeoutOf(sd_bus* bus) {
  std::uint64_t at = 0;
  if (::sd_bus_get_timeout(bus, &at) <= 0 || at == UINT64_MAX) return milliseconds::max();
  const auto now = std::chrono::duration_cast<microseconds>(SystemClock().Monotonic().time_since_epoch());
  const auto left = microseconds(static_cast<std::int64_t>(at)) - now;
  return std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0));
}

pollfd EventsOf(sd_bus* bus) {
  const int events = bus == nullptr ? 0 : ::sd_bus_get_events(bus);
  return pollfd{bus == nullptr ? -1 : ::sd_bus_get_fd(bus), static_cast<short>(std::max(events, 0)), 0};
}

class FollowedTransaction {
 public:
  FollowedTransaction(const WatchedDaemon& daemon, const RpmOstreeSettings& settings)
      : daemon_(daemon), settings_(settings) {}

  Result<TransactionEnd> Follow(const std::string& address) {
    Result<Bus> bus = OpenPeer(address);
    if (!bus) return ConnectionLost();
    bus_.reset(bus->release());
    const int result =
        ::sd_bus_match_signal(bus_.get(), Out(slot_), nullptr, "/", kInterface, nullptr, &OnSignal, this);
    if (result < 0) return ConnectionLost();
    if (!Call("Start", kTransactionCallPatience)) return ConnectionLost();
    return AwaitEnd();
  }

 private:
  struct Outcome {
    bool is_success;
    std::string text;
  };

  // Returns the result for a lost connection.  The transaction or the daemon may have ended.
  Result<TransactionEnd> ConnectionLost() {
    // ProcessAll() is only to update is_gone.  Its error can be ignored, since the next call on this bus returns it,
    // too.
    static_cast<void>(ProcessAll(daemon_.bus));
    if (daemon_.is_gone) return DaemonEnded();
    return TransactionEnd::kConnectionLost;
  }

  bool Call(const char* method, microseconds patience) {
    Message call, answer;
    int result = ::sd_bus_message_new_method_call(bus_.get(), Out(call), nullptr, "/", kInterface, method);
    const auto timeout = static_cast<std::uint64_t>(patience.count());
    if (result >= 0) result = ::sd_bus_call(bus_.get(), call.get(), timeout, nullptr, Out(answer));
    return result >= 0;
  }

  Result<TransactionEnd> AwaitEnd() {
    for (;;) {
      const bool is_lost = ProcessAll(bus_.get()) < 0;
      if (outcome_) return Ended();
      if (is_lost) return ConnectionLost();
      const int result = ProcessAll(daemon_.bus);
      if (result < 0) return BusError().ToError(result).While("waiting for rpm-ostree");
      if (daemon_.is_gone) return DaemonEnded();
      if (settings_.stop.stop_requested() && !cancel_deadline_) {
        // The error is ignored, since the outcome of the transaction is what counts.
        static_cast<void>(Call("Cancel", kTransactionCallPatience));
        cancel_deadline_ = SystemClock().Monotonic() + kCancelPatience;
        continue;
      }
      if (cancel_deadline_ && SystemClock().Monotonic() > *cancel_deadline_) {
        return Error(ErrorKind::kCancelled, "rpm-ostree has not reacted to the request to cancel its transaction");
      }
      TRY(AwaitEither(bus_.get(), daemon_.bus, cancel_deadline_ ? std::stop_token() : settings_.stop,
                      kTransactionPollInterval));
    }
  }

  Result<TransactionEnd> Ended() const {
    if (outcome_->is_success) return TransactionEnd::kDone;
    if (cancel_deadline_) return Error(ErrorKind::kCancelled, "the transaction was cancelled");
    return Error(ErrorKind::kSystem, outcome_->text.empty() ? "rpm-ostree gives no reason" : OneLine(outcome_->text));
  }

  static int OnSignal(sd_bus_message* message, void* self, sd_bus_error*) {
    static_cast<FollowedTransaction*>(self)->ReadSignal(message);
    return 0;
  }

  void ReadSignal(sd_bus_message* message) {
    const std::string_view member = ::sd_bus_message_get_member(message);
    const char* text = nullptr;
    if (member == "Finished") {
      int is_success = 0;
      if (::sd_bus_message_read(message, "bs", &is_success, &text) >= 0) outcome_ = Outcome{is_success != 0, text};
    } else if (!settings_.report) {
      return;
    } else if (member == "Message" || member == "TaskBegin") {
      if (::sd_bus_message_read(message, "s", &text) >= 0) ReportProgress(text, std::nullopt);
    } else if (member == "PercentProgress") {
      std::uint32_t percent = 0;
      if (::sd_bus_message_read(message, "su", &text, &percent) >= 0) {
        ReportProgress(text, std::min(percent, kWhole));
      }
    }
  }

  // The text may contain the URL of a download, with a password.
  void ReportProgress(const char* text, std::optional<std::uint32_t> percent) const {
    const std::string part = OneLine(WithoutUrlPasswords(text, "***"));
    settings_.report(
        {.doing = {}, .part = Shortened(part.empty() ? "rpm-ostree" : part, kLongestPart), .percent = percent});
  }

  const WatchedDaemon& daemon_;
  const RpmOstreeSettings& settings_;
  PeerBus bus_;
  Slot slot_;
  std::optional<Outcome> outcome_;
  std::optional<MonotonicTime> cancel_deadline_;
};

}  // namespace

Error DaemonEnded() {
  return Error(ErrorKind::kUnavailable,
               "rpm-ostree's daemon ended before the transaction did; see `journalctl -u rpm-ostreed`");
}

int ProcessAll(sd_bus* bus) {
  int result = 0;
  while ((result = ::sd_bus_process(bus, nullptr)) > 0) {
  }
  return result;
}

Result<TransactionEnd> FollowTransaction(const std::string& address, const WatchedDaemon& daemon,
                                         const RpmOstreeSettings& settings) {
  return FollowedTransaction(daemon, settings).Follow(address);
}

Result<> AwaitEither(sd_bus* first, sd_bus* second, const std::stop_token& stop, milliseconds timeout) {
  const UniqueFd stopped(::eventfd(0, EFD_CLOEXEC));
  if (!stopped) return Error::FromErrno("eventfd");
  const std::stop_callback on_stop(stop, [&] { static_cast<void>(::eventfd_write(stopped.get(), 1)); });
  for (sd_bus* bus : {first, second}) {
    if (bus != nullptr) timeout = std::min(timeout, TimeoutOf(bus));
  }
  std::array<pollfd, 3> ends{EventsOf(first), EventsOf(second), pollfd{stopped.get(), POLLIN, 0}};
  if (::poll(ends.data(), ends.size(), static_cast<int>(timeout.count())) < 0 && errno != EINTR) {
    return Error::FromErrno("poll");
  }
  return {};
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const auto is_doubled = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), is_doubled), text.end());
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace pintle::host
