// SPDX-License-Identifier: Apache-2.0
#include "ctl/history.h"

#include <functional>
#include <utility>
#include <vector>

#include "change/records.h"
#include "support/expect.h"

namespace pintle::ctl {
namespace {

using testing::SizeIs;

log::PastEntry Entry(const log::MessageId& id, std::string verb, std::string to, std::string outcome = "") {
  log::PastEntry entry;
  entry.at = ValueOf(FromRfc3339("2026-11-21T05:41:43Z"));
  entry.fields = {{"_UID", "0"},
                  {"MESSAGE_ID", std::string(id.hex())},
                  {change::record_field::kVerb, std::move(verb)},
                  {change::record_field::kTo, std::move(to)},
                  {change::record_field::kOutcome, std::move(outcome)}};
  return entry;
}

TEST(ChangesIn, CombinesABeginningWithItsEnd) {
  const log::PastEntry entries[] = {
      Entry(change::kChangeBegan, "apply", "a"), Entry(change::kChangeEnded, "apply", "a", "done"),
      Entry(change::kChangeBegan, "apply", "b"), Entry(change::kChangeFailed, "apply", "b", "failed")};
  const auto changes = ChangesIn(entries, "cut short");
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].outcome, "done");
  EXPECT_EQ(changes[0].at, "2026-11-21T05:41:43Z");
  EXPECT_EQ(changes[1].outcome, "failed");
}

TEST(ChangesIn, ReportsAChangeThatWasCutShortAndItsRecovery) {
  const log::PastEntry entries[] = {Entry(change::kChangeBegan, "apply", "a"),
                                    Entry(change::kRecovered, "recover", "a", "undone"),
                                    Entry(change::kChangeBegan, "apply", "a")};
  const auto changes = ChangesIn(entries, "cut short");
  ASSERT_THAT(changes, SizeIs(3));
  EXPECT_EQ(changes[0].outcome, "cut short");
  EXPECT_EQ(changes[1].outcome, "undone");
  EXPECT_EQ(changes[2].outcome, "cut short");
}

TEST(ChangesIn, ReportsOnlyTheLastChangeAsUnderWay) {
  const log::PastEntry entries[] = {Entry(change::kChangeBegan, "apply", "a"),
                                    Entry(change::kChangeBegan, "apply", "a")};
  const auto changes = ChangesIn(entries, OutcomeWithoutEnd(true));
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].outcome, "cut short");
  EXPECT_EQ(changes[1].outcome, "under way");
}

TEST(ChangesIn, LeavesOutEntriesOfOtherUsers) {
  log::PastEntry forged_end = Entry(change::kChangeEnded, "apply", "a", "done");
  forged_end.fields["_UID"] = "61184";
  log::PastEntry forged_begin = Entry(change::kChangeBegan, "apply", "b");
  forged_begin.fields["_UID"] = "1000";
  log::PastEntry without_sender = Entry(change::kRecovered, "recover", "c", "undone");
  without_sender.fields.erase("_UID");
  const log::PastEntry entries[] = {Entry(change::kChangeBegan, "apply", "a"), forged_end, forged_begin,
                                    without_sender};
  const auto changes = ChangesIn(entries, "cut short");
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].to, "a");
  EXPECT_EQ(changes[0].outcome, "cut short");
}

TEST(ChangesIn, ReportsAnEndAlsoWhileTheNextChangeHoldsTheClaim) {
  const log::PastEntry entries[] = {Entry(change::kChangeBegan, "apply", "a"),
                                    Entry(change::kChangeEnded, "apply", "a", "done")};
  const auto changes = ChangesIn(entries, OutcomeWithoutEnd(true));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].outcome, "done");
}

// A machine on which a change begins or ends while its journal is read.
struct BusyMachine {
  std::vector<log::PastEntry> entries;
  bool is_claimed = false;
  std::function<void()> next;  // Called once, between the look at the claim and that at the journal.

  std::vector<PastChange> Changes() {
    return ValueOf(ReadChanges({.is_claimed = [this]() -> Result<bool> {
                                  const bool was_claimed = is_claimed;
                                  if (const auto now = std::exchange(next, nullptr)) now();
                                  return was_claimed;
                                },
                                .entries = [this]() -> Result<std::vector<log::PastEntry>> { return entries; }}));
  }
};

TEST(ReadChanges, ReportsAChangeAsUnderWayThatBeginsMeanwhile) {
  BusyMachine machine;
  machine.next = [&] {
    machine.is_claimed = true;
    machine.entries.push_back(Entry(change::kChangeBegan, "apply", "a"));
  };
  const auto changes = machine.Changes();
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].outcome, "under way");
}

TEST(ReadChanges, ReportsTheEndOfAChangeThatEndsMeanwhile) {
  BusyMachine machine;
  machine.is_claimed = true;
  machine.entries.push_back(Entry(change::kChangeBegan, "apply", "a"));
  machine.next = [&] {
    machine.is_claimed = false;
    machine.entries.push_back(Entry(change::kChangeEnded, "apply", "a", "done"));
  };
  const auto changes = machine.Changes();
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].outcome, "done");
}

TEST(ReadChanges, ReportsAChangeThatNobodyMakesAsCutShort) {
  BusyMachine machine;
  machine.entries.push_back(Entry(change::kChangeBegan, "apply", "a"));
  const auto changes = machine.Changes();
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].outcome, "cut short");
}

TEST(OutcomeWithoutEnd, DependsOnTheClaim) {
  EXPECT_EQ(OutcomeWithoutEnd(true), "under way");
  EXPECT_EQ(OutcomeWithoutEnd(false), "cut short");
  EXPECT_EQ(OutcomeWithoutEnd(Error(ErrorKind::kInvalid, "denied")), "under way or cut short");
}

}  // namespace
}  // namespace pintle::ctl
