// SPDX-License-Identifier: Apache-2.0
#include "ctl/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AdoptTest : public testing::Test {
 protected:
  // Writes a file, and returns the Ignition part of the config that keeps it.
  std::string ConfigThatKeeps(const std::string& path) {
    std::filesystem::create_directories((directory_ / path).parent_path());
    directory_.Write(path, "[Service]\n");
    return json::ToText(ValueOf(Adopt(root_, "/" + path, "rendered-worker-1")).spec.config);
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
};

TEST_F(AdoptTest, KeepsADropInWithItsUnit) {
  EXPECT_THAT(ConfigThatKeeps("etc/systemd/system/x.service.d/y.conf"),
              AllOf(HasSubstr(R"("name":"x.service")"), HasSubstr(R"("name":"y.conf")"), Not(HasSubstr(R"("files")"))));
}

TEST_F(AdoptTest, KeepsAFileThatIsNoDropInOfAUnitAsAFile) {
  for (const char* path : {"etc/systemd/system/x.service.d/sub/y.conf", "etc/systemd/system/x.service.d/notes.txt",
                           "etc/systemd/system/service.d/10-all.conf"}) {
    EXPECT_THAT(ConfigThatKeeps(path),
                AllOf(HasSubstr("\"path\":\"/" + std::string(path) + "\""), Not(HasSubstr(R"("units")"))));
  }
}

}  // namespace
}  // namespace pintle::ctl
