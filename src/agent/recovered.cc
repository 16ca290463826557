// SPDX-License-Identifier: Apache-2.0
#include "agent/recovered.h"

#include "base/log.h"
#include "change/records.h"

namespace pintle::agent {

void RecordRecovery(const std::optional<change::Change>& pending, const change::Recovered& recovered) {
  using enum change::Recovery;
  if (!pending || (recovered.how != kFinished && recovered.how != kUndone)) return;
  log::Record(change::RecordOfRecovery({"recover", pending->from, pending->to}, recovered));
}

happened::Recovered MeaningOf(const change::Recovered& recovered, const std::optional<change::Change>& pending) {
  using How = happened::Recovered::How;
  happened::Recovered meaning;
  if (pending) meaning.goal = Goal{pending->to, pending->to_image};
  switch (recovered.how) {
    case change::Recovery::kNothingToDo:
    case change::Recovery::kFinished:
      meaning.how = How::kEnded;
      break;
    case change::Recovery::kUndone:
      meaning.how = How::kUndone;
      break;
    case change::Recovery::kToBeConfirmed:
      meaning.how = How::kToBeConfirmed;
      break;
    case change::Recovery::kRebootNeeded:
    case change::Recovery::kRebootNeededToUndo:
      meaning.undoes = recovered.how == change::Recovery::kRebootNeededToUndo;
      meaning.how = How::kRebootNeeded;
      break;
  }
  return meaning;
}

std::optional<Rejection> RejectionFrom(const std::optional<change::Rejected>& rejected) {
  if (!rejected) return std::nullopt;
  return Rejection{{rejected->config, rejected->image}, rejected->why};
}

}  // namespace pintle::agent
