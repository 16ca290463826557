// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include "base/base64.h"
#include "kube/access.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Kubeconfig(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts:\n- name: here\n  context: {cluster: c, user: u, namespace: ns}\n"
         "- name: there\n  context: {cluster: elsewhere, user: u}\n"
         "clusters:\n- name: c\n  cluster: {" +
         cluster + "}\n- name: elsewhere\n  cluster: {server: 'https://elsewhere:6443'}\nusers:\n- name: u\n  user: {" +
         user + "}\n";
}

Result<Config> Parse(const std::string& cluster, const std::string& user) {
  return ParseKubeconfig(Kubeconfig(cluster, user), "/etc/kubernetes");
}

const std::string kServer = "server: 'https://api.example.com:6443'";

TEST(Kubeconfig, HasTheServerAndNamespaceOfItsCurrentContext) {
  const Config config = ValueOf(Parse(kServer, "token: abc"));
  EXPECT_EQ(config.server.text(), "https://api.example.com:6443/");
  EXPECT_EQ(config.namespace_name, "ns");
  EXPECT_EQ(config.token, "abc");
  EXPECT_FALSE(config.tls.authorities);
  EXPECT_FALSE(config.tls.client);
}

TEST(Kubeconfig, ReturnsTheRequestedContext) {
  const Config config = ValueOf(ParseKubeconfig(Kubeconfig(kServer, "token: abc"), "/", "there"));
  EXPECT_EQ(config.server.host(), "elsewhere");
  EXPECT_EQ(config.namespace_name, "default");
}

TEST(Kubeconfig, NamesFilesRelativeToItself) {
  const Config config = ValueOf(Parse(kServer + ", certificate-authority: pki/ca.crt",
                                      "client-certificate: /var/lib/k.pem, client-key: k.pem, tokenFile: token"));
  EXPECT_EQ(std::get<net::PemFile>(*config.tls.authorities).path, "/etc/kubernetes/pki/ca.crt");
  EXPECT_EQ(std::get<net::PemFile>(config.tls.client->certificate).path, "/var/lib/k.pem");
  EXPECT_EQ(std::get<net::PemFile>(config.tls.client->key).path, "/etc/kubernetes/k.pem");
  EXPECT_EQ(config.token_file, "/etc/kubernetes/token");
}

TEST(Kubeconfig, PrefersEmbeddedDataToFiles) {
  const Config config =
      ValueOf(Parse(kServer + ", certificate-authority: x, certificate-authority-data: " + EncodeBase64("CA"),
                    "client-certificate-data: " + EncodeBase64("C") + ", client-key: k"));
  EXPECT_EQ(std::get<net::PemText>(*config.tls.authorities).text, "CA");
  EXPECT_EQ(std::get<net::PemText>(config.tls.client->certificate).text, "C");
  EXPECT_EQ(std::get<net::PemFile>(config.tls.client->key).path, "/etc/kubernetes/k");
}

TEST(Kubeconfig, MayHaveBase64DataOnSeveralLines) {
  const std::string data = EncodeBase64("a certificate");
  const std::string first = data.substr(0, 7);
  const std::string second = data.substr(7);
  const auto with_data = [](const std::string& written) {
    return "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters:\n- name: b\n  cluster:\n"
           "    certificate-authority-data:" +
           written + "\n    server: https://h\n";
  };
  for (const std::string& written :
       {"\n      " + data, "\n      " + first + "\n      " + second, " " + first + "\n      " + second,
        " |\n      " + first + "\n      " + second, " >-\n      " + first + "\n      " + second,
        " \"" + first + "\n      " + second + "\"", "\n      '" + first + "\n      " + second + "'"}) {
    const Config config = ValueOf(ParseKubeconfig(with_data(written), "/"));
    EXPECT_EQ(std::get<net::PemText>(config.tls.authorities.value()).text, "a certificate") << written;
  }
}

