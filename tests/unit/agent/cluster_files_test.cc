// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster_files.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/base64.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/net/made_certificate.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kKubeletFile = "/etc/kubernetes/kubelet-ca.crt";
constexpr const char* kCloudFile = "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem";
constexpr const char* kSecretFile = "/etc/mco/internal-registry-pull-secret.json";

RegistryBundle Bundle(const std::string& file, const std::string& contents) { return {file, EncodeBase64(contents)}; }

ClusterFilesSource SampleSource() {
  ClusterFilesSource source;
  source.metadata.name = "machine-config-controller";
  source.spec.kubelet_authorities = EncodeBase64(NamedCertificate("kubelet's"));
  source.spec.internal_pull_secret = EncodeBase64("{}");
  return source;
}

ClusterFilesSource SourceWithRegistries(std::vector<RegistryBundle> bundles,
                                        std::vector<RegistryBundle> user_bundles = {}) {
  ClusterFilesSource source = SampleSource();
  source.spec.registries = std::move(bundles);
  source.spec.user_registries = std::move(user_bundles);
  return source;
}

std::map<std::string, std::string> ContentsOf(const ClusterFiles& files) {
  std::map<std::string, std::string> contents;
  for (const ClusterFile& file : files.files) contents.emplace(file.path, file.contents);
  return contents;
}

TEST(ClusterFiles, AreReadFromAControllerConfigAsItsOperatorWritesIt) {
  json::Report report;
  json::Value document = ValueOf(json::Parse(R"({
    "kind": "ControllerConfig", "metadata": {"name": "c", "resourceVersion": "7"},
    "spec": {"cloudProviderCAData": null, "internalRegistryPullSecret": "e30=",
             "imageRegistryBundleData": [{"file": "r.example.com..5000", "data": "cg=="}],
             "imageRegistryBundleUserData": null, "rootCAData": "eA=="}})"));
  document["spec"]["kubeAPIServerServingCAData"] = EncodeBase64(NamedCertificate("kubelet's"));
  const auto source = json::Decode<ClusterFilesSource>(std::move(document), report);
  EXPECT_TRUE(Succeeded(report.ToResult()));
  const auto files = ValueOf(FilesOf(source));
  EXPECT_THAT(ContentsOf(files), ElementsAre(std::pair("/etc/docker/certs.d/r.example.com:5000/ca.crt", "r\n"),
                                             std::pair(kKubeletFile, NamedCertificate("kubelet's")),
                                             std::pair(kCloudFile, "\n"), std::pair(kSecretFile, "{}\n")));
  EXPECT_THAT(files.registries, ElementsAre("r.example.com:5000"));
}

TEST(ClusterFiles, AnAuthorityOfTheUsersReplacesTheAuthorityOfTheCluster) {
  const auto files = ValueOf(FilesOf(SourceWithRegistries({Bundle("a", "cluster")}, {Bundle("a", "user")})));
  EXPECT_EQ(ContentsOf(files)["/etc/docker/certs.d/a/ca.crt"], "user\n");
  EXPECT_THAT(files.registries, ElementsAre("a"));
}

TEST(ClusterFiles, AnEmptyBundleForTheKubeletIsNotWritten) {
  EXPECT_THAT(ContentsOf(ValueOf(FilesOf(ClusterFilesSource()))), ElementsAre(std::pair(kCloudFile, "\n")));
}

TEST(ClusterFiles, ABundleForTheKubeletWithoutACertificateIsRefused) {
  ClusterFilesSource source = SampleSource();
  source.spec.kubelet_authorities = EncodeBase64("no certificate");
  EXPECT_THAT(MessageOf(FilesOf(source)),
              HasSubstr("$.spec.kubeAPIServerServingCAData: has no certificate that can be read"));
}

TEST(ClusterFiles, AnErrorListsAllProblemsAndContainsNoSecret) {
  auto source = SourceWithRegistries({Bundle("../evil", "a"), Bundle("..", "a"), Bundle("", "a"), {"fine", "?"}},
                                     {Bundle(std::string("a\0b", 3), "a")});
  source.spec.internal_pull_secret = "secret!";
  EXPECT_THAT(
      MessageOf(FilesOf(source)),
      AllOf(HasSubstr("ControllerConfig machine-config-controller"),
            HasSubstr("$.spec.internalRegistryPullSecret: is not base64"),
            HasSubstr("$.spec.imageRegistryBundleData.0.file: is not the name of a registry"),
            HasSubstr("$.spec.imageRegistryBundleData.2.file"), HasSubstr("$.spec.imageRegistryBundleData.3.data"),
            HasSubstr("$.spec.imageRegistryBundleUserData.0.file"), Not(HasSubstr("secret!"))));
}

class PutClusterFilesTest : public testing::Test {
 protected:
  std::vector<std::string> Put(const ClusterFilesSource& source) {
    return ValueOf(PutClusterFiles(root_, ValueOf(FilesOf(source))));
  }
  fs::path Place(const std::string& path) const { return directory_ / path.substr(1); }
  std::string Read(const std::string& path) const { return directory_.Read(path.substr(1)); }
  mode_t ModeOf(const std::string& path) const { return StatusOf(path).st_mode & 07777; }
  struct stat StatusOf(const std::string& path) const {
    struct stat status = {};
    EXPECT_EQ(::stat(Place(path).c_str(), &status), 0) << path;
    return status;
  }
  void Make(const std::string& path, const std::string& contents) {
    fs::create_directories(Place(path).parent_path());
    directory_.Write(path.substr(1), contents);
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path()));
};

