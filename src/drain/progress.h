// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far the controller is with what one node's agent has asked for, and what comes next.  Pure: NodeDrain does what
// is decided here.
//
// The Node is what counts.  Each look at it says what is asked, whether the node is cordoned and since when it is
// drained; whatever was under way for something else ends there.  Since the clock is on the Node, too, a controller
// that has just started goes on where another one was.

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
  std::string misunderstood = {};  // What was told of already.
};
struct Cordoning {  // It is cordoned and the clock is started, in one write.
  Request request;
  int failures = 0;
};
struct Evicting {
  Request request;
  WallTime started;  // The drain.
  bool is_slow;      // It had been failing for so long when this attempt began.
};
struct Pausing {
  Request request;
  WallTime started;
};
struct Answering {  // The agent is told that it is done.
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
struct Seen {  // The Node, as it is now.
  View view;
};
struct PodsGone {};
struct Uncordoned {
  bool stays_cordoned = false;  // Since somebody wanted it so before there was a drain.
};
struct AttemptFailed {
  std::string why;
};
struct WriteFailed {
  std::string why;
};
struct TimeIsUp {};  // Of a pause, be it between attempts or before another write.
}  // namespace happened

using Event = std::variant<happened::Seen, happened::PodsGone, happened::Uncordoned, happened::AttemptFailed,
                           happened::WriteFailed, happened::TimeIsUp>;

// What people are told.
namespace news {
struct Misunderstood {
  std::string what;
};
struct Cordoning {
  bool again;  // Somebody has uncordoned the node in the middle.
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
  bool is_slow;  // Of which the others are told, too.
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
struct Withdrawn {};  // The agent asks for nothing any more.
}  // namespace news

using News = std::variant<news::Misunderstood, news::Cordoning, news::Cordoned, news::CordonFailed, news::Draining,
                          news::AttemptFailed, news::Overdue, news::Drained, news::Uncordoning, news::Uncordoned,
                          news::UncordonFailed, news::AnswerFailed, news::Answered, news::Withdrawn>;

// What is done next.  Whatever was under way before ends.
enum class Command {
  kNothing,
  kCordon,
  kEvict,
  kAnswer,  // Once people know the news.
  kUncordon,
  kWait,
};

struct Transition {
  Phase next;
  std::vector<News> news;
  Command command = Command::kNothing;
  Settings::Time wait = {};  // For kWait.
};

// Nothing: what has happened changes nothing.
std::optional<Transition> Advance(const Phase& phase, const Event& event, const Settings& settings, WallTime now);

// What is worked on.
std::optional<Request> RequestOf(const Phase& phase);

}  // namespace pintle::drain
