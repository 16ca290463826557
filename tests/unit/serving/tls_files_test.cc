// SPDX-License-Identifier: Apache-2.0
#include "serving/tls_files.h"

#include <chrono>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "event/loop.h"
#include "net/made_certificates.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::serving {
namespace {

TEST(TlsFiles, FindsFilesInTheWorkingDirectory) {
  const WallTime now = SystemClock().Wall();
  const net::CertifiedKey made =
      ValueOf(net::MakeAuthority("test", {.begin = now, .end = now + std::chrono::hours(1)}));
  const TemporaryDirectory folder;
  folder.Write("tls.crt", made.certificate);
  folder.Write("tls.key", made.key);
  std::filesystem::permissions(folder / "tls.key", std::filesystem::perms::owner_read);
  const auto loop = ValueOf(event::Loop::Create());
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto files = TlsFiles::Open(*loop, "tls.crt", "tls.key", {}, [](const auto&) {});
  std::filesystem::current_path(before);
  ASSERT_TRUE(Succeeded(files));
  EXPECT_NE((*files)->first_identity(), nullptr);
  EXPECT_TRUE((*files)->expiry().has_value());
}

TEST(TlsFiles, AreRegularFiles) {
  const auto loop = ValueOf(event::Loop::Create());
  const auto error_for = [&](const std::string& path) {
    return MessageOf(TlsFiles::Open(*loop, path, path, {}, [](const auto&) {}));
  };
  EXPECT_EQ(error_for("/dev/null"), "the certificate: reading /dev/null: the input is a device; use a regular file");
  // Standard input could be read only once.
  EXPECT_EQ(error_for("-"), "the certificate: reading -: open: No such file or directory");
}

}  // namespace
}  // namespace pintle::serving
