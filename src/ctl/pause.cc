// SPDX-License-Identifier: Apache-2.0
#include "ctl/pause.h"

#include <unistd.h>

#include <string_view>

#include "base/root.h"
#include "ctl/output.h"
#include "ctl/verbs.h"
#include "host/agent_dbus.h"
#include "host/pause.h"

namespace pintle::ctl {
namespace {

// An agent that runs is asked: it knows who may do this, and whether it is for this machine to say.  What it makes or
// removes then is the same file.
Result<> Order(host::AgentOrder order, Result<> put_file(const Root& root)) {
  const Result<> told = host::TellAgent(order);
  if (told || told.error().kind() != ErrorKind::kNotFound) return told;
  if (::geteuid() != 0) return Error(ErrorKind::kInvalid, "no agent runs here that could be asked, so be root");
  return put_file(TRY(Root::Open("/")));
}

Result<ExitStatus> Run(const CommandLine& line, host::AgentOrder order, Result<> put_file(const Root& root),
                       std::string_view done) {
  if (!line.words().empty()) return Error(ErrorKind::kInvalid, "it takes no words");
  TRY(Order(order, put_file));
  Print(done);
  return ExitStatus::kFine;
}

}  // namespace

Result<ExitStatus> Pause(const CommandLine& line) {
  return Run(line, host::AgentOrder::kPause, host::Pause,
             "The agent changes nothing on this machine until `pintle resume`.\n");
}

Result<ExitStatus> Resume(const CommandLine& line) {
  return Run(line, host::AgentOrder::kResume, host::Resume, "The agent may change this machine again.\n");
}

}  // namespace pintle::ctl
