// SPDX-License-Identifier: Apache-2.0
#include "ctl/verify.h"

#include <fmt/core.h>

#include "change/current_config.h"
#include "change/journal.h"
#include "ctl/drift.h"
#include "ctl/output.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "json/parse.h"

namespace pintle::ctl {

Result<ExitStatus> Verify(const CommandLine& line) {
  const bool wants_json = TRY(WantsJson(line));
  if (!line.words().empty()) return Error(ErrorKind::kInvalid, "it takes no words, and looks at all there is");
  const Machine machine = TRY(Machine::Of(line));
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  const Drifts drifts = TRY(FindDrifts(machine, config));
  // It explains the findings, and it is something to do even if there are none.
  const auto pending = TRY(change::Journal(machine.root()).Read());
  if (pending) Tell(fmt::format("pintle: verify: {}\n", PendingText(*pending, machine)));
  if (wants_json) {
    Print(json::ToIndentedText(json::Encode(drifts)) + "\n");
  } else if (drifts.all.empty()) {
    Print(change::IsNoConfig(config.object) ? "This machine has no config.\n"
                                            : fmt::format("This machine is as {} says.\n", drifts.config));
  } else {
    Print(DriftsText(drifts));
  }
  return drifts.all.empty() && !pending ? ExitStatus::kFine : ExitStatus::kDiffers;
}

}  // namespace pintle::ctl