TEST(Kubeconfig, MayBeJson) {
  const Config config = ValueOf(ParseKubeconfig(
      R"({"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "b"}}],
          "clusters": [{"name": "b", "cluster": {"server": "https://h", "proxy-url": "http://p:3128"}}]})",
      "/"));
  EXPECT_EQ(config.server.host(), "h");
  EXPECT_EQ(config.proxy, "http://p:3128");
}

TEST(Kubeconfig, IsRefusedWithTheFieldAndTheRemedy) {
  EXPECT_EQ(
      MessageOf(Parse(kServer, "exec: {command: aws}")),
      "user \"u\": exec: is not supported; use a token, a tokenFile, or a client-certificate with its client-key, "
      "such as those of a service account");
  EXPECT_THAT(MessageOf(Parse(kServer, "auth-provider: {name: gcp}")), HasSubstr("auth-provider: is not supported"));
  EXPECT_THAT(MessageOf(Parse(kServer, "username: me, password: secret")), HasSubstr("username: is not supported"));
  EXPECT_THAT(MessageOf(Parse(kServer, "username: 1234, password: 5678")), HasSubstr("username: is not supported"));
  EXPECT_THAT(MessageOf(Parse(kServer, "username: true")), HasSubstr("username: is not supported"));
  EXPECT_THAT(MessageOf(Parse(kServer, "as-uid: 0, token: abc")), HasSubstr("as-uid: is not supported"));
  EXPECT_EQ(MessageOf(Parse(kServer, "as: someone, token: abc")),
            "user \"u\": as: is not supported; use the credentials of that user");
  EXPECT_THAT(MessageOf(Parse(kServer + ", insecure-skip-tls-verify: true", "token: abc")),
              HasSubstr("insecure-skip-tls-verify: is not supported; give the CA"));
  EXPECT_THAT(MessageOf(Parse(kServer + ", tls-server-name: other", "token: abc")), HasSubstr("tls-server-name"));
}

TEST(Kubeconfig, MayHaveUnsupportedFieldsThatAreFalseOrEmpty) {
  EXPECT_TRUE(Succeeded(Parse(kServer + ", insecure-skip-tls-verify: false", "token: abc, exec: null, username: ''")));
}

TEST(Kubeconfig, IsRefusedWhenIncomplete) {
  EXPECT_EQ(MessageOf(Parse("server: ''", "")), "cluster \"c\": server: is required");
  EXPECT_EQ(MessageOf(Parse(kServer, "client-certificate: a")),
            "user \"u\": client-key: is required beside a client-certificate");
  EXPECT_EQ(MessageOf(Parse(kServer, "client-key: a")),
            "user \"u\": client-certificate: is required beside a client-key");
  EXPECT_EQ(MessageOf(ParseKubeconfig("{}", "/")), "current-context: is required");
  EXPECT_EQ(MessageOf(ParseKubeconfig(Kubeconfig(kServer, ""), "/", "nowhere")), "the file has no context \"nowhere\"");
  EXPECT_EQ(MessageOf(ParseKubeconfig("current-context: a\ncontexts: [{name: a, context: {cluster: b}}]", "/")),
            "context \"a\": the file has no cluster \"b\"");
  EXPECT_EQ(MessageOf(ParseKubeconfig("", "/")), "the file has 0 YAML documents, but must have exactly one");
}

TEST(Kubeconfig, AllowsPlainHttpToTheLoopbackOnly) {
  EXPECT_TRUE(Succeeded(Parse("server: 'http://127.0.0.1:8001'", "")));
  EXPECT_TRUE(Succeeded(Parse("server: 'http://[::1]:8001'", "")));
  for (const std::string host : {"api.example.com", "127.example.com", "127.0.0.1.example.com", "169.254.1.1"}) {
    EXPECT_EQ(MessageOf(Parse("server: 'http://" + host + "'", "")), "cluster \"c\": server: must be an https URL");
  }
}