TEST_F(PutClusterFilesTest, WritesOnlyFilesThatDiffer) {
  EXPECT_THAT(Put(SampleSource()), ElementsAre(kKubeletFile, kCloudFile, kSecretFile));
  EXPECT_EQ(Read(kKubeletFile), NamedCertificate("kubelet's"));
  EXPECT_EQ(ModeOf(kKubeletFile), 0644u);
  const auto before = StatusOf(kKubeletFile).st_ino;
  EXPECT_THAT(Put(SampleSource()), IsEmpty());
  EXPECT_EQ(StatusOf(kKubeletFile).st_ino, before);
  Make(kKubeletFile, "mine");
  EXPECT_THAT(Put(SampleSource()), ElementsAre(kKubeletFile));
  EXPECT_EQ(Read(kKubeletFile), NamedCertificate("kubelet's"));
}

TEST_F(PutClusterFilesTest, AFileKeepsItsModeAndASecretIsReadableByRootOnly) {
  Make(kKubeletFile, "old");
  Make(kSecretFile, "{}\n");
  fs::permissions(Place(kKubeletFile), fs::perms(0600));
  EXPECT_THAT(Put(SampleSource()), Contains(kSecretFile));
  EXPECT_EQ(ModeOf(kKubeletFile), 0600u);
  EXPECT_EQ(ModeOf(kSecretFile), 0600u);
}

TEST_F(PutClusterFilesTest, ALinkIsReplacedAndNotFollowed) {
  Make("/etc/shadow", "not theirs");
  fs::create_directories(Place("/etc/kubernetes"));
  fs::create_symlink("/etc/shadow", Place(kKubeletFile));
  Put(SampleSource());
  EXPECT_EQ(Read("/etc/shadow"), "not theirs");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(Place(kKubeletFile))));
}

TEST_F(PutClusterFilesTest, RemovesOnlyRegistriesThatItHasWritten) {
  Make("/etc/docker/certs.d/mine/ca.crt", "mine");
  Put(SourceWithRegistries({Bundle("a..1", "a"), Bundle("b", "b"), Bundle("c", "c")}));
  Make("/etc/docker/certs.d/c/client.cert", "mine");
  const auto kept = StatusOf("/etc/docker/certs.d/b/ca.crt").st_ino;
  EXPECT_THAT(Put(SourceWithRegistries({Bundle("b", "b")})),
              ElementsAre("/etc/docker/certs.d/a:1/ca.crt", "/etc/docker/certs.d/c/ca.crt"));
  EXPECT_FALSE(fs::exists(Place("/etc/docker/certs.d/a:1")));
  EXPECT_FALSE(fs::exists(Place("/etc/docker/certs.d/c/ca.crt")));
  EXPECT_EQ(Read("/etc/docker/certs.d/c/client.cert"), "mine");
  EXPECT_EQ(Read("/etc/docker/certs.d/mine/ca.crt"), "mine");
  // The bundle that stays was not rewritten: it has the same inode.
  EXPECT_EQ(StatusOf("/etc/docker/certs.d/b/ca.crt").st_ino, kept);
  EXPECT_THAT(Put(SourceWithRegistries({Bundle("b", "b")})), IsEmpty());
}

TEST_F(PutClusterFilesTest, ADirectoryInPlaceOfAFileIsNamedInTheError) {
  fs::create_directories(Place(kKubeletFile));
  EXPECT_THAT(MessageOf(PutClusterFiles(root_, ValueOf(FilesOf(SampleSource())))),
              HasSubstr("writing /etc/kubernetes/kubelet-ca.crt"));
}

TEST_F(PutClusterFilesTest, WaitingFilesAreReportedWithTheirExpiryAndNotWritten) {
  const std::string signer = "kube-apiserver-to-kubelet-signer";
  Put(SourceWithRegistries({Bundle("gone", "a")}));
  const ClusterFiles wanted = ValueOf(FilesOf(SourceWithRegistries({Bundle("new", "b")})));
  Make(kKubeletFile, MadeCertificate("other", "20300101000000Z") + MadeCertificate(signer, "20261206120000Z"));
  const auto waiting = ValueOf(FilesThatWait(root_, wanted));
  std::vector<std::string> paths;
  for (const api::WaitingFile& file : waiting) paths.push_back(file.path);
  EXPECT_THAT(paths, testing::UnorderedElementsAre(kKubeletFile, "/etc/docker/certs.d/new/ca.crt",
                                                   "/etc/docker/certs.d/gone/ca.crt"));
  EXPECT_EQ(ToRfc3339(waiting.front().valid_until.value().at), "2026-12-06T12:00:00Z");
  EXPECT_EQ(waiting.front().subject, "CN=" + signer + ",OU=openshift");
  EXPECT_EQ(waiting.back().valid_until, std::nullopt);
  EXPECT_FALSE(fs::exists(Place("/etc/docker/certs.d/new")));
  EXPECT_TRUE(fs::exists(Place("/etc/docker/certs.d/gone/ca.crt")));
  // Nothing waits any more once the files are written.
  ValueOf(PutClusterFiles(root_, wanted));
  EXPECT_THAT(ValueOf(FilesThatWait(root_, wanted)), IsEmpty());
}

}  // namespace
}  // namespace pintle::agent
