// SPDX-License-Identifier: Apache-2.0
#include "event/notify.h"

#include "support/expect.h"
#include "unit/event/notify_socket.h"

namespace pintle::event {
namespace {

TEST(Notify, ReportsThatTheServiceIsReadyAndThatItStops) {
  const NotifySocket systemd;
  ASSERT_TRUE(Succeeded(NotifyReady()));
  EXPECT_EQ(systemd.Receive(), "READY=1");
  ASSERT_TRUE(Succeeded(NotifyStopping()));
  EXPECT_EQ(systemd.Receive(), "STOPPING=1");
}

TEST(Notify, SendsAStatusAsOneLine) {
  const NotifySocket systemd;
  ASSERT_TRUE(Succeeded(NotifyStatus("draining\nREADY=1")));
  EXPECT_EQ(systemd.Receive(), "STATUS=draining READY=1");
}

TEST(Notify, DoesNothingWithoutASocket) {
  EXPECT_TRUE(Succeeded(NotifyReady()));
  EXPECT_TRUE(Succeeded(NotifyStatus("fine")));
}

TEST(Notify, IsAnErrorIfNobodyListens) {
  const NotifySocket systemd;
  ::setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
  EXPECT_EQ(MessageOf(NotifyReady()), "notifying systemd of our state: sd_notify: No such file or directory");
}

}  // namespace
}  // namespace pintle::event
