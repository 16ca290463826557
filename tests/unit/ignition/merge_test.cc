// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "ignition/config.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/ignition/newest_config.h"

namespace pintle::ignition {
namespace {

// Returns the merged config without the parts that all configs have.
std::string Merged(std::string_view parent, std::string_view child) {
  json::Value document = Encode(Merge(Read(parent), Read(child)));
  document.Erase("ignition");
  return json::ToText(document);
}

TEST(Merge, KeepsTheParentsOrderAndAppendsNewElements) {
  EXPECT_EQ(Merged(R"("systemd": {"units": [{"name": "b.service"}, {"name": "a.service", "enabled": true}]})",
                   R"("systemd": {"units": [{"name": "c.service"}, {"name": "a.service", "mask": true}]})"),
            R"({"systemd":{"units":[{"name":"b.service"},{"enabled":true,"mask":true,"name":"a.service"},)"
            R"({"name":"c.service"}]}})");
}

TEST(Merge, LetsTheChildTurnAFileIntoALink) {
  EXPECT_EQ(Merged(R"("storage": {"files": [{"path": "/a"}, {"path": "/b"}]})",
                   R"("storage": {"links": [{"path": "/a", "target": "/x"}]})"),
            R"({"storage":{"files":[{"path":"/b"}],"links":[{"path":"/a","target":"/x"}]}})");
}

TEST(Merge, KeepsTheParentsHashWhenTheChildReplacesOnlyTheSource) {
  const std::string hash = "sha256-" + std::string(64, '0');
  EXPECT_EQ(
      Merged(R"("storage": {"files": [{"path": "/a", "contents": {"source": "data:,a", "verification": {"hash": ")" +
                 hash + R"("}}}]})",
             R"("storage": {"files": [{"path": "/a", "contents": {"source": "data:,b"}}]})"),
      R"({"storage":{"files":[{"contents":{"source":"data:,b","verification":{"hash":")" + hash +
          R"("}},"path":"/a"}]}})");
}

TEST(Merge, AppendsTheChildsAppendices) {
  EXPECT_EQ(Merged(R"("storage": {"files": [{"path": "/a", "append": [{"source": "data:,a"}]}]})",
                   R"("storage": {"files": [{"path": "/a", "append": [{"source": "data:,a"}]}]})"),
            R"({"storage":{"files":[{"append":[{"source":"data:,a"},{"source":"data:,a"}],"path":"/a"}]}})");
}

TEST(Merge, UnitesSshKeysWithoutDuplicates) {
  EXPECT_EQ(Merged(R"("passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["b", "a"]}]})",
                   R"("passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["a", "c"]}]})"),
            R"({"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["b","a","c"]}]}})");
}

TEST(Merge, RemovesAHeaderThatTheChildHasWithoutAValue) {
  EXPECT_EQ(Merged(R"("storage": {"files": [{"path": "/a", "contents": {"source": "http://h", "httpHeaders": [
                      {"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}}]})",
                   R"("storage": {"files": [{"path": "/a", "contents": {"source": "http://h",
                      "httpHeaders": [{"name": "A"}]}}]})"),
            R"({"storage":{"files":[{"contents":{"httpHeaders":[{"name":"B","value":"2"}],"source":"http://h"},)"
            R"("path":"/a"}]}})");
}

TEST(Merge, LetsAForbiddenArgumentReplaceAWantedOne) {
  EXPECT_EQ(
      Merged(R"("kernelArguments": {"shouldExist": ["a", "b"]})", R"("kernelArguments": {"shouldNotExist": ["a"]})"),
      R"({"kernelArguments":{"shouldExist":["b"],"shouldNotExist":["a"]}})");
}

}  // namespace
}  // namespace pintle::ignition
