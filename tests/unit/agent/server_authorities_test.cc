// SPDX-License-Identifier: Apache-2.0
#include "agent/server_authorities.h"

#include <filesystem>

#include "base/base64.h"
#include "unit/change/small_machine.h"
#include "unit/expect.h"
#include "unit/net/made_certificate.h"
#include "unit/temporary_directory.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kKubelets = "/var/lib/kubelet/kubeconfig";
constexpr const char* kFirst = "/etc/kubernetes/kubeconfig";
constexpr const char* kEnd = "20400101000000Z";

const std::string kOld = MadeCertificate("kube-apiserver-service-network-signer@1", kEnd);
const std::string kNew = MadeCertificate("kube-apiserver-service-network-signer@2", kEnd);
const std::string kLocal = MadeCertificate("openshift_kube-apiserver-localhost-signer@3", kEnd);

std::string Kubeconfig(const std::string& trusted) {
  return "clusters:\n- cluster:\n    certificate-authority-data: " + EncodeBase64(trusted) +
         "\n    server: https://api-int.example.com:6443\nusers:\n- name: a\n  user:\n    token: secret\n";
}

TEST(WithAuthorities, ANewOneIsTrustedAndTakesARestart) {
  const auto renewed = ValueOf(WithAuthorities(Kubeconfig(kOld), kOld + kNew));
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->text, Kubeconfig(kOld + kNew));
  EXPECT_TRUE(renewed->needs_restart);
}

TEST(WithAuthorities, WhatIsTrustedAlreadyIsNothingNew) {
  EXPECT_FALSE(ValueOf(WithAuthorities(Kubeconfig(kOld + kNew), kOld + kNew)));
}

TEST(WithAuthorities, OneThatTheControlPlaneNeedsOrThatIsGoneTakesNoRestart) {
  for (const std::string& bundle : {kOld + kLocal, kOld}) {
    const auto renewed = ValueOf(WithAuthorities(Kubeconfig(kOld + kNew), bundle));
    ASSERT_TRUE(renewed);
    EXPECT_EQ(renewed->text, Kubeconfig(bundle));
    EXPECT_FALSE(renewed->needs_restart);
  }
}

TEST(WithAuthorities, WhatIsNoCertificateIsLeftOut) {
  const std::string none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(ValueOf(WithAuthorities(Kubeconfig(kOld), "# 1\n" + none + kNew))->text, Kubeconfig(kNew));
  EXPECT_THAT(MessageOf(WithAuthorities(Kubeconfig(kOld), none)), HasSubstr("no certificate to trust"));
}

TEST(WithAuthorities, AKubeconfigInJsonIsOneToo) {
  const auto json = [](const std::string& trusted) {
    return R"({"clusters":[{"cluster":{"certificate-authority-data": ")" + EncodeBase64(trusted) +
           R"(","server":"a"}}]})";
  };
  EXPECT_EQ(ValueOf(WithAuthorities(json(kOld), kNew))->text, json(kNew));
}

TEST(WithAuthorities, OneOfAnotherFormIsAnErrorThatTellsNothingOfIt) {
  EXPECT_THAT(MessageOf(WithAuthorities("token: secret", kNew)), Not(HasSubstr("secret")));
  EXPECT_THAT(MessageOf(WithAuthorities(Kubeconfig(kOld) + Kubeconfig(kOld), kNew)), HasSubstr("must have one"));
  EXPECT_THAT(MessageOf(WithAuthorities("certificate-authority-data: ?", kNew)), HasSubstr("not base64"));
  EXPECT_THAT(MessageOf(WithAuthorities("", kNew)), HasSubstr("must have one"));
}

TEST(BundleOf, TakesItAsTextOrInBase64) {
  ServerAuthorities authorities;
  EXPECT_EQ(BundleOf(authorities), "");
  authorities.data.bundle = kOld;
  EXPECT_EQ(BundleOf(authorities), kOld);
  authorities.data.bundle = EncodeBase64(kOld);
  EXPECT_EQ(BundleOf(authorities), kOld);
  authorities.binary_data.bundle = EncodeBase64(kNew);
  EXPECT_EQ(BundleOf(authorities), kNew);
}

