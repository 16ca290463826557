// SPDX-License-Identifier: Apache-2.0
#include "ctl/history.h"

#include "ctl/events.h"
#include "unit/expect.h"

namespace pintle::ctl {
namespace {

using testing::SizeIs;

log::PastEntry Entry(const log::MessageId& id, std::string verb, std::string to, std::string outcome = "") {
  log::PastEntry entry;
  entry.at = ValueOf(FromRfc3339("2026-11-21T05:41:43Z"));
  entry.fields = {{"MESSAGE_ID", std::string(id.hex())},
                  {event_field::kVerb, std::move(verb)},
                  {event_field::kTo, std::move(to)},
                  {event_field::kOutcome, std::move(outcome)}};
  return entry;
}

TEST(ChangesIn, PutsAnEndToItsBeginning) {
  const log::PastEntry entries[] = {Entry(kChangeBegan, "apply", "a"), Entry(kChangeEnded, "apply", "a", "done"),
                                    Entry(kChangeBegan, "apply", "b"), Entry(kChangeFailed, "apply", "b", "failed")};
  const auto changes = ChangesIn(entries);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].outcome, "done");
  EXPECT_EQ(changes[0].at, "2026-11-21T05:41:43Z");
  EXPECT_EQ(changes[1].outcome, "failed");
}

TEST(ChangesIn, TellsWhatWasCutShortAndWhatRecoveryMadeOfIt) {
  const log::PastEntry entries[] = {Entry(kChangeBegan, "apply", "a"), Entry(kRecovered, "recover", "a", "undone"),
                                    Entry(kChangeBegan, "apply", "a")};
  const auto changes = ChangesIn(entries);
  ASSERT_THAT(changes, SizeIs(3));
  EXPECT_EQ(changes[0].outcome, "cut short");
  EXPECT_EQ(changes[1].outcome, "undone");
  EXPECT_EQ(changes[2].outcome, "cut short");
}

}  // namespace
}  // namespace pintle::ctl
