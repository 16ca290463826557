// SPDX-License-Identifier: Apache-2.0
#include "change/local_configs.h"

#include "base/size_limits.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class LocalConfigs : public testing::Test {
 protected:
  Result<std::vector<WrittenConfig>> Read() const {
    const std::vector<std::string> inputs = {directory_.path()};
    return TRY(ReadWrittenConfigs(inputs)).configs;
  }

  TemporaryDirectory directory_;
};

constexpr const char* kIgnition =
    R"({"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,1"}}]}})";

TEST_F(LocalConfigs, NamesIgnitionAfterItsFileAndRendersIt) {
  directory_.Write("20-a.ign", kIgnition);
  directory_.Write("readme.md", "no config");
  auto configs = ValueOf(Read());
  ASSERT_THAT(configs, SizeIs(1));
  EXPECT_EQ(configs[0].object.metadata.name, "20-a");
  const change::CurrentConfig rendered = ValueOf(RenderLocally(std::move(configs)));
  EXPECT_THAT(rendered.object.metadata.name, StartsWith("rendered-local-"));
  EXPECT_THAT(rendered.writers.at("/etc/a"), ElementsAre("20-a"));
  EXPECT_THAT(rendered.ignition.storage.files, SizeIs(1));
}

TEST_F(LocalConfigs, KeepsTheFieldsOfButaneBesideTheIgnitionPart) {
  directory_.Write("a.bu",
                   "variant: openshift\nversion: 4.14.0\nmetadata:\n  name: 99-x\n  labels:\n"
                   "    machineconfiguration.openshift.io/role: worker\nopenshift:\n  kernel_arguments: [quiet]\n");
  const auto configs = ValueOf(Read());
  ASSERT_THAT(configs, SizeIs(1));
  EXPECT_EQ(configs[0].object.metadata.name, "99-x");
  EXPECT_THAT(*configs[0].object.spec.kernel_arguments, ElementsAre("quiet"));
}

TEST_F(LocalConfigs, RefusesAConfigThatRefersToOtherConfigs) {
  directory_.Write("a.ign", R"({"ignition":{"version":"3.4.0","config":{"merge":[{"source":"https://h/b.ign"}]}}})");
  EXPECT_THAT(MessageOf(Read()),
              HasSubstr("a.ign: ignition.config: nothing fetches other configs on a running machine"));
}

TEST_F(LocalConfigs, AreRefusedIfTheyAreTooLongTogether) {
  const std::string spaces(limits::kLocalConfigs / 2, ' ');
  directory_.Write("a.ign", kIgnition + spaces);
  EXPECT_THAT(ValueOf(Read()), SizeIs(1));
  directory_.Write("b.ign", R"({"ignition":{"version":"3.4.0"}})" + spaces);
  EXPECT_THAT(MessageOf(Read()), AllOf(HasSubstr("b.ign: longer than "),
                                       HasSubstr("after other configs, which together may have 67108864 bytes")));
}

TEST_F(LocalConfigs, RefusesTwoConfigsWithTheSameName) {
  directory_.Write("a.ign", kIgnition);
  directory_.Write("a.json", kIgnition);
  EXPECT_THAT(MessageOf(Read()), HasSubstr("have the same name, a"));
}

TEST_F(LocalConfigs, AreTheEmptyConfigWithoutFiles) {
  EXPECT_EQ(ValueOf(RenderLocally(ValueOf(Read()))).object.metadata.name, change::kNoConfig);
}

}  // namespace
}  // namespace pintle::change
