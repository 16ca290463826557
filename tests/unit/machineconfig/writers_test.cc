// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/writers.h"

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

using testing::ElementsAre;

NamedConfig SourceWithFile(std::string name, std::string path) {
  NamedConfig source;
  source.name = std::move(name);
  source.ignition.storage.files.emplace_back().path = std::move(path);
  return source;
}

NamedConfig WithUnit(std::string name, std::string unit, std::optional<std::string> contents, std::string dropin) {
  NamedConfig source;
  source.name = std::move(name);
  ignition::Unit& added = source.ignition.systemd.units.emplace_back();
  added.name = std::move(unit);
  added.contents = std::move(contents);
  if (!dropin.empty()) added.dropins.emplace_back().name = std::move(dropin);
  return source;
}

TEST(WritersOf, NamesAllConfigsWithAPathInTheOrderOfMerging) {
  const NamedConfig sources[] = {SourceWithFile("50-a", "/etc/x"), SourceWithFile("60-b", "/etc/x"),
                                 SourceWithFile("70-c", "/etc/y")};
  const Writers writers = WritersOf(sources);
  EXPECT_THAT(writers.at("/etc/x"), ElementsAre("50-a", "60-b"));
  EXPECT_THAT(writers.at("/etc/y"), ElementsAre("70-c"));
}

TEST(WritersOf, DistinguishesAUnitFromItsFileAndItsDropins) {
  const NamedConfig sources[] = {WithUnit("50-a", "u.service", "[Unit]", ""),
                                 WithUnit("60-b", "u.service", {}, "1.conf")};
  const Writers writers = WritersOf(sources);
  EXPECT_THAT(writers.at("u.service"), ElementsAre("50-a", "60-b"));
  EXPECT_THAT(writers.at("/etc/systemd/system/u.service"), ElementsAre("50-a"));
  EXPECT_THAT(writers.at("/etc/systemd/system/u.service.d/1.conf"), ElementsAre("60-b"));
}

}  // namespace
}  // namespace pintle::machineconfig
