// SPDX-License-Identifier: Apache-2.0
#include "serving/served_bootstrap.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "ignition/data_url.h"
#include "json/parse.h"
#include "serving/ignition_answer.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The folder that `pintle-controller bootstrap` writes.
class ServedBootstrapTest : public testing::Test {
 protected:
  ServedBootstrapTest() {
    for (const char* name : {"api-server", "controller-config", "machine-configs", "machine-pools"}) {
      std::filesystem::create_directory(folder_ / name);
    }
    WriteConfig("rendered-master-1", "data:,one");
    WritePool("master", "rendered-master-1");
    folder_.Write("controller-config/machine-config-controller.yaml",
                  "kind: ControllerConfig\nmetadata: {name: machine-config-controller}\nspec: "
                  "{kubeAPIServerServingCAData: " +
                      EncodeBase64("KUBELET") + "}\n");
    folder_.Write("kubeconfig", "clusters: []\n");
    folder_.Write("bar.crt", "BAR");
  }

  void WriteConfig(const std::string& name, const std::string& source) const {
    folder_.Write("machine-configs/" + name + ".yaml",
                  "kind: MachineConfig\nmetadata: {name: " + name +
                      "}\nspec:\n  config:\n    ignition: {version: 3.5.0}\n    storage: {files: [{path: /etc/a, " +
                      "contents: {source: '" + source + "'}}]}\n");
  }

  void WritePool(const std::string& name, const std::string& config) const {
    folder_.Write("machine-pools/" + name + ".yaml", "kind: MachineConfigPool\nmetadata: {name: " + name +
                                                         "}\nspec: {configuration: {name: other}}\n" +
                                                         "status: {configuration: {name: " + config + "}}\n");
  }

  ServedPools Pools() const {
    return ValueOf(ServeBootstrap({.directory = folder_.path(),
                                   .kubeconfig_file = folder_ / "kubeconfig",
                                   .registries = {{.host = "foo", .file = "bar.crt"}}},
                                  MakeServedTextCache()));
  }

  static IgnitionAnswer Ask(const ServedPools& pools, const std::string& pool, const std::string& version = "3.5.0") {
    const std::string target = "/config/" + pool;
    net::IncomingRequest request = {"GET", target, "127.0.0.1:1", {}};
    const std::string accept = "application/vnd.coreos.ignition+json;version=" + version;
    request.headers.push_back({"Accept", accept});
    return AnswerTo(request, pools, Access(), WallTime());
  }

  // Returns the files of an answer, by path.
  static std::vector<std::pair<std::string, std::string>> FilesIn(const IgnitionAnswer& answer) {
    std::vector<std::pair<std::string, std::string>> files;
    const json::Value served = ValueOf(json::Parse(*answer.http.body));
    for (const json::Value& file : served["storage"]["files"]) {
      files.emplace_back(file["path"].text(), ValueOf(ignition::DecodeDataUrl(file["contents"]["source"].text())));
    }
    return files;
  }

  static std::string FileIn(const IgnitionAnswer& answer, const std::string& path) {
    for (const auto& [name, contents] : FilesIn(answer)) {
      if (name == path) return contents;
    }
    return "(none)";
  }

  const TemporaryDirectory folder_;
};

TEST_F(ServedBootstrapTest, GivesAMachineTheConfigThatThePoolsStatusNames) {
  const IgnitionAnswer answer = Ask(Pools(), "master");
  ASSERT_EQ(answer.http.status, 200) << answer.failure->message();
  std::vector<std::string> paths;
  for (const auto& [path, contents] : FilesIn(answer)) paths.push_back(path);
  EXPECT_THAT(
      paths, ElementsAre("/etc/a", "/etc/kubernetes/kubelet-ca.crt", "/etc/machine-config-daemon/node-annotations.json",
                         "/etc/kubernetes/kubeconfig", "/etc/mcs-machine-config-content.json",
                         "/etc/docker/certs.d/foo/ca.crt", "/etc/ignition-machine-config-encapsulated.json"));
  EXPECT_EQ(FileIn(answer, "/etc/kubernetes/kubelet-ca.crt"), "KUBELET");
  EXPECT_EQ(FileIn(answer, "/etc/kubernetes/kubeconfig"), "clusters: []\n");
  EXPECT_EQ(FileIn(answer, "/etc/docker/certs.d/foo/ca.crt"), "BAR");
  EXPECT_THAT(FileIn(answer, "/etc/machine-config-daemon/node-annotations.json"), HasSubstr("rendered-master-1"));
}

TEST_F(ServedBootstrapTest, EncapsulatesTheNewestVersionForEveryClient) {
  const std::string text = FileIn(Ask(Pools(), "master", "3.2.0"), "/etc/ignition-machine-config-encapsulated.json");
  EXPECT_THAT(text, HasSubstr(R"("config":{"ignition":{"version":"3.5.0"}})"));
}

TEST_F(ServedBootstrapTest, ReadsTheFilesAgainForEachRequest) {
  const ServedPools pools = Pools();
  EXPECT_EQ(FileIn(Ask(pools, "master"), "/etc/a"), "one");
  WriteConfig("rendered-master-2", "data:,two");
  WritePool("master", "rendered-master-2");
  EXPECT_EQ(FileIn(Ask(pools, "master"), "/etc/a"), "two");
  EXPECT_EQ(Ask(pools, "arbiter").http.status, 404);
  WritePool("arbiter", "rendered-master-1");
  EXPECT_EQ(FileIn(Ask(pools, "arbiter"), "/etc/a"), "one");
}

