// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_ignition.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/base64.h"
#include "controller/complaints.h"
#include "event/loop.h"
#include "event/watches.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/made_certificates.h"
#include "support/expect.h"
#include "unit/controller/small_openshift.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

net::CertifiedKey NewIgnitionCertificate() {
  const net::Validity validity = {std::chrono::sys_days(std::chrono::year(2026) / 1 / 1),
                                  std::chrono::sys_days(std::chrono::year(2036) / 1 / 1)};
  const net::CertifiedKey authority = ValueOf(net::MakeAuthority("signer", validity));
  return ValueOf(net::MakeServerCertificate(authority, "server", {"api-int.a.example"}, validity));
}

// Runs the Ignition server with a small API server that has a pool with a rendered config.
class ClusterIgnitionTest : public testing::Test {
 protected:
  ClusterIgnitionTest() {
    ::setenv("no_proxy", "*", 1);
    server_.Put("controllerconfigs",
                {{"metadata", {{"name", "machine-config-controller"}}},
                 {"spec", {{"infra", {{"status", {{"apiServerInternalURI", "https://api-int.a.example:6443"}}}}}}}});
    server_.Put("machineconfigs", {{"metadata", {{"name", "rendered-worker-1"}}},
                                   {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
    server_.Put("machineconfigpools",
                {{"metadata", {{"name", "worker"}}}, {"status", {{"configuration", {{"name", "rendered-worker-1"}}}}}});
  }

  void PutCertificate(const std::string& certificate, const std::string& key) {
    server_.Put("secrets", {{"metadata", {{"name", "tls"}, {"namespace", "namespace"}}},
                            {"data", {{"tls.crt", EncodeBase64(certificate)}, {"tls.key", EncodeBase64(key)}}}});
  }
  void PutToken() {
    json::Value secret = SmallSecret("namespace", "token", "token", "word");
    secret["data"]["ca.crt"] = EncodeBase64(NamedCertificate("in the Secret"));
    server_.Put("secrets", secret);
  }

  void Begin(const net::ListenAddress& secure, const net::ListenAddress& health) {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    cluster_ = std::make_unique<Cluster>(*client_, "namespace",
                                         Cluster::Listener{.changed =
                                                               [this] {
                                                                 if (ignition_) ignition_->Look();
                                                               },
                                                           .node_changed = [](const auto&, const auto&) {},
                                                           .trouble = [](auto, auto&) {}});
    ignition_ = ValueOf(ClusterIgnition::Begin(
        *loop_, *client_, *cluster_,
        {.service = {.secure = secure, .certificate_from = serving::CertificateFrom::kCaller, .health = health},
         .feed = {.server = "", .token_secret = {"namespace", "token"}, .namespace_name = "namespace"},
         .certificate_secret = {"namespace", "tls"},
         .follows_tls_profile = follows_tls_profile_}));
  }
  void PutTlsProfile(const json::Value& profile) {
    server_.Put("apiservers", {{"metadata", {{"name", "cluster"}}}, {"spec", {{"tlsSecurityProfile", profile}}}});
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
  void RunUntilUnreadyFor(const std::string& reason) {
    RunUntil([&] { return ignition_->WhyUnready().find(reason) != std::string::npos; });
  }
  int StatusOf(const std::string& url) {
    std::optional<Result<net::HttpResponse>> answer;
    const net::HttpCall call =
        http_->Fetch({.url = ValueOf(net::Url::Parse(url))}, [&](Result<net::HttpResponse> response) {
          answer = std::move(response);
          loop_->Stop();
        });
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return answer && *answer ? (*answer)->head.status : 0;
  }
  void AskUntil(int status, const std::string& url) {
    while (!testing::Test::HasFailure() && StatusOf(url) != status) {
    }
  }
  static std::unique_ptr<net::HttpServer> OtherServer() {
    return ValueOf(net::HttpServer::Begin({.listen = {"127.0.0.1", 0}},
                                          [](const net::IncomingRequest&) { return net::HttpAnswer(); }));
  }

  bool follows_tls_profile_ = false;
  SmallApiServer server_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<net::HttpClient> http_ = ValueOf(net::HttpClient::Create(*loop_, {.proxy = net::ProxySettings()}));
  std::optional<kube::Client> client_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ClusterIgnition> ignition_;
};

TEST_F(ClusterIgnitionTest, ReadsAllThatItNeedsWhileAnotherProgramHasItsAddress) {
  // Before a takeover, the operator's server has both addresses.  The health address alone may also be free.
  for (const bool is_health_taken : {true, false}) {
    auto other_server = OtherServer();
    auto other_health = OtherServer();
    const net::ListenAddress health =
        is_health_taken ? other_health->address() : net::ListenAddress{.address = "127.0.0.1", .port = 0};
    Begin(other_server->address(), health);
    const net::CertifiedKey good = NewIgnitionCertificate();
    RunUntilUnreadyFor("no certificate yet that it can use: it needs the Secret namespace/tls");
    PutCertificate(good.certificate, NewIgnitionCertificate().key);
    RunUntilUnreadyFor("no certificate yet");
    PutCertificate(good.certificate, good.key);
    RunUntilUnreadyFor("no config for new machines yet: there is no Secret namespace/token");
    server_.Put("secrets", SmallSecret("namespace", "token", "ca.crt", NamedCertificate("in the Secret")));
    RunUntilUnreadyFor("the Secret namespace/token has no token");
    PutToken();
    RunUntil([&] { return ignition_->WhyUnready().empty(); });
    RunUntil([&] { return ignition_->Addresses().empty(); });
    other_server.reset();
    other_health.reset();
    RunUntil([&] { return ignition_->Addresses().size() == 2; });
    EXPECT_THAT(ignition_->Addresses()[0], HasSubstr("https://"));
    AskUntil(200, ignition_->Addresses()[1] + "/configs");
    ignition_.reset();
    cluster_.reset();
    server_.Remove("secrets", "tls");
    server_.Remove("secrets", "token");
  }
}

// Here the server waits for one address twice: at first another program has it, and then, by a mistake in the settings,
// the server itself has it for its health.
TEST_F(ClusterIgnitionTest, LogsEachWaitForAnAddressOnce) {
  auto other = OtherServer();
  const net::ListenAddress address = other->address();
  testing::internal::CaptureStderr();
  Begin(address, address);
  EXPECT_THAT(ignition_->Addresses(), IsEmpty());
  other.reset();
  RunUntil([&] { return ignition_->Addresses().size() == 1; });
  const net::CertifiedKey good = NewIgnitionCertificate();
  PutCertificate(good.certificate, good.key);
  RunUntil([&] { return ignition_->Addresses().empty(); });
  const std::string log = testing::internal::GetCapturedStderr();
  std::size_t waits = 0;
  const std::string line = net::ToText(address) + ": bind: Address already in use; the Ignition server starts";
  for (std::size_t at = log.find(line); at != std::string::npos; at = log.find(line, at + 1)) ++waits;
  EXPECT_EQ(waits, 2U) << log;
}

TEST_F(ClusterIgnitionTest, StaysReadyWhenItsSecretsAreLostLater) {
  const net::CertifiedKey good = NewIgnitionCertificate();
  PutCertificate(good.certificate, good.key);
  PutToken();
  Begin({"127.0.0.1", 0}, {"127.0.0.1", 0});
  RunUntil([&] { return ignition_->WhyUnready().empty() && ignition_->Addresses().size() == 2; });
  const std::string health = ignition_->Addresses()[1];
  AskUntil(200, health + "/configs");
  server_.Remove("secrets", "token");
  server_.Remove("secrets", "tls");
  AskUntil(503, health + "/configs");
  EXPECT_EQ(StatusOf(health), 200);
  EXPECT_THAT(ignition_->WhyUnready(), IsEmpty());
}

TEST_F(ClusterIgnitionTest, ListensOnlyWhenItKnowsTheTlsProfile) {
  follows_tls_profile_ = true;
  const net::CertifiedKey good = NewIgnitionCertificate();
  PutCertificate(good.certificate, good.key);
  PutToken();
  const std::string list = "GET /apis/config.openshift.io/v1/apiservers";
  server_.Refuse(list, SmallApiServer::Status(500, "InternalError", "the store is away"));
  Begin({"127.0.0.1", 0}, {"127.0.0.1", 0});
  RunUntil([&] { return server_.CountOf(list) > kFailuresBeforeReport; });
  RunUntilUnreadyFor("it needs the APIServer cluster");
  EXPECT_THAT(ignition_->WhyUnready(), HasSubstr("the store is away"));
  PutTlsProfile(5);
  server_.Refuse([](const kube::ReceivedRequest&) { return std::nullopt; });
  RunUntilUnreadyFor("$.spec.tlsSecurityProfile: must be an object");
  EXPECT_EQ(ignition_->Addresses().size(), 1U);
  PutTlsProfile({{"type", "Modern"}});
  RunUntil([&] { return ignition_->WhyUnready().empty() && ignition_->Addresses().size() == 2; });
}

TEST_F(ClusterIgnitionTest, HasTheDefaultProfileWithoutTheRightToReadTheTlsProfile) {
  follows_tls_profile_ = true;
  const net::CertifiedKey good = NewIgnitionCertificate();
  PutCertificate(good.certificate, good.key);
  PutToken();
  server_.Refuse("GET /apis/config.openshift.io/v1/apiservers", SmallApiServer::Status(403, "Forbidden", "no"));
  Begin({"127.0.0.1", 0}, {"127.0.0.1", 0});
  RunUntil([&] { return ignition_->WhyUnready().empty() && ignition_->Addresses().size() == 2; });
}

}  // namespace
}  // namespace pintle::controller
