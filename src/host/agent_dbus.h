// SPDX-License-Identifier: Apache-2.0
#pragma once

// What others see of the agent over the system bus, and how a program of ours asks it.
//
// The agent has a property for each field of AgentStatus that anyone may see, tells what changed with
// PropertiesChanged, and has a method for each AgentOrder.  A change of state or reason is also the signal
// StateChanged(state, reason), and each new thing that it does is Progress(doing), as is, once a second at most, how
// far that has come.
//
// Who logs in, and from where, is for root: the method ListLogins() returns it, and the signal LoginsChanged() says
// that there is another, but not who.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/fields.h"

namespace pintle::host {

inline constexpr const char* kAgentName = "io.pintle.Agent1";
inline constexpr const char* kAgentPath = "/io/pintle/Agent1";
inline constexpr const char* kAgentInterface = "io.pintle.Agent1";
inline constexpr const char* kAgentStateChanged = "StateChanged";
inline constexpr const char* kAgentProgress = "Progress";
inline constexpr const char* kAgentListLogins = "ListLogins";
inline constexpr const char* kAgentLoginsType = "a(sss)";
inline constexpr const char* kAgentLoginsChanged = "LoginsChanged";
// The error of an order that could not be carried out; its message says why.
inline constexpr const char* kAgentFailed = "io.pintle.Error.Failed";

// Where the agent gets from what its machine should be.
enum class AgentSource { kKubernetes, kLocal };

// As the Machine Config Operator calls it.
enum class AgentState { kDone, kWorking, kDegraded, kUnreconcilable };

enum class AgentPhase {
  kStarting,
  kSettled,  // The machine is as it should be.
  kChecking,
  kDraining,
  kChanging,
  kRebooting,
  kConfirming,  // The new boot is looked at before the change counts as done.
  kUndoing,
  kDegraded,
  kPaused,
};

// A login over SSH.
struct AgentLogin {
  std::string user;
  std::string from;  // The other machine, if that is known.
  std::string when;  // RFC 3339.

  static constexpr auto kFields = json::FieldList{
      json::Required{"user", &AgentLogin::user},
      json::Required{"from", &AgentLogin::from},
      json::Required{"when", &AgentLogin::when},
  };
};

inline constexpr std::size_t kAgentLogins = 20;

struct AgentStatus {
  AgentSource source = AgentSource::kLocal;
  std::string node;
  std::string current;  // The names of the configs.
  std::string desired;
  std::optional<std::string> current_image;
  std::optional<std::string> desired_image;
  AgentState state = AgentState::kWorking;
  std::string reason;
  AgentPhase phase = AgentPhase::kStarting;
  std::string since;  // When the phase began, RFC 3339.
  std::string doing;  // One line: this moment.
  std::string next;   // One line: what comes after it, and when.
  std::uint32_t findings = 0;
  std::vector<std::string> warnings;  // What a person should know of, and that stops nothing.
  std::string left_aside;             // What of the config this machine cannot have, and why.
  // The newest since the boot, oldest first; nothing: who asks may not see them.
  std::optional<std::vector<AgentLogin>> logins;

  static constexpr auto kFields = json::FieldList{
      json::Required{"source", &AgentStatus::source},
      json::Required{"node", &AgentStatus::node},
      json::Required{"current", &AgentStatus::current},
      json::Required{"desired", &AgentStatus::desired},
      json::Field{"currentImage", &AgentStatus::current_image},
      json::Field{"desiredImage", &AgentStatus::desired_image},
      json::Required{"state", &AgentStatus::state},
      json::Required{"reason", &AgentStatus::reason},
      json::Required{"phase", &AgentStatus::phase},
      json::Required{"since", &AgentStatus::since},
      json::Required{"doing", &AgentStatus::doing},
      json::Required{"next", &AgentStatus::next},
      json::Required{"findings", &AgentStatus::findings},
      json::Required{"warnings", &AgentStatus::warnings},
      json::Field{"leftAside", &AgentStatus::left_aside},
      json::Field{"logins", &AgentStatus::logins},
  };
};

// Fields of this type are no properties, since everyone may read those.
template <typename T>
inline constexpr bool kIsForRoot = false;
template <>
inline constexpr bool kIsForRoot<std::optional<std::vector<AgentLogin>>> = true;

// A field's name as that of a property: "CurrentImage".
std::string AgentProperty(std::string_view field);

enum class AgentOrder {
  kCheck,  // Look at everything now.
  kRetry,  // Try again now what has failed.
  kPause,  // Change nothing until kResume; for a machine without a cluster.
  kResume,
};

// kNotFound when no agent runs.
Result<AgentStatus> AskAgent();

// The agent may refuse it, or not manage it.  A person may be asked for a password meanwhile.
Result<> TellAgent(AgentOrder order);

// Calls `changed` now, and each time after something has changed, until it returns false.  What it gets is what
// AskAgent returns: while there is no agent, kNotFound.  An error is the bus's own.
Result<> FollowAgent(const std::function<bool(const Result<AgentStatus>&)>& changed);

}  // namespace pintle::host

namespace pintle::json {

template <>
inline constexpr auto kNames<host::AgentSource> = std::array{
    std::pair{host::AgentSource::kKubernetes, "kubernetes"},
    std::pair{host::AgentSource::kLocal, "local"},
};

template <>
inline constexpr auto kNames<host::AgentState> = std::array{
    std::pair{host::AgentState::kDone, "Done"},
    std::pair{host::AgentState::kWorking, "Working"},
    std::pair{host::AgentState::kDegraded, "Degraded"},
    std::pair{host::AgentState::kUnreconcilable, "Unreconcilable"},
};

template <>
inline constexpr auto kNames<host::AgentPhase> = std::array{
    std::pair{host::AgentPhase::kStarting, "starting"},     std::pair{host::AgentPhase::kSettled, "settled"},
    std::pair{host::AgentPhase::kChecking, "checking"},     std::pair{host::AgentPhase::kDraining, "draining"},
    std::pair{host::AgentPhase::kChanging, "changing"},     std::pair{host::AgentPhase::kRebooting, "rebooting"},
    std::pair{host::AgentPhase::kConfirming, "confirming"}, std::pair{host::AgentPhase::kUndoing, "undoing"},
    std::pair{host::AgentPhase::kDegraded, "degraded"},     std::pair{host::AgentPhase::kPaused, "paused"},
};

// As the methods are called.
template <>
inline constexpr auto kNames<host::AgentOrder> = std::array{
    std::pair{host::AgentOrder::kCheck, "Check"},
    std::pair{host::AgentOrder::kRetry, "Retry"},
    std::pair{host::AgentOrder::kPause, "Pause"},
    std::pair{host::AgentOrder::kResume, "Resume"},
};

}  // namespace pintle::json
