// SPDX-License-Identifier: Apache-2.0
#include "controller/generated_sources.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

TEST(GeneratedSources, HaveAnotherTextOnlyIfContentsThatAreReadHaveChanged) {
  ::setenv("no_proxy", "*", 1);
  SmallApiServer server;
  json::Value node = {{"metadata", {{"name", "cluster"}, {"uid", "uid-of-node"}}},
                      {"spec", {{"cgroupMode", "v2"}}},
                      {"status", {{"conditions", json::Value::array()}}}};
  server.Put("nodes", node);
  const auto loop = ValueOf(event::Loop::Create());
  kube::Client client = ValueOf(kube::Client::Create(*loop, server.access()));
  GeneratedSources sources(client, {.changed = [] {}, .trouble = [](std::string_view, const Error&) {}});
  const auto run_until = [&](const std::function<bool()>& is_so) {
    event::Timer look(
        *loop,
        [&] {
          sources.FollowSecrets();
          if (sources.is_ready() && is_so()) return loop->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  };
  const auto version = [&] { return sources.NodeSettingsNamed("cluster")->metadata.resource_version; };
  const auto put_and_run = [&] {
    const std::string before = version();
    server.Put("nodes", node);
    run_until([&] { return version() != before; });
  };
  run_until([] { return true; });
  const std::string text = sources.VersionsText();
  node["status"]["conditions"].push_back({{"type", "New"}});
  put_and_run();
  EXPECT_EQ(sources.VersionsText(), text);
  node["spec"]["cgroupMode"] = "v1";
  put_and_run();
  EXPECT_NE(sources.VersionsText(), text);
}

}  // namespace
}  // namespace pintle::controller
