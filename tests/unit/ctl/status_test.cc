// SPDX-License-Identifier: Apache-2.0
#include "ctl/status.h"

#include <gtest/gtest.h>

namespace pintle::ctl {
namespace {

host::AgentStatus Settled() {
  host::AgentStatus status;
  status.node = "worker-0";
  status.current = status.desired = "rendered-worker-1";
  status.state = host::AgentState::kDone;
  status.phase = host::AgentPhase::kSettled;
  status.since = "2026-11-21T05:41:43Z";
  return status;
}

TEST(StatusText, OmitsEmptyFields) {
  EXPECT_EQ(StatusText(Settled()),
            "Node:     worker-0\n"
            "Configs:  from this machine\n"
            "Current:  rendered-worker-1\n"
            "Desired:  rendered-worker-1\n"
            "State:    Done, settled since 2026-11-21T05:41:43Z\n"
            "Findings: none\n");
}

TEST(StatusText, HasTheActivityTheNextStepAndTheLogins) {
  host::AgentStatus status = Settled();
  status.source = host::AgentSource::kKubernetes;
  status.desired = "rendered-worker-2";
  status.desired_image = "quay.io/os@sha256:1";
  status.state = host::AgentState::kWorking;
  status.phase = host::AgentPhase::kDraining;
  status.doing = "waiting for the drain";
  status.next = "the reboot, once the node is drained";
  status.findings = 2;
  status.logins = {{"core", "10.0.0.1", "2026-11-21T05:41:43Z"}, {"root", "", "2026-11-21T06:00:00Z"}};
  EXPECT_EQ(StatusText(status),
            "Node:     worker-0\n"
            "Configs:  from the cluster\n"
            "Current:  rendered-worker-1\n"
            "Desired:  rendered-worker-2\n"
            "          quay.io/os@sha256:1\n"
            "State:    Working, draining since 2026-11-21T05:41:43Z\n"
            "Doing:    waiting for the drain\n"
            "Next:     the reboot, once the node is drained\n"
            "Findings: 2; `pintle verify` lists them, `pintle explain PATH` explains one\n"
            "SSH:      2026-11-21T05:41:43Z core from 10.0.0.1\n"
            "          2026-11-21T06:00:00Z root\n");
}

TEST(StatusText, ListsWarnings) {
  host::AgentStatus status = Settled();
  status.warnings = {"a.yaml is a pipe", "b.yaml is a device"};
  EXPECT_NE(StatusText(status).find("Warnings: a.yaml is a pipe\n          b.yaml is a device\n"), std::string::npos)
      << StatusText(status);
}

TEST(StatusText, NamesThePartsThatAreLeftAside) {
  host::AgentStatus status = Settled();
  status.left_aside = "this machine has no OSTree, so these parts of the config are not applied: OS image";
  EXPECT_TRUE(StatusText(status).ends_with(
      "Aside:    this machine has no OSTree, so these parts of the config are not applied: OS image\n"));
}

TEST(StatusText, EscapesControlCharacters) {
  host::AgentStatus status = Settled();
  status.reason = "bad\x1b[2J";
  EXPECT_NE(StatusText(status).find("Reason:   bad\\x1B[2J\n"), std::string::npos) << StatusText(status);
}

}  // namespace
}  // namespace pintle::ctl