TEST(Kubeconfig, NeverHasItsSecretsInAMessage) {
  const std::string secret = "hunter2hunter2";
  for (const std::string& text :
       {"{\"users\": [{\"name\": \"u\", \"user\": {\"token\": \"" + secret, "token: [" + secret + "}",
        "users: {token: " + secret + "}", "{\"token\": " + secret + "}", "- " + secret,
        "users: [{name: u, user: " + secret + "}]", "a: *" + secret,
        Kubeconfig(kServer, "client-certificate-data: " + secret + "!, client-key: a"),
        Kubeconfig("server: 'https://me:" + secret + "@h'", "")}) {
    EXPECT_THAT(MessageOf(ParseKubeconfig(text, "/")), Not(HasSubstr(secret.substr(0, 6)))) << text;
  }
}

TEST(Kubeconfig, NamesTheLineThatCannotBeParsed) {
  EXPECT_EQ(MessageOf(ParseKubeconfig("a: b\nc: *d\n", "/")), "the file is neither YAML nor JSON: line 2");
}

TEST(Kubeconfig, ThatIsHostileIsRefused) {
  for (const std::string& text : {std::string(1000, '['), std::string("a: &a [*a]"), std::string("\0\0", 2),
                                  std::string("users: 1"), std::string("clusters: [1]"), std::string(5 << 20, 'a')}) {
    EXPECT_FALSE(ParseKubeconfig(text, "/"));
  }
}

class PodTest : public testing::Test {
 protected:
  PodTest() {
    directory_.Write("namespace", "openshift-machine-config-operator");
    directory_.Write("token", "first\n");
  }
  PodSurroundings At(const std::string& host) { return {.directory = directory_.path(), .host = host, .port = "443"}; }
  TemporaryDirectory directory_;
};

TEST_F(PodTest, FindsTheApiServerAndItsServiceAccount) {
  const Config config = ValueOf(InCluster(At("10.96.0.1")));
  EXPECT_EQ(config.server.HostAndPort(), "10.96.0.1:443");
  EXPECT_EQ(config.namespace_name, "openshift-machine-config-operator");
  EXPECT_EQ(std::get<net::PemFile>(*config.tls.authorities).path, directory_ / "ca.crt");
}

TEST_F(PodTest, MayBeInAnIpv6Cluster) {
  EXPECT_EQ(ValueOf(InCluster(At("fd02::1"))).server.HostAndPort(), "[fd02::1]:443");
}

TEST_F(PodTest, UsesATokenThatWasReplaced) {
  const Config config = ValueOf(InCluster(At("10.96.0.1")));
  EXPECT_EQ(ValueOf(ReadToken(config)), "first");
  directory_.Write("token", "second");
  EXPECT_EQ(ValueOf(ReadToken(config)), "second");
  directory_.Write("token", "\n");
  EXPECT_THAT(MessageOf(ReadToken(config)), HasSubstr("/token is empty"));
}

TEST(InCluster, IsRefusedOutsideAPod) {
  EXPECT_THAT(MessageOf(InCluster({.directory = "/", .host = "", .port = ""})),
              HasSubstr("this process is not in a pod"));
}

TEST(Access, FollowsAKubeconfigThatIsReplaced) {
  const TemporaryDirectory directory;
  directory.Write("config", Kubeconfig(kServer, "token: abc"));
  Access access = ValueOf(Access::FromKubeconfig(directory / "config"));
  EXPECT_EQ(ValueOf(access.Current())->server.host(), "api.example.com");
  directory.Write("config", Kubeconfig("server: 'https://moved:6443'", "token: abc"));
  EXPECT_EQ(ValueOf(access.Current())->server.host(), "moved");
  directory.Write("config", "");
  EXPECT_EQ(MessageOf(access.Current()), "reading the kubeconfig " + std::string(directory / "config") +
                                             ": the file has 0 YAML documents, but must have exactly one");
}

TEST(Access, NamesTheMissingKubeconfig) {
  EXPECT_EQ(MessageOf(Access::FromKubeconfig("/nonexistent/config")),
            "reading the kubeconfig /nonexistent/config: reading /nonexistent/config: open: No such file or directory");
}

}  // namespace
}  // namespace pintle::kube
