// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state machine of one node's drain: the phases of a request by the node's agent, and the next command in each.
// The functions are pure; NodeDrain carries out the commands.
//
// The Node has the whole state: the request, whether the node is cordoned, and since when it is being drained.  If the
// request has changed, the work for the old one ends.  A controller that has just started continues where another
// controller stopped.

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "drain/protocol.h"
#include "drain/settings.h"

namespace pintle::drain {

namespace phase {
struct Idle {
  std::string misunderstood = {};  // The error about a malformed request, if it was reported already.
};
struct Cordoning {  // Cordons the node and writes the start time, in one patch.
  Request request;
  int failures = 0;  // The number of failed writes.
};
struct Evicting {  // Makes one attempt to evict the pods.
  Request request;
  WallTime started;  // The start of the drain.
  bool is_slow;      // The drain had been failing for `slow_after` when this attempt began.
};
struct Pausing {  // Waits before the next attempt to evict.
  Request request;
  WallTime started;
};
struct Answering {  // Writes to the Node that the request is done.
  Request request;
  int failures = 0;
};
struct Uncordoning {
  Request request;
  int failures = 0;
};
}  // namespace phase

using Phase =
    std::variant<phase::Idle, phase::Cordoning, phase::Evicting, phase::Pausing, phase::Answering, phase::Uncordoning>;

namespace happened {
struct Seen {  // There is a new version of the Node.
  DrainState state;
};
struct PodsGone {};
struct Uncordoned {
  bool stays_cordoned = false;  // Somebody else had cordoned the node before the drain.
};
struct AttemptFailed {
  std::string why;
};
struct WriteFailed {
  std::string why;
};
struct TimeIsUp {};  // The pause between two attempts or writes is over.
}  // namespace happened

using Event = std::variant<happened::Seen, happened::PodsGone, happened::Uncordoned, happened::AttemptFailed,
                           happened::WriteFailed, happened::TimeIsUp>;

// The news that is published as log messages, Events and metrics.
namespace news {
struct Misunderstood {
  std::string why;
};
struct Cordoning {
  bool again;  // True if somebody uncordoned the node during the drain.
};
struct Cordoned {
  Request request;
};
struct CordonFailed {
  std::string why;
};
struct Draining {
  Request request;
  WallTime started;
};
struct AttemptFailed {
  std::string why;
  Request request;
  Settings::Time pause;
  bool is_slow;  // The pauses are long by now, and an Event is emitted as well.
};
struct Overdue {
  WallTime started;
};
struct Drained {
  Request request;
};
struct Uncordoning {};
struct Uncordoned {
  bool stays_cordoned;
};
struct UncordonFailed {
  std::string why;
};
struct AnswerFailed {
  std::string why;
};
struct Answered {
  Request request;
};
struct Withdrawn {};  // The agent has withdrawn its request.
}  // namespace news

using News = std::variant<news::Misunderstood, news::Cordoning, news::Cordoned, news::CordonFailed, news::Draining,
                          news::AttemptFailed, news::Overdue, news::Drained, news::Uncordoning, news::Uncordoned,
                          news::UncordonFailed, news::AnswerFailed, news::Answered, news::Withdrawn>;

// The next command.  The command that was under way before is stopped.
enum class Command {
  kNothing,
  kCordon,
  kEvict,
  kAnswer,  // Answers the agent after the news has been published.
  kUncordon,
  kWait,
};

struct Transition {
  Phase next;
  std::vector<News> news;
  Command command = Command::kNothing;
  Settings::Time wait = {};  // The duration, for kWait.
};

// Returns nullopt if the event changes nothing.
std::optional<Transition> Advance(const Phase& phase, const Event& event, const Settings& settings, WallTime now);

// Returns the request that a phase is about.
std::optional<Request> RequestOf(const Phase& phase);

}  // namespace pintle::drain
