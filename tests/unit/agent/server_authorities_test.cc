// SPDX-License-Identifier: Apache-2.0
#include "agent/server_authorities.h"

#include <filesystem>

#include "base/base64.h"
#include "support/expect.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "unit/net/made_certificate.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kKubeletKubeconfig = "/var/lib/kubelet/kubeconfig";
constexpr const char* kBootstrapKubeconfigPath = "/etc/kubernetes/kubeconfig";
constexpr const char* kNotAfter = "20400101000000Z";

const std::string kOldSigner = MadeCertificate("kube-apiserver-service-network-signer@1", kNotAfter);
const std::string kNewSigner = MadeCertificate("kube-apiserver-service-network-signer@2", kNotAfter);
const std::string kLocalhostSigner = MadeCertificate("openshift_kube-apiserver-localhost-signer@3", kNotAfter);

std::string Kubeconfig(const std::string& trusted) {
  return "clusters:\n- cluster:\n    certificate-authority-data: " + EncodeBase64(trusted) +
         "\n    server: https://api-int.example.com:6443\nusers:\n- name: a\n  user:\n    token: secret\n";
}

TEST(WithAuthorities, ANewAuthorityIsAddedWithARestart) {
  const auto renewed = ValueOf(WithAuthorities(Kubeconfig(kOldSigner), kOldSigner + kNewSigner));
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->text, Kubeconfig(kOldSigner + kNewSigner));
  EXPECT_TRUE(renewed->needs_restart);
}

TEST(WithAuthorities, KnownAuthoritiesNeedNoChange) {
  EXPECT_FALSE(ValueOf(WithAuthorities(Kubeconfig(kOldSigner + kNewSigner), kOldSigner + kNewSigner)));
}

TEST(WithAuthorities, AnAuthorityOfTheControlPlaneOrARemovedOneNeedsNoRestart) {
  for (const std::string& bundle : {kOldSigner + kLocalhostSigner, kOldSigner}) {
    const auto renewed = ValueOf(WithAuthorities(Kubeconfig(kOldSigner + kNewSigner), bundle));
    ASSERT_TRUE(renewed);
    EXPECT_EQ(renewed->text, Kubeconfig(bundle));
    EXPECT_FALSE(renewed->needs_restart);
  }
}

TEST(WithAuthorities, ABlockThatIsNoCertificateIsLeftOut) {
  const std::string none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(ValueOf(WithAuthorities(Kubeconfig(kOldSigner), "# 1\n" + none + kNewSigner))->text,
            Kubeconfig(kNewSigner));
  EXPECT_THAT(MessageOf(WithAuthorities(Kubeconfig(kOldSigner), none)), HasSubstr("no certificate to trust"));
}

TEST(WithAuthorities, AcceptsAKubeconfigInJson) {
  const auto json = [](const std::string& trusted) {
    return R"({"clusters":[{"cluster":{"certificate-authority-data": ")" + EncodeBase64(trusted) +
           R"(","server":"a"}}]})";
  };
  EXPECT_EQ(ValueOf(WithAuthorities(json(kOldSigner), kNewSigner))->text, json(kNewSigner));
}

TEST(WithAuthorities, AnEmptyValueGetsTheAuthoritiesAndStaysReadable) {
  const std::string value = EncodeBase64(kNewSigner);
  const auto yaml = [](const std::string& written) {
    return "- cluster:\n    certificate-authority-data:" + written + "\n    server: a\n";
  };
  const auto json = [](const std::string& written) {
    return R"({"cluster":{"certificate-authority-data":)" + written + R"(,"server":"a"}})";
  };
  const auto renewed = [](const std::string& kubeconfig) {
    const auto with_authorities = ValueOf(WithAuthorities(kubeconfig, kNewSigner));
    return with_authorities ? with_authorities->text : "";
  };
  EXPECT_EQ(renewed(yaml("")), yaml(" \"" + value + "\""));
  EXPECT_EQ(renewed(yaml(" ")), yaml("  \"" + value + "\""));
  EXPECT_EQ(renewed(yaml(" null")), yaml(" \"" + value + "\""));
  EXPECT_EQ(renewed(yaml(" \"\"")), yaml(" \"" + value + "\""));
  EXPECT_EQ(renewed(yaml(" ''")), yaml(" '" + value + "'"));
  EXPECT_EQ(renewed(json("\"\"")), json("\"" + value + "\""));
  EXPECT_EQ(renewed(json("null")), json("\"" + value + "\""));
}