class TrustServerTest : public testing::Test {
 protected:
  TrustServerTest() {
    machine_.Write("etc/kubernetes/kubeconfig", Kubeconfig(kOld));
    machine_.Write("var/lib/kubelet/kubeconfig", Kubeconfig(kOld));
  }
  Result<std::vector<std::string>> Trust(const std::string& bundle) {
    return TrustServer(machine_.host(), kKubelets, bundle);
  }

  TemporaryDirectory directory_;
  change::SmallMachine machine_{directory_.path()};
};

TEST_F(TrustServerTest, BothKubeconfigsAreRenewedAndTheKubeletIsRestartedOnce) {
  EXPECT_THAT(ValueOf(Trust(kOld + kNew)), ElementsAre(kKubelets, kFirst));
  EXPECT_EQ(machine_.Read("etc/kubernetes/kubeconfig"), Kubeconfig(kOld + kNew));
  EXPECT_EQ(machine_.Read("var/lib/kubelet/kubeconfig"), Kubeconfig(kOld + kNew));
  EXPECT_THAT(ValueOf(Trust(kOld + kNew)), IsEmpty());
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("kubelet.service"));
}

TEST_F(TrustServerTest, ARestartThatFailsIsMadeUpFor) {
  machine_.systemd.failing = "kubelet.service";
  EXPECT_THAT(MessageOf(Trust(kNew)), HasSubstr("restarting the kubelet"));
  EXPECT_EQ(machine_.Read("etc/kubernetes/kubeconfig"), Kubeconfig(kOld));
  machine_.systemd.failing = "";
  EXPECT_THAT(ValueOf(Trust(kNew)), ElementsAre(kFirst));
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("kubelet.service", "kubelet.service"));
}

TEST_F(TrustServerTest, WithoutARestartTheKubeletsOwnStaysAsItIs) {
  EXPECT_THAT(ValueOf(Trust(kOld + kLocal)), ElementsAre(kFirst));
  EXPECT_EQ(machine_.Read("var/lib/kubelet/kubeconfig"), Kubeconfig(kOld));
  EXPECT_THAT(machine_.systemd.jobs, IsEmpty());
}

TEST_F(TrustServerTest, AMachineThatWasNotMadeByTheClusterIsLeftAlone) {
  fs::remove(directory_ / "etc/kubernetes/kubeconfig");
  EXPECT_THAT(ValueOf(Trust(kNew)), IsEmpty());
  EXPECT_EQ(machine_.Read("var/lib/kubelet/kubeconfig"), Kubeconfig(kOld));
}

class FirstKubeconfigTest : public testing::Test {
 protected:
  FirstKubeconfigTest() { fs::create_directories(directory_ / "etc/kubernetes"); }

  bool MakePrivate() { return ValueOf(MakeFirstKubeconfigPrivate(ValueOf(Root::Open(directory_.path())))); }
  void Write(fs::perms mode) {
    directory_.Write("etc/kubernetes/kubeconfig", "token");
    fs::permissions(directory_ / "etc/kubernetes/kubeconfig", mode);
  }
  fs::perms Mode() const { return fs::status(directory_ / "etc/kubernetes/kubeconfig").permissions(); }

  TemporaryDirectory directory_;
};

TEST_F(FirstKubeconfigTest, IsForRootAlone) {
  Write(fs::perms{0644});
  EXPECT_TRUE(MakePrivate());
  EXPECT_EQ(Mode(), fs::perms{0600});
  EXPECT_EQ(directory_.Read("etc/kubernetes/kubeconfig"), "token");
  EXPECT_FALSE(MakePrivate());
}

TEST_F(FirstKubeconfigTest, IsNoneOnAMachineThatHasNone) {
  EXPECT_FALSE(MakePrivate());
  fs::create_directory(directory_ / "etc/kubernetes/kubeconfig");
  const fs::perms before = Mode();
  EXPECT_FALSE(MakePrivate());
  EXPECT_EQ(Mode(), before);
}

}  // namespace
}  // namespace pintle::agent
