// SPDX-License-Identifier: Apache-2.0
#include "controller/certificate_secret.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/clock.h"
#include "event/loop.h"
#include "event/watches.h"
#include "json/value.h"
#include "kube/client.h"
#include "net/made_certificates.h"
#include "support/expect.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

net::CertifiedKey NewCertificate() {
  const net::Validity validity = {std::chrono::sys_days(std::chrono::year(2026) / 1 / 1),
                                  std::chrono::sys_days(std::chrono::year(2036) / 1 / 1)};
  const net::CertifiedKey authority = ValueOf(net::MakeAuthority("signer", validity));
  return ValueOf(net::MakeServerCertificate(authority, "server", {"api-int.a.example"}, validity));
}

json::Value SecretWith(const std::string& certificate, const std::string& key) {
  return {{"metadata", {{"name", "tls"}, {"namespace", "namespace"}}},
          {"data", {{"tls.crt", EncodeBase64(certificate)}, {"tls.key", EncodeBase64(key)}}}};
}

class CertificateSecretTest : public testing::Test {
 protected:
  CertificateSecretTest() { ::setenv("no_proxy", "*", 1); }

  void Begin() {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    secret_ = std::make_unique<CertificateSecret>(
        *client_,
        CertificateSecret::Settings{
            .secret = {"namespace", "tls"}, .rules = rules_, .try_again = std::chrono::milliseconds(5)},
        CertificateSecret::Listener{.use = [this](const auto&) { return Use(); },
                                    .trouble = [this](const Error& error) { troubles_.push_back(error.message()); }});
  }
  void RunUntil(const std::function<bool()>& is_so) {
    event::Timer look(
        *loop_,
        [&] {
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  SmallApiServer server_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::optional<net::TlsRules> rules_ = net::TlsRules();
  int uses_ = 0;
  bool is_port_taken_ = false;  // The first use fails.
  std::vector<std::string> troubles_;
  std::unique_ptr<CertificateSecret> secret_;

 private:
  Result<> Use() {
    ++uses_;
    if (std::exchange(is_port_taken_, false)) return Error(ErrorKind::kSystem, "the port is taken");
    return {};
  }
};

TEST_F(CertificateSecretTest, UsesEachCertificateOnce) {
  const net::CertifiedKey first = NewCertificate();
  server_.Put("secrets", SecretWith(first.certificate, first.key));
  Begin();
  EXPECT_EQ(secret_->expiry(), std::nullopt);
  RunUntil([&] { return uses_ == 1; });
  EXPECT_EQ(secret_->expiry(), WallTime(std::chrono::sys_days(std::chrono::year(2036) / 1 / 1)));
  // Another version of the Secret has the same certificate.
  json::Value labelled = SecretWith(first.certificate, first.key);
  labelled["metadata"]["labels"] = {{"a", "b"}};
  server_.Put("secrets", labelled);
  const net::CertifiedKey renewed = NewCertificate();
  server_.Put("secrets", SecretWith(renewed.certificate, renewed.key));
  RunUntil([&] { return uses_ == 2; });
  EXPECT_THAT(troubles_, IsEmpty());
  // All earlier versions have been seen when this one is reported.
  server_.Put("secrets", SecretWith(renewed.certificate, first.key));
  RunUntil([&] { return troubles_.size() == 1; });
  EXPECT_EQ(uses_, 2);
}

TEST_F(CertificateSecretTest, UsesTheCertificateAgainWithOtherRules) {
  const net::CertifiedKey made = NewCertificate();
  server_.Put("secrets", SecretWith(made.certificate, made.key));
  rules_ = std::nullopt;
  Begin();
  event::Settle(*loop_);
  secret_->SetRules({.oldest = net::TlsVersion::k1_3});
  RunUntil([&] { return uses_ == 1; });
  secret_->SetRules({.oldest = net::TlsVersion::k1_3});
  EXPECT_EQ(uses_, 1);
  secret_->SetRules({.oldest = net::TlsVersion::k1_2});
  EXPECT_EQ(uses_, 2);
}

TEST_F(CertificateSecretTest, ReportsOnceWhyTheSecretCannotBeUsed) {
  const net::CertifiedKey made = NewCertificate();
  Begin();
  RunUntil([&] { return troubles_.size() == 1; });
  server_.Put("secrets", SecretWith(made.certificate, NewCertificate().key));
  RunUntil([&] { return troubles_.size() == 2; });
  server_.Put("secrets", SecretWith(made.certificate, made.key));
  RunUntil([&] { return uses_ == 1; });
  EXPECT_THAT(troubles_,
              ElementsAre("there is no Secret namespace/tls; create it",
                          HasSubstr("the Secret namespace/tls: the key: it does not belong to the certificate")));
}

TEST_F(CertificateSecretTest, TriesAgainACertificateThatWasRefused) {
  const net::CertifiedKey made = NewCertificate();
  server_.Put("secrets", SecretWith(made.certificate, made.key));
  is_port_taken_ = true;
  Begin();
  RunUntil([&] { return uses_ == 2; });
  EXPECT_THAT(troubles_, ElementsAre("the port is taken"));
}

}  // namespace
}  // namespace pintle::controller