TEST(WithAuthorities, AValueOnOtherLinesThanItsKeyIsReplacedAsAWhole) {
  const std::string old = EncodeBase64(kOldSigner);
  const std::string value = EncodeBase64(kOldSigner + kNewSigner);
  const std::string first = old.substr(0, 75);
  const std::string second = old.substr(75);
  const auto yaml = [](const std::string& written) {
    return "- cluster:\n    certificate-authority-data:" + written + "\n    server: a\n";
  };
  const auto renewed = [](const std::string& kubeconfig) {
    return ValueOf(WithAuthorities(kubeconfig, kOldSigner + kNewSigner))->text;
  };
  EXPECT_EQ(renewed(yaml("\n      " + old)), yaml("\n      " + value));
  EXPECT_EQ(renewed(yaml("\n      \"" + old + "\"")), yaml("\n      \"" + value + "\""));
  EXPECT_EQ(renewed(yaml(" " + first + "\n      " + second)), yaml(" " + value));
  EXPECT_EQ(renewed(yaml("\r\n      " + first + "\r\n      " + second + "\r")), yaml("\r\n      " + value + "\r"));
  EXPECT_EQ(renewed(yaml(" |\n      " + first + "\n      " + second)), yaml(" " + value));
  EXPECT_EQ(renewed(yaml(" >-\n      " + first + "\n\n      " + second)), yaml(" " + value));
  EXPECT_EQ(renewed(yaml(" \"" + first + "\n      " + second + "\"")), yaml(" \"" + value + "\""));
  EXPECT_EQ(renewed("{\"certificate-authority-data\":\n\"" + old + "\"\n}"),
            "{\"certificate-authority-data\":\n\"" + value + "\"\n}");
  EXPECT_FALSE(ValueOf(WithAuthorities(yaml(" |\n      " + first + "\n      " + second), kOldSigner)));
}

TEST(WithAuthorities, AValueThatCannotBeReplacedAsAWholeIsAnError) {
  const std::string old = EncodeBase64(kOldSigner);
  EXPECT_EQ(MessageOf(WithAuthorities("cluster: {certificate-authority-data:\n  " + old + "}", kNewSigner)),
            "cannot replace the value of \"certificate-authority-data\"; write it on the line of its key");
}

TEST(WithAuthorities, AKubeconfigOfAnotherFormIsAnErrorWithoutItsContents) {
  EXPECT_THAT(MessageOf(WithAuthorities("token: secret", kNewSigner)), Not(HasSubstr("secret")));
  EXPECT_THAT(MessageOf(WithAuthorities(Kubeconfig(kOldSigner) + Kubeconfig(kOldSigner), kNewSigner)),
              HasSubstr("must have exactly one"));
  EXPECT_THAT(MessageOf(WithAuthorities("certificate-authority-data: ?", kNewSigner)), HasSubstr("not base64"));
  EXPECT_THAT(MessageOf(WithAuthorities("", kNewSigner)), HasSubstr("must have exactly one"));
}

TEST(BundleOf, AcceptsTextAndBase64) {
  ServerAuthorities authorities;
  EXPECT_EQ(BundleOf(authorities), "");
  authorities.data.bundle = kOldSigner;
  EXPECT_EQ(BundleOf(authorities), kOldSigner);
  authorities.data.bundle = EncodeBase64(kOldSigner);
  EXPECT_EQ(BundleOf(authorities), kOldSigner);
  authorities.binary_data.bundle = EncodeBase64(kNewSigner);
  EXPECT_EQ(BundleOf(authorities), kNewSigner);
}

class InstallServerAuthoritiesTest : public testing::Test {
 protected:
  InstallServerAuthoritiesTest() {
    machine_.Write("etc/kubernetes/kubeconfig", Kubeconfig(kOldSigner));
    machine_.Write("var/lib/kubelet/kubeconfig", Kubeconfig(kOldSigner));
  }
  Result<std::vector<std::string>> Trust(const std::string& bundle) {
    return InstallServerAuthorities(machine_.host(), kKubeletKubeconfig, bundle);
  }