TEST_F(ServedBootstrapTest, ServesTheControlPlaneOnly) {
  const IgnitionAnswer answer = Ask(Pools(), "worker");
  EXPECT_EQ(answer.http.status, 500);
  EXPECT_THAT(answer.failure->message(), StartsWith("refusing to serve bootstrap configuration to pool \"worker\""));
  EXPECT_EQ(Ask(Pools(), "infra").http.status, 500);
}

TEST_F(ServedBootstrapTest, AnswersAsTheMachineConfigOperatorIfAFileIsMissing) {
  const ServedPools pools = Pools();
  std::filesystem::remove(folder_ / "controller-config/machine-config-controller.yaml");
  const IgnitionAnswer without_settings = Ask(pools, "master");
  EXPECT_EQ(without_settings.http.status, 500);
  EXPECT_THAT(without_settings.failure->message(), StartsWith("could not find controller config on initial bootstrap"));
  std::filesystem::remove(folder_ / "machine-configs/rendered-master-1.yaml");
  EXPECT_EQ(Ask(pools, "master").http.status, 404);
  std::filesystem::remove(folder_ / "machine-pools/master.yaml");
  EXPECT_EQ(Ask(pools, "master").http.status, 404);
  folder_.Write("machine-pools/master.yaml", "kind: Pod\n");
  EXPECT_EQ(Ask(pools, "master").http.status, 500);
  EXPECT_THAT(Ask(pools, "master").failure->message(), HasSubstr("machine-pools/master.yaml: its kind is Pod"));
}

TEST_F(ServedBootstrapTest, AnswersWith500IfTheKubeconfigOrARegistryCertificateIsMissing) {
  const ServedPools pools = Pools();
  std::filesystem::remove(folder_ / "bar.crt");
  EXPECT_EQ(Ask(pools, "master").http.status, 500);
  std::filesystem::remove(folder_ / "kubeconfig");
  const IgnitionAnswer answer = Ask(pools, "master");
  EXPECT_EQ(answer.http.status, 500);
  EXPECT_THAT(answer.failure->message(), HasSubstr("the kubeconfig: reading "));
}

TEST_F(ServedBootstrapTest, ReadsNothingOutsideOfTheFolder) {
  const TemporaryDirectory outside;
  const std::filesystem::path config = folder_ / "machine-configs/rendered-master-1.yaml";
  std::filesystem::rename(config, outside / "config.yaml");
  std::filesystem::create_symlink(outside / "config.yaml", config);
  EXPECT_EQ(Ask(Pools(), "master").http.status, 404);
}

TEST_F(ServedBootstrapTest, NeedsAFolder) {
  EXPECT_THAT(MessageOf(ServeBootstrap({.directory = folder_ / "none", .kubeconfig_file = ""}, MakeServedTextCache())),
              HasSubstr((folder_ / "none").string()));
}

TEST_F(ServedBootstrapTest, HasTheTlsRulesOfTheApiServer) {
  const auto rules_with = [&](const std::string& profile) {
    folder_.Write("api-server/api-server.yaml",
                  "kind: APIServer\nmetadata: {name: cluster}\nspec: {" + profile + "}\n");
    return ValueOf(TlsRulesIn(folder_.path()));
  };
  const net::TlsRules without_api_server = ValueOf(TlsRulesIn(folder_.path()));
  EXPECT_EQ(without_api_server.oldest, net::TlsVersion::k1_2);
  EXPECT_TRUE(without_api_server.ciphers.empty());
  EXPECT_EQ(rules_with("tlsSecurityProfile: {type: Modern}").oldest, net::TlsVersion::k1_3);
  // The profile Old allows TLS 1.0, which the server does not support.
  EXPECT_EQ(rules_with("tlsSecurityProfile: {type: Old}").oldest, net::TlsVersion::k1_2);
  EXPECT_EQ(rules_with("").oldest, net::TlsVersion::k1_2);
  const std::string custom = "tlsSecurityProfile: {type: Custom, custom: {ciphers: [ECDHE-RSA-AES128-GCM-SHA256], ";
  EXPECT_THAT(rules_with(custom + "minTLSVersion: VersionTLS12}}").ciphers, ElementsAre("ECDHE-RSA-AES128-GCM-SHA256"));
  EXPECT_EQ(rules_with(custom + "minTLSVersion: VersionTLS12}}").unknown_ciphers, net::UnknownCiphers::kLeftOut);
  EXPECT_EQ(rules_with(custom + "minTLSVersion: VersionTLS13}}").oldest, net::TlsVersion::k1_3);
  // The list of ciphers is for TLS 1.2, so it does not count if TLS 1.3 is the oldest version.
  EXPECT_TRUE(rules_with(custom + "minTLSVersion: VersionTLS13}}").ciphers.empty());
  folder_.Write("api-server/api-server.yaml", "kind: Pod\n");
  EXPECT_THAT(MessageOf(TlsRulesIn(folder_.path())), HasSubstr("api-server.yaml: its kind is Pod"));
}

TEST(ParseRegistryFile, NeedsAHostAndAFile) {
  const RegistryFile parsed = ValueOf(ParseRegistryFile("r.test:5000=a=b.crt"));
  EXPECT_EQ(parsed.host, "r.test:5000");
  EXPECT_EQ(parsed.file, "a=b.crt");
  for (const char* wrong : {"", "=", "a", "a=", "=b"}) {
    EXPECT_THAT(MessageOf(ParseRegistryFile(wrong)), HasSubstr("HOST=FILE")) << wrong;
  }
  for (const char* wrong : {"../a=b", "..=b", "a/b=c"}) {
    EXPECT_THAT(MessageOf(ParseRegistryFile(wrong)), HasSubstr("the name of a host")) << wrong;
  }
}

}  // namespace
}  // namespace pintle::serving
