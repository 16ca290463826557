// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/rendered_name.h"

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

api::MachineConfigSpec SmallestSpec() {
  api::MachineConfigSpec spec;
  spec.config = {{"ignition", {{"version", "3.5.0"}}}};
  spec.kernel_arguments.emplace();
  spec.extensions.emplace();
  spec.kernel_type = "default";
  return spec;
}

TEST(RenderedName, IsTheNameThatNodesKnow) {
  EXPECT_EQ(ValueOf(RenderedName("master", SmallestSpec())), "rendered-master-6da92b29d98fcd722bbf117520c22ee4");
  api::MachineConfigSpec spec = SmallestSpec();
  spec.fips = true;
  spec.os_image_url = "newformatURL";
  EXPECT_EQ(ValueOf(RenderedName("worker", spec)), "rendered-worker-552a0f58ccdcced4c68ca23fe3db7b58");
}

TEST(RenderedName, CoversArgumentsExtensionsKernelTypeAndImage) {
  api::MachineConfigSpec spec = SmallestSpec();
  spec.kernel_arguments = {"quiet", "nosmt", "systemd.unified_cgroup_hierarchy=1", "cgroup_no_v1=\"all\""};
  spec.extensions = {"usbguard"};
  spec.kernel_type = "realtime";
  spec.os_image_url = "quay.io/openshift/os@sha256:" + std::string(64, 'a');
  EXPECT_EQ(ValueOf(RenderedName("worker", spec)), "rendered-worker-aacc248dcf043d0139a55b37de419abe");
}

TEST(RenderedName, FoldsAndQuotesAsGoDoes) {
  api::MachineConfigSpec spec = SmallestSpec();
  const std::string key =
      "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
      "user@example.com comment two";
  spec.config["passwd"]["users"] = {{{"name", "core"}, {"sshAuthorizedKeys", {key}}}};
  spec.kernel_arguments = {"yes", "1", "console=ttyS0,115200n8", "0x10", "12:30", "- a", "a: b", "#x", " lead"};
  EXPECT_EQ(ValueOf(RenderedName("worker", spec)), "rendered-worker-2189680f03536958164a044097044dbe");
}

TEST(WriteHashInput, WritesAllSevenMembersInOrder) {
  std::string text;
  ASSERT_TRUE(Succeeded(WriteHashInput(SmallestSpec(), [&](std::string_view piece) { text += piece; })));
  EXPECT_EQ(text,
            "baseOSExtensionsContainerImage: \"\"\n"
            "config:\n"
            "  ignition:\n"
            "    version: 3.5.0\n"
            "extensions: []\n"
            "fips: false\n"
            "kernelArguments: []\n"
            "kernelType: default\n"
            "osImageURL: \"\"\n");
}

}  // namespace
}  // namespace pintle::machineconfig
