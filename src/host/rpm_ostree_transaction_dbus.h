// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transaction of rpm-ostree, from its start to its end.
//
// What rpm-ostree is asked to do it does in a transaction, which is talked to over a socket of its own, without the
// bus. It begins when a client says so, goes on when that client goes away, and says at its end whether it succeeded.

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/how_far.h"

struct sd_bus;  // libsystemd's

namespace pintle::host {

// How someone who has rpm-ostree do something wants to be treated.
struct RpmOstreeManners {
  std::stop_token stop = {};                                      // Cancels the transaction.
  TellHowFar tell = {};                                           // The part is said in rpm-ostree's words.
  std::chrono::milliseconds patience = std::chrono::minutes(10);  // With what someone else has it do.
};

// The daemon behind a transaction, as it is seen on the bus: `is_gone` becomes true while the bus is processed.
struct WatchedDaemon {
  sd_bus* bus;
  const bool& is_gone;
};

enum class TransactionEnd {
  kDone,
  kOutOfSight,  // The connection was lost.  It may go on.
};

// Starts the transaction, or joins it if it runs, and waits for its end.  A transaction that fails is an error with
// what rpm-ostree says about it; one whose daemon is gone is kUnavailable.
Result<TransactionEnd> FollowTransaction(const std::string& address, const WatchedDaemon& daemon,
                                         const RpmOstreeManners& manners);

// That the daemon has ended while it had something to do.
Error DaemonEnded();

// Handles all that has come on a connection; negative when the connection is gone.
int ProcessAll(sd_bus* bus);

// Waits until something comes on one of the connections, or it is asked to stop, but not longer than `most`.  Null
// connections never have anything.
Result<> AwaitEither(sd_bus* one, sd_bus* other, const std::stop_token& stop, std::chrono::milliseconds most);

// What someone else wrote in several lines, in one.
std::string OneLine(std::string text);

}  // namespace pintle::host
