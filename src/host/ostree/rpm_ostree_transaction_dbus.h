// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows a transaction of rpm-ostree from its start to its end.
//
// rpm-ostree carries out each request in a transaction, which has a D-Bus socket of its own.  The transaction begins
// when a client starts it, and continues if that client goes away.  At its end, it reports whether it has succeeded.

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/ostree/activity_progress.h"

struct sd_bus;  // libsystemd's

namespace pintle::host {

// The settings of requests to rpm-ostree.
struct RpmOstreeSettings {
  std::stop_token stop = {};     // Cancels the transaction.
  ProgressCallback report = {};  // Gets rpm-ostree's messages as `part`.
  // The limit of the wait for someone else's transaction.
  std::chrono::milliseconds patience = std::chrono::minutes(10);
};

// The daemon of a transaction.  Once the daemon has ended, processing the messages of the bus sets `is_gone`.
struct WatchedDaemon {
  sd_bus* bus;
  const bool& is_gone;
};

enum class TransactionEnd {
  kDone,            // The transaction has succeeded.
  kConnectionLost,  // The connection was lost, and the transaction may continue.
};

// Starts the transaction, or joins it if it runs already, and waits for its end.  If the transaction fails, the error
// has rpm-ostree's message.  If it was cancelled, the error is kCancelled.  If the daemon is gone, the error is
// kUnavailable.
Result<TransactionEnd> FollowTransaction(const std::string& address, const WatchedDaemon& daemon,
                                         const RpmOstreeSettings& settings);

// Makes the error for a daemon that has ended in the middle of a transaction.
Error DaemonEnded();

// Processes all messages that have arrived.  Returns 0, or a negative errno if the connection is lost.
int ProcessAll(sd_bus* bus);

// Waits until a message arrives on one of the connections, a stop is requested, or `timeout` has passed.  A connection
// may be null.
Result<> AwaitEither(sd_bus* first, sd_bus* second, const std::stop_token& stop, std::chrono::milliseconds timeout);

// Joins the lines of a text with spaces.
std::string OneLine(std::string text);

}  // namespace pintle::host
