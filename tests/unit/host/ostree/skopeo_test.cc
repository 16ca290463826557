// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/skopeo.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/unique_fd.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

using testing::HasSubstr;

// A registry on the loopback interface.  The kernel accepts connections for it, and nobody ever answers.
class SilentRegistry {
 public:
  SilentRegistry() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    image = {fmt::format("127.0.0.1:{}/os", ::ntohs(address.sin_port)), "", "sha256:" + std::string(64, 'a')};
  }

  RegistryImage image;

 private:
  UniqueFd listener_;
};

class SkopeoTest : public testing::Test {
 protected:
  SkopeoTest() { directory_.Write("policy.json", R"({"default": [{"type": "insecureAcceptAnything"}]})"); }

  Skopeo WithPatience(SkopeoPatience patience) {
    RegistryAccess access;
    access.policy = (directory_ / "policy.json").string();
    return Skopeo(access, directory_.path().string(), patience);
  }

  TemporaryDirectory directory_;
  SilentRegistry registry_;
};

TEST_F(SkopeoTest, DoesNotWaitForTheDocumentsOfASilentRegistry) {
  const Skopeo skopeo = WithPatience({.document = std::chrono::milliseconds(100)});
  for (const auto& document : {skopeo.Manifest(registry_.image, {}), skopeo.Config(registry_.image, {})}) {
    ASSERT_FALSE(document);
    EXPECT_EQ(document.error().kind(), ErrorKind::kUnavailable);
    EXPECT_THAT(MessageOf(document), HasSubstr("fetching " + PullSpec(registry_.image)));
    EXPECT_THAT(MessageOf(document), HasSubstr("it has not ended within"));
  }
}

TEST_F(SkopeoTest, DoesNotWaitForTheBlobsOfASilentRegistry) {
  const Skopeo skopeo = WithPatience({.silence = std::chrono::milliseconds(100)});
  const auto copied = skopeo.Copy(registry_.image, {}, (directory_ / "layout").string(), {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().kind(), ErrorKind::kUnavailable);
  EXPECT_THAT(MessageOf(copied), HasSubstr("the registry has sent nothing for"));
}

TEST_F(SkopeoTest, StopsWhenItIsAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  const Skopeo skopeo = WithPatience({.silence = std::chrono::milliseconds(0)});
  const auto copied = skopeo.Copy(registry_.image, {}, (directory_ / "layout").string(), stop.get_token());
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().kind(), ErrorKind::kCancelled);
}

}  // namespace
}  // namespace pintle::host
