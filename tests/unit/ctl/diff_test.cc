// SPDX-License-Identifier: Apache-2.0
#include "ctl/diff.h"

#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

// Previews the difference of two configs in files.
class Diffing : public testing::Test {
 protected:
  DiffPreview Between(const json::Value& from, const json::Value& to) {
    directory_.Write("old.json", json::ToText(from));
    directory_.Write("new.json", json::ToText(to));
    return ValueOf(PreviewDiff({.old_file = directory_ / "old.json",
                                .new_file = directory_ / "new.json",
                                .policy_file = {},
                                .overrides_file = {}}));
  }

  static json::Value Config(json::Value ignition, json::Value other_fields = json::Value::object()) {
    ignition["ignition"] = {{"version", "3.5.0"}};
    other_fields["config"] = std::move(ignition);
    return {{"kind", "MachineConfig"}, {"metadata", {{"name", "rendered-1"}}}, {"spec", std::move(other_fields)}};
  }
  static json::Value File(const std::string& path, const std::string& source) {
    return {{"storage", {{"files", {{{"path", path}, {"contents", {{"source", source}}}}}}}}};
  }

  TemporaryDirectory directory_;
};

TEST_F(Diffing, PrintsNothingForEqualConfigs) {
  const DiffPreview preview = Between(Config(File("/etc/a", "data:,1")), Config(File("/etc/a", "data:,1")));
  EXPECT_FALSE(preview.differs);
  EXPECT_EQ(preview.text, "");
}

TEST_F(Diffing, PrintsOnlyTheErrorForAConfigThatCannotBeConverted) {
  json::Value bob = Config({{"passwd", {{"users", {{{"name", "bob"}}}}}}});
  bob["spec"]["config"]["ignition"]["version"] = "2.2.0";
  const DiffPreview preview = Between(Config(json::Value::object()), bob);
  const std::string why = "unexpected user with name: bob. Only core user is supported";
  EXPECT_EQ(preview.answer.TextAt({"diffError"}), "parsing new Ignition config failed with error: " + why);
  EXPECT_EQ(preview.answer.TextAt({"reconcilableError"}),
            "configs rendered-1, rendered-1 are not reconcilable: parsing new Ignition config from machineconfig "
            "\"rendered-1\" failed: " +
                why);
  EXPECT_FALSE(preview.answer.contains("validateNewError"));
}

TEST_F(Diffing, PrintsDecodedContentsAndTheActions) {
  const DiffPreview preview =
      Between(Config(File("/etc/a", "data:,one%0Atwo%0A")), Config(File("/etc/a", "data:;base64,b25lCjIK")));
  EXPECT_EQ(preview.text,
            "--- /etc/a\t0644 0:0\n"
            "+++ /etc/a\t0644 0:0\n"
            "@@ -1,2 +1,2 @@\n"
            " one\n"
            "-two\n"
            "+2\n"
            "\n"
            "Actions:\n"
            "  Reboot\n"
            "    /etc/a: no policy covers it\n"
            "The node is drained: the node reboots\n"
            "The node reboots.\n");
}

TEST_F(Diffing, HidesPullSecretsAndPasswordHashes) {
  const auto config = [](const std::string& secret) {
    json::Value ignition = File("/var/lib/kubelet/config.json",
                                "data:,%7B%22auths%22:%7B%22q%22:%7B%22auth%22:%22" + secret + "%22%7D%7D%7D");
    ignition["passwd"] = {{"users", {{{"name", "core"}, {"passwordHash", "$6$" + secret + "$x"}}}}};
    return Config(std::move(ignition));
  };
  const DiffPreview preview = Between(config("first"), config("second"));
  EXPECT_THAT(preview.text, HasSubstr("+{\"auths\":{\"q\":{\"auth\":<masked>}}}"));
  EXPECT_THAT(preview.text, HasSubstr("password hash of core\n-<masked>\n+<masked>\n"));
  EXPECT_THAT(preview.text, Not(HasSubstr("first")));
  EXPECT_THAT(preview.text, Not(HasSubstr("second")));
  EXPECT_THAT(json::ToText(preview.answer), Not(HasSubstr("second")));
}

TEST_F(Diffing, NamesEveryPartThatDiffers) {
  json::Value to;
  to["passwd"]["groups"] = {{{"name", "g"}}};
  to["storage"]["disks"] = {{{"device", "/dev/a"}}};
  const DiffPreview preview = Between(Config(json::Value::object()), Config(to, {{"kernelArguments", {"quiet"}}}));
  EXPECT_THAT(preview.text, HasSubstr("$.passwd.groups differs\n"));
  EXPECT_THAT(preview.text, HasSubstr("spec.config.storage.disks (only new machines follow)\n"));
  EXPECT_THAT(preview.text, HasSubstr("kernel arguments\n+quiet\n"));
  EXPECT_THAT(preview.text, HasSubstr("A node cannot change to this config: "));
}

TEST_F(Diffing, MentionsUsersOnceUnlessMoreThanKeysDiffer) {
  const auto config = [](json::Value user) {
    user["name"] = "core";
    return Config({{"passwd", {{"users", json::Value::array({std::move(user)})}}}});
  };
  const json::Value old_keys = {{"sshAuthorizedKeys", {"one"}}};
  json::Value new_keys = {{"sshAuthorizedKeys", {"two"}}};
  EXPECT_THAT(Between(config(old_keys), config(new_keys)).text,
              testing::StartsWith("SSH keys of core\n-one\n+two\n\nActions:"));
  EXPECT_THAT(Between(Config(json::Value::object()), config(new_keys)).text, Not(HasSubstr("users differs")));
  EXPECT_THAT(Between(config(new_keys), Config(json::Value::object())).text, Not(HasSubstr("users differs")));
  EXPECT_THAT(Between(Config(json::Value::object()), config(json::Value::object())).text,
              HasSubstr("$.passwd.users differs\n"));
  new_keys["shell"] = "/bin/sh";
  EXPECT_THAT(Between(config(old_keys), config(new_keys)).text, HasSubstr("$.passwd.users differs\n"));
}

TEST_F(Diffing, NamesTheConfigThatCannotBeRead) {
  json::Value broken = Config(json::Value::object());
  broken["spec"]["config"]["ignition"]["version"] = "9.0.0";
  const DiffPreview preview = Between(broken, Config(json::Value::object()));
  ASSERT_TRUE(preview.error);
  EXPECT_THAT(preview.error->message(), HasSubstr("unknown version"));
}

}  // namespace
}  // namespace pintle::ctl
