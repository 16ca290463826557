// SPDX-License-Identifier: Apache-2.0
#include "clusterops/user_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace pintle::clusterops {
namespace {

using testing::ElementsAre;

json::Value Infrastructure(const std::string& platform, const std::string& status = "{}") {
  json::Value made;
  made["status"]["apiServerInternalURI"] = "https://api-int.demo.test:6443";
  made["status"]["platformStatus"] = *json::Parse(status);
  made["status"]["platformStatus"]["type"] = platform;
  return made;
}

TEST(HostOfServer, IsTheHostOfTheInternalApi) {
  EXPECT_EQ(HostOfServer(Infrastructure("AWS")), "api-int.demo.test");
  EXPECT_EQ(HostOfServer(json::Value()), "");
  EXPECT_EQ(HostOfServer(*json::Parse(R"({"status": {"apiServerInternalURI": "https://[fd00::1]:6443"}})")), "fd00::1");
}

TEST(HostOfServer, IsAnAddressOnPlatformsThatHaveOne) {
  EXPECT_EQ(
      HostOfServer(Infrastructure("BareMetal", R"({"baremetal": {"apiServerInternalIPs": ["192.0.2.7", "fd00::7"]}})")),
      "192.0.2.7");
  EXPECT_EQ(HostOfServer(Infrastructure("OpenStack", R"({"openstack": {"apiServerInternalIP": "192.0.2.8"}})")),
            "192.0.2.8");
  EXPECT_EQ(HostOfServer(Infrastructure("VSphere", R"({"vsphere": {"apiServerInternalIPs": []}})")),
            "api-int.demo.test");
  EXPECT_EQ(HostOfServer(Infrastructure("Nutanix", R"({"nutanix": {"apiServerInternalIPs": ["192.0.2.9"]}})")),
            "api-int.demo.test");
}

TEST(HostsOfServer, AreTheNameAndAllAddresses) {
  EXPECT_THAT(HostsOfServer(
                  Infrastructure("BareMetal", R"({"baremetal": {"apiServerInternalIPs": ["192.0.2.7", "fd00::7"]}})")),
              ElementsAre("192.0.2.7", "api-int.demo.test", "fd00::7"));
  EXPECT_THAT(HostsOfServer(Infrastructure("AWS")), ElementsAre("api-int.demo.test"));
}

TEST(PointerConfig, PointsToTheConfigOfThePool) {
  EXPECT_EQ(PointerConfig({.host = "api-int.demo.test", .pool = "worker", .authority = "Y2E="}), *json::Parse(R"({
      "ignition": {"config": {"merge": [{"source": "https://api-int.demo.test:22623/config/worker"}]},
                   "security": {"tls": {"certificateAuthorities": [
                       {"source": "data:text/plain;charset=utf-8;base64,Y2E="}]}},
                   "version": "3.5.0"}})"));
}

TEST(PointerConfig, PutsAnAddressOfIpv6InBrackets) {
  const json::Value pointer = PointerConfig({.host = "fd00::7", .pool = "master", .authority = ""});
  EXPECT_EQ(pointer["ignition"]["config"]["merge"][0].TextAt({"source"}), "https://[fd00::7]:22623/config/master");
}

TEST(PointerConfig, CarriesAToken) {
  const json::Value pointer = PointerConfig({.host = "a", .pool = "b", .authority = "", .token = "claim.signature"});
  EXPECT_EQ(TokenIn(pointer), "claim.signature");
  EXPECT_EQ(TokenIn(PointerConfig({.host = "a", .pool = "b", .authority = ""})), "");
}

TEST(IsSamePointer, IgnoresHowGoWritesEmptyMembers) {
  const json::Value pointer = PointerConfig({.host = "a", .pool = "b", .authority = "Y2E="});
  EXPECT_TRUE(IsSamePointer(json::ToText(pointer), pointer));
  json::Value as_go = pointer;
  as_go["ignition"]["timeouts"] = json::Value::object();
  as_go["ignition"]["config"]["replace"]["verification"] = json::Value::object();
  EXPECT_TRUE(IsSamePointer(json::ToText(as_go), pointer));
  EXPECT_FALSE(IsSamePointer(json::ToText(as_go), PointerConfig({.host = "a", .pool = "c", .authority = "Y2E="})));
  EXPECT_FALSE(IsSamePointer("no JSON", pointer));
}

}  // namespace
}  // namespace pintle::clusterops
