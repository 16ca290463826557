// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's interface on the system bus, and functions with which our programs call it.
//
// The agent has a property for each field of AgentStatus that anyone may see, and a method for each AgentOrder.  It
// emits PropertiesChanged when a property changes, and StateChanged(state, reason) when one of `state` and `reason`
// changes.  It emits Progress(doing) when an activity begins, and at most once a second while the activity advances.
//
// Only root may know who logs in, and from where.  The method ListLogins() returns the logins to root; the signal
// LoginsChanged(), which everyone gets, does not name the user.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/field_list.h"

namespace pintle::host {

inline constexpr const char* kAgentName = "io.pintle.Agent1";
inline constexpr const char* kAgentPath = "/io/pintle/Agent1";
inline constexpr const char* kAgentInterface = "io.pintle.Agent1";
inline constexpr const char* kAgentStateChanged = "StateChanged";
inline constexpr const char* kAgentProgress = "Progress";
inline constexpr const char* kAgentListLogins = "ListLogins";
inline constexpr const char* kAgentLoginsType = "a(sss)";
inline constexpr const char* kAgentLoginsChanged = "LoginsChanged";
// The error for an order that could not be carried out; its message has the reason.
inline constexpr const char* kAgentFailed = "io.pintle.Error.Failed";

// The source of the machine's config.
enum class AgentSource { kKubernetes, kLocal };

// The states of a node, as the Machine Config Operator has them.
enum class AgentState { kDone, kWorking, kDegraded, kUnreconcilable };

enum class AgentPhase {
  kStarting,
  kSettled,  // The machine has its goal.
  kChecking,
  kDraining,
  kChanging,
  kRebooting,
  kConfirming,  // The agent checks the new boot before the change counts as done.
  kUndoing,
  kDegraded,
  kPaused,
};

// A login over SSH.
struct AgentLogin {
  std::string user;
  std::string from;  // The address of the other machine, or "" if it is not known.
  std::string when;  // RFC 3339.

  static constexpr auto kFields = json::FieldList{
      json::Required{"user", &AgentLogin::user},
      json::Required{"from", &AgentLogin::from},
      json::Required{"when", &AgentLogin::when},
  };
};

inline constexpr std::size_t kMostAgentLogins = 20;  // The number of logins that the agent keeps.

struct AgentStatus {
  AgentSource source = AgentSource::kLocal;
  std::string node;
  std::string current;  // The name of the config that the machine has.
  std::string desired;  // The name of the config that the machine is to have.
  std::optional<std::string> current_image;
  std::optional<std::string> desired_image;
  AgentState state = AgentState::kWorking;
  std::string reason;
  AgentPhase phase = AgentPhase::kStarting;
  std::string since;                  // The time at which the phase began, RFC 3339.
  std::string doing;                  // The current activity, in one line.
  std::string next;                   // The next activity and its time, in one line.
  std::uint32_t findings = 0;         // The number of findings.
  std::vector<std::string> warnings;  // Problems that a person should know of, and that do not stop the agent.
  std::string left_aside;             // The parts of the config that this machine cannot have, and why.
  // The newest logins since the boot, the oldest first; nullopt if the caller may not see them.
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

// Marks the types of fields that only root may read.  These fields are not properties, since everyone may read
// properties.
template <typename T>
inline constexpr bool kIsForRoot = false;
template <>
inline constexpr bool kIsForRoot<std::optional<std::vector<AgentLogin>>> = true;

// Returns the name of the property for a field, such as "CurrentImage".
std::string AgentProperty(std::string_view field);

enum class AgentOrder {
  kCheck,  // Check the whole machine now.
  kRetry,  // Retry failed work now.
  kPause,  // Change nothing until kResume, on a machine without a cluster.
  kResume,
};

// Returns the agent's status, or an error of the kind kNotFound if no agent runs.
Result<AgentStatus> ReadAgentStatus();

// Sends an order to the agent and waits for the answer.  The agent may refuse the order or fail.  During the call,
// polkit may ask a person for a password.
Result<> SendToAgent(AgentOrder order);

// Calls `on_status` with the agent's status now, and again after each change, until `on_status` returns false.  While
// no agent runs, the callback gets a kNotFound error instead.  FollowAgent() itself fails if the bus is gone, or if the
// status cannot be read for another reason.
Result<> FollowAgent(const std::function<bool(const Result<AgentStatus>&)>& on_status);

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

// These are the names of the D-Bus methods.
template <>
inline constexpr auto kNames<host::AgentOrder> = std::array{
    std::pair{host::AgentOrder::kCheck, "Check"},
    std::pair{host::AgentOrder::kRetry, "Retry"},
    std::pair{host::AgentOrder::kPause, "Pause"},
    std::pair{host::AgentOrder::kResume, "Resume"},
};

}  // namespace pintle::json
