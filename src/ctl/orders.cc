// SPDX-License-Identifier: Apache-2.0
#include "ctl/orders.h"

#include <unistd.h>

#include <string_view>

#include "base/output.h"
#include "base/root.h"
#include "ctl/verbs.h"
#include "host/agent_dbus.h"
#include "host/pause.h"

namespace pintle::ctl {
namespace {

using host::AgentOrder;

// Sends an order to the running agent.  The agent refuses an order that the caller may not give, or that is not allowed
// on this machine.
Result<ExitStatus> SendOrder(const CommandLine& line, AgentOrder order, std::string_view message) {
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  TRY(host::SendToAgent(order));
  Print(message);
  return ExitStatus::kSuccess;
}

// Sends an order to the running agent, which makes or removes the file of the pause.  If no agent runs, `put_file` does
// so.
Result<ExitStatus> SendOrderOrPutFile(const CommandLine& line, AgentOrder order, Result<> put_file(const Root& root),
                                      std::string_view message) {
  Result<ExitStatus> sent = SendOrder(line, order, message);
  if (sent || sent.error().kind() != ErrorKind::kNotFound) return sent;
  if (::geteuid() != 0)
    return Error(ErrorKind::kInvalid,
                 "no agent runs on this machine, and without one only root may do this; run it as root");
  TRY(put_file(TRY(Root::Open("/"))));
  Print(message);
  return ExitStatus::kSuccess;
}

}  // namespace

Result<ExitStatus> Check(const CommandLine& line) {
  return SendOrder(line, AgentOrder::kCheck,
                   "The agent checks everything now; `pintle status` reports what it finds.\n");
}

Result<ExitStatus> Retry(const CommandLine& line) {
  return SendOrder(line, AgentOrder::kRetry,
                   "The agent tries again what has failed; `pintle status` reports the progress.\n");
}

Result<ExitStatus> Pause(const CommandLine& line) {
  return SendOrderOrPutFile(line, AgentOrder::kPause, host::Pause,
                            "The agent changes nothing on this machine until `pintle resume`.\n");
}

Result<ExitStatus> Resume(const CommandLine& line) {
  return SendOrderOrPutFile(line, AgentOrder::kResume, host::Resume, "The agent may change this machine again.\n");
}

}  // namespace pintle::ctl