  TemporaryDirectory directory_;
  change::SmallMachine machine_{directory_.path()};
};

TEST_F(InstallServerAuthoritiesTest, BothKubeconfigsAreRenewedAndTheKubeletIsRestartedOnce) {
  EXPECT_THAT(ValueOf(Trust(kOldSigner + kNewSigner)), ElementsAre(kKubeletKubeconfig, kBootstrapKubeconfigPath));
  EXPECT_EQ(machine_.Read("etc/kubernetes/kubeconfig"), Kubeconfig(kOldSigner + kNewSigner));
  EXPECT_EQ(machine_.Read("var/lib/kubelet/kubeconfig"), Kubeconfig(kOldSigner + kNewSigner));
  EXPECT_THAT(ValueOf(Trust(kOldSigner + kNewSigner)), IsEmpty());
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("kubelet.service"));
}

TEST_F(InstallServerAuthoritiesTest, AFailedRestartIsRepeated) {
  machine_.systemd.failing = "kubelet.service";
  EXPECT_THAT(MessageOf(Trust(kNewSigner)), HasSubstr("restarting the kubelet"));
  EXPECT_EQ(machine_.Read("etc/kubernetes/kubeconfig"), Kubeconfig(kOldSigner));
  machine_.systemd.failing = "";
  EXPECT_THAT(ValueOf(Trust(kNewSigner)), ElementsAre(kBootstrapKubeconfigPath));
  EXPECT_THAT(machine_.systemd.jobs, ElementsAre("kubelet.service", "kubelet.service"));
}

TEST_F(InstallServerAuthoritiesTest, WithoutARestartTheKubeletsKubeconfigIsUnchanged) {
  EXPECT_THAT(ValueOf(Trust(kOldSigner + kLocalhostSigner)), ElementsAre(kBootstrapKubeconfigPath));
  EXPECT_EQ(machine_.Read("var/lib/kubelet/kubeconfig"), Kubeconfig(kOldSigner));
  EXPECT_THAT(machine_.systemd.jobs, IsEmpty());
}

TEST_F(InstallServerAuthoritiesTest, AMachineThatWasNotMadeByTheClusterIsLeftAlone) {
  fs::remove(directory_ / "etc/kubernetes/kubeconfig");
  EXPECT_THAT(ValueOf(Trust(kNewSigner)), IsEmpty());
  EXPECT_EQ(machine_.Read("var/lib/kubelet/kubeconfig"), Kubeconfig(kOldSigner));
}

class BootstrapKubeconfigTest : public testing::Test {
 protected:
  BootstrapKubeconfigTest() { fs::create_directories(directory_ / "etc/kubernetes"); }

  bool MakePrivate() { return ValueOf(MakeBootstrapKubeconfigPrivate(ValueOf(Root::Open(directory_.path())))); }
  void Write(fs::perms mode) {
    directory_.Write("etc/kubernetes/kubeconfig", "token");
    fs::permissions(directory_ / "etc/kubernetes/kubeconfig", mode);
  }
  fs::perms Mode() const { return fs::status(directory_ / "etc/kubernetes/kubeconfig").permissions(); }

  TemporaryDirectory directory_;
};

TEST_F(BootstrapKubeconfigTest, IsForRootAlone) {
  Write(fs::perms{0644});
  EXPECT_TRUE(MakePrivate());
  EXPECT_EQ(Mode(), fs::perms{0600});
  EXPECT_EQ(directory_.Read("etc/kubernetes/kubeconfig"), "token");
  EXPECT_FALSE(MakePrivate());
}

TEST_F(BootstrapKubeconfigTest, MayBeMissingOrADirectory) {
  EXPECT_FALSE(MakePrivate());
  fs::create_directory(directory_ / "etc/kubernetes/kubeconfig");
  const fs::perms before = Mode();
  EXPECT_FALSE(MakePrivate());
  EXPECT_EQ(Mode(), before);
}

}  // namespace
}  // namespace pintle::agent
