// SPDX-License-Identifier: Apache-2.0
#include "ctl/orders.h"

#include <unistd.h>

#include <string_view>

#include "base/root.h"
#include "ctl/output.h"
#include "ctl/verbs.h"
#include "host/agent_dbus.h"
#include "host/pause.h"

namespace pintle::ctl {
namespace {

using host::AgentOrder;

// Sends an order to a running agent, which knows who may give it, and whether this machine may decide that.
Result<ExitStatus> Order(const CommandLine& line, AgentOrder order, std::string_view done) {
  if (!line.words().empty()) return Error(ErrorKind::kInvalid, "it takes no words");
  TRY(host::SendToAgent(order));
  Print(done);
  return ExitStatus::kFine;
}

// Sends the order, or without an agent puts the same file that an agent would make or remove.
Result<ExitStatus> OrderOrPut(const CommandLine& line, AgentOrder order, Result<> put_file(const Root& root),
                              std::string_view done) {
  Result<ExitStatus> told = Order(line, order, done);
  if (told || told.error().kind() != ErrorKind::kNotFound) return told;
  if (::geteuid() != 0) return Error(ErrorKind::kInvalid, "no agent runs here that could be asked, so be root");
  TRY(put_file(TRY(Root::Open("/"))));
  Print(done);
  return ExitStatus::kFine;
}

}  // namespace

Result<ExitStatus> Check(const CommandLine& line) {
  return Order(line, AgentOrder::kCheck, "The agent looks at everything; `pintle status` shows what it finds.\n");
}

Result<ExitStatus> Retry(const CommandLine& line) {
  return Order(line, AgentOrder::kRetry, "The agent tries again what has failed; `pintle status` shows how it goes.\n");
}

Result<ExitStatus> Pause(const CommandLine& line) {
  return OrderOrPut(line, AgentOrder::kPause, host::Pause,
                    "The agent changes nothing on this machine until `pintle resume`.\n");
}

Result<ExitStatus> Resume(const CommandLine& line) {
  return OrderOrPut(line, AgentOrder::kResume, host::Resume, "The agent may change this machine again.\n");
}

}  // namespace pintle::ctl
