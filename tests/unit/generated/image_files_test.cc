// SPDX-License-Identifier: Apache-2.0
#include "generated/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generated/payload_registries.h"
#include "generated/sigstore_registries.h"
#include "unit/generated/image_policy_fixture.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

constexpr std::string_view kRelease =
    "r.test/release@sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

const RuntimeTemplates& RuntimeFileTemplates() {
  static const RuntimeTemplates kTemplates{
      .storage_conf = "",
      .registries_conf = "unqualified-search-registries = [\"s.test\"]\n",
      .policy_json = R"({"default":[{"type":"insecureAcceptAnything"}],"transports":{}})"};
  return kTemplates;
}

// The objects of a cluster that ImageRulesOf() reads.
struct ClusterImages {
  api::Image image;
  std::vector<api::MirrorSet> content_source_policies;
  std::vector<api::MirrorSet> digest_sets;
  std::vector<api::MirrorSet> tag_sets;
  std::vector<api::ImagePolicy> cluster_policies;
  std::vector<api::ImagePolicy> namespace_policies;

  api::RegistrySources& sources() { return image.spec.registry_sources; }
  void AddDigestMirrors(std::string source, Names mirrors) {
    digest_sets.emplace_back().spec.image_digest_mirrors.push_back({std::move(source), std::move(mirrors), ""});
  }
  MirrorObjects Mirrors() const { return {content_source_policies, digest_sets, tag_sets}; }
  ImageInputs Inputs() const {
    return {.image = &image,
            .release_image = std::string(kRelease),
            .mirrors = Mirrors(),
            .cluster_policies = cluster_policies,
            .namespace_policies = namespace_policies};
  }
};

Names PathsOf(const ClusterImages& cluster, ImagesFor whom = ImagesFor::kCluster) {
  const auto rules = ImageRulesOf(cluster.Inputs(), whom);
  if (!rules) return {rules.error().message()};
  const auto files = FilesOf(*rules, RuntimeFileTemplates());
  if (!files) return {files.error().message()};
  Names paths;
  for (const NewFile& file : *files) paths.push_back(file.path);
  return paths;
}

constexpr std::string_view kRegistries = "/etc/containers/registries.conf";
constexpr std::string_view kPolicy = "/etc/containers/policy.json";
constexpr std::string_view kSigstore = "/etc/containers/registries.d/sigstore-registries.yaml";
constexpr std::string_view kSearch = "/etc/containers/registries.conf.d/01-image-searchRegistries.conf";

TEST(FilesOfImages, AreOnlyThoseThatTheSettingsNeed) {
  EXPECT_THAT(PathsOf({}), IsEmpty());
  ClusterImages cluster;
  cluster.sources().insecure = Names();
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kRegistries));
  cluster = {};
  cluster.sources().blocked = Names();
  EXPECT_THAT(PathsOf(cluster), IsEmpty());
  cluster.sources().blocked = Names{"b.test"};
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kRegistries, kPolicy));
  cluster = {};
  cluster.sources().allowed = Names();
  EXPECT_THAT(PathsOf(cluster), IsEmpty());
  cluster.sources().allowed = Names{"a.test"};
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kPolicy));
  cluster = {};
  cluster.sources().search = Names();
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kSearch));
  cluster = {};
  cluster.tag_sets.emplace_back();
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kRegistries));
}

TEST(FilesOfImages, AreInTheOrderOfTheOperator) {
  ClusterImages cluster;
  cluster.sources() = {
      .insecure = Names{"i.test"}, .blocked = Names{"b.test"}, .allowed = {}, .search = Names{"s.test"}};
  cluster.cluster_policies = {PolicyFor({"c.test"})};
  cluster.namespace_policies = {PolicyFor({"z.test"}, "zz"), PolicyFor({"a.test"}, "aa")};
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kRegistries, kPolicy, kSigstore, "/etc/crio/policies/aa.json",
                                            "/etc/crio/policies/zz.json", kSearch));
}

TEST(FilesOfImages, HaveThePolicyOfTheTemplateBesideThePoliciesOfNamespaces) {
  ClusterImages cluster;
  cluster.namespace_policies = {PolicyFor({"s.test"}, "ns")};
  const auto files = FilesOf(*ImageRulesOf(cluster.Inputs(), ImagesFor::kCluster), RuntimeFileTemplates());
  ASSERT_TRUE(files);
  EXPECT_EQ(files->at(0).contents, RuntimeFileTemplates().policy_json);
  EXPECT_EQ(files->size(), 3U);
}

TEST(FilesOfImages, NameTheFileThatCouldNotBeMade) {
  ClusterImages cluster;
  cluster.sources().insecure = Names{"*"};
  EXPECT_THAT(PathsOf(cluster), ElementsAre("could not update registries config with new changes: invalid entry for "
                                            "insecure registries \"*\""));
  cluster = {};
  cluster.sources().allowed = Names{"*"};
  EXPECT_THAT(PathsOf(cluster), ElementsAre("could not update policy json with new changes: invalid entry for allowed "
                                            "registries \"*\""));
  cluster = {};
  cluster.sources().allowed = Names{"a.test"};
  cluster.namespace_policies = {PolicyFor({"b.test"}, "ns")};
  EXPECT_THAT(PathsOf(cluster),
              ElementsAre("could not update namespace policy JSON from imagepolicy: imagePolicy configured for the "
                          "scope b.test is not nested inside allowedRegistries"));
}

TEST(ImageRulesOf, NeedTheNameOfTheReleaseForAnImage) {
  ClusterImages cluster;
  ImageInputs inputs = cluster.Inputs();
  inputs.release_image = "release:latest";
  EXPECT_EQ(ImageRulesOf(inputs, ImagesFor::kCluster).error().message(), "error parsing reference of release image");
  inputs.image = nullptr;
  EXPECT_TRUE(ImageRulesOf(inputs, ImagesFor::kBootstrap));
}

TEST(ImageRulesOf, ReportAPolicyBeforeTheReleaseAtBootstrapOnly) {
  ClusterImages cluster;
  cluster.cluster_policies = {PolicyFor({"s.test"})};
  cluster.cluster_policies[0].spec.policy.signed_identity.emplace().match_policy = "Huh";
  ImageInputs inputs = cluster.Inputs();
  inputs.release_image = "release:latest";
  EXPECT_EQ(ImageRulesOf(inputs, ImagesFor::kBootstrap).error().message(), "unknown signedIdentity match policy: Huh");
  EXPECT_EQ(ImageRulesOf(inputs, ImagesFor::kCluster).error().message(), "error parsing reference of release image");
}

// The release's own repository may be allowed together with blocked registries, if no other registry is allowed.  At
// bootstrap, the list of allowed registries has the repository twice, so it does not count as the only one.
TEST(ImageRulesOf, CountAllowedRegistriesTwiceAtBootstrap) {
  ClusterImages cluster;
  cluster.sources().allowed = Names{"r.test/release"};
  cluster.sources().blocked = Names{"b.test"};
  EXPECT_THAT(PathsOf(cluster), ElementsAre(kRegistries, kPolicy));
  EXPECT_THAT(PathsOf(cluster, ImagesFor::kBootstrap),
              ElementsAre(HasSubstr("only one of AllowedRegistries or BlockedRegistries may be specified")));
}

struct Split {
  Names blocked;
  Names mirrors;  // Mirrors of the release.
  Names in_registries;
  Names in_policy;
  Names allowed;
  Names left_out;
};

TEST(SplitRegistries, BlocksTheReleaseOnlyIfThereIsAMirror) {
  for (const Split& row : {
           Split{{"b.test"}, {}, {"b.test"}, {"b.test"}, {}, {}},
           {{"r.test", "b.test"}, {}, {"b.test"}, {"b.test"}, {}, {"r.test"}},
           {{"r.test/release"}, {}, {}, {}, {}, {"r.test/release"}},
           {{"r.test/release/sub"}, {}, {"r.test/release/sub"}, {"r.test/release/sub"}, {}, {}},
           {{"*.test"}, {}, {}, {}, {}, {"*.test"}},
           {{"r.test/release"}, {"m.test/x"}, {"r.test/release"}, {}, {"r.test/release"}, {}},
           {{"r.test"}, {"m.test/x"}, {"r.test"}, {"r.test"}, {"r.test/release"}, {}},
           {{"r.test", "r.test/release"},
            {"m.test/x"},
            {"r.test", "r.test/release"},
            {"r.test"},
            {"r.test/release", "r.test/release"},
            {}},
           {{"r.test", "m.test"}, {"m.test/x"}, {"m.test"}, {"m.test"}, {}, {"r.test"}},
           {{"r.test", "m.test"},
            {"m.test/x", "n.test/y"},
            {"r.test", "m.test"},
            {"r.test", "m.test"},
            {"r.test/release"},
            {}},
           {{"r.test"}, {"r.test/other"}, {}, {}, {}, {"r.test"}},
       }) {
    ClusterImages cluster;
    if (!row.mirrors.empty()) cluster.AddDigestMirrors("r.test/release", row.mirrors);
    cluster.sources().blocked = row.blocked;
    const auto split = SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors());
    ASSERT_TRUE(split);
    EXPECT_EQ(split->blocked_in_registries, row.in_registries) << testing::PrintToString(row.blocked);
    EXPECT_EQ(split->blocked_in_policy, row.in_policy) << testing::PrintToString(row.blocked);
    EXPECT_EQ(split->allowed, row.allowed) << testing::PrintToString(row.blocked);
    EXPECT_EQ(split->left_out, row.left_out) << testing::PrintToString(row.blocked);
    EXPECT_EQ(split->payload, "r.test/release");
  }
}

TEST(SplitRegistries, CountsOnlyDigestMirrorsWhoseRepositoryIsNotBlocked) {
  ClusterImages cluster;
  cluster.sources().blocked = Names{"r.test", "m.test/ns/release"};
  cluster.tag_sets.emplace_back().spec.image_tag_mirrors = {{"r.test", {"n.test"}, ""}};
  cluster.AddDigestMirrors("r.test", {"m.test/ns"});
  EXPECT_THAT(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->left_out, ElementsAre("r.test"));
  cluster.content_source_policies.emplace_back().spec.repository_digest_mirrors = {{"r.test", {"o.test"}, ""}};
  EXPECT_THAT(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->left_out, IsEmpty());
  EXPECT_EQ(WhyLeftOut("r.test"),
            "error adding \"r.test\" to blocked registries, cannot block the repository being used by the payload");
}

TEST(SplitRegistries, CountsTheMirrorsOfTheMostSpecificEntryOnly) {
  ClusterImages cluster;
  cluster.sources().blocked = Names{"r.test", "n.test"};
  cluster.AddDigestMirrors("r.test", {"m.test"});
  cluster.AddDigestMirrors("r.test/release", {"n.test/release"});
  EXPECT_THAT(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->left_out, ElementsAre("r.test"));
  cluster.sources().blocked = Names{"r.test"};
  EXPECT_THAT(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->left_out, IsEmpty());
}

TEST(SplitRegistries, CountsMirrorsForDigestsOnlyIfTheReleaseHasADigest) {
  ClusterImages cluster;
  cluster.sources().blocked = Names{"r.test", "b.test"};
  cluster.AddDigestMirrors("r.test", {"m.test"});
  EXPECT_THAT(SplitRegistries(cluster.sources(), "r.test/release:4.20", cluster.Mirrors())->left_out,
              ElementsAre("r.test"));
  EXPECT_THAT(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->left_out, IsEmpty());
}

// The mirror of a repository cannot be a whole registry, because the image would have no name there.
TEST(SplitRegistries, BlocksNothingIfItIsUnknownWhereTheReleaseIsPulledFrom) {
  ClusterImages cluster;
  cluster.sources().blocked = Names{"r.test", "b.test"};
  cluster.sources().allowed = Names{"a.test"};
  cluster.AddDigestMirrors("r.test/release", {"m.test"});
  const auto split = SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors());
  ASSERT_TRUE(split);
  EXPECT_THAT(split->problem, HasSubstr("repository name must be canonical"));
  EXPECT_THAT(split->blocked_in_registries, IsEmpty());
  EXPECT_THAT(split->blocked_in_policy, IsEmpty());
  EXPECT_THAT(split->allowed, IsEmpty());
  EXPECT_THAT(ImageRulesOf(cluster.Inputs(), ImagesFor::kCluster)->complaints,
              ElementsAre(HasSubstr("no registry is blocked")));
  // The mirrors of a wildcard cannot be given to a blocked registry inside of it.
  cluster = {};
  cluster.sources().blocked = Names{"r.test", "a.w.test"};
  cluster.AddDigestMirrors("*.w.test", {"m.test"});
  EXPECT_THAT(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->problem, HasSubstr("wildcard scope"));
  // The mirrors do not matter if no blocked registry contains the release.
  cluster.sources().blocked = Names{"b.test"};
  EXPECT_EQ(SplitRegistries(cluster.sources(), kRelease, cluster.Mirrors())->problem, "");
}

Names SigstoreKeys(const Names& scopes, const std::vector<std::pair<std::string, Names>>& entries) {
  PolicyRequirements requirements;
  for (const std::string& scope : scopes) requirements.of_cluster[scope];
  RegistriesConf conf;
  for (const auto& [scope, mirrors] : entries) {
    Registry& registry = conf.registries.emplace_back();
    (scope.starts_with("*.") ? registry.prefix : registry.endpoint.location) = scope;
    for (const std::string& mirror : mirrors) registry.mirrors.emplace_back().location = mirror;
  }
  const std::string text = *SigstoreRegistries(requirements, conf);
  Names keys;
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos; ++at) {
    if (text[at + 3] != ' ') keys.push_back(text.substr(at + 3, text.find(":\n", at) - at - 3));
  }
  return keys;
}

TEST(SigstoreRegistries, HasScopesAndTheirMirrors) {
  EXPECT_EQ(*SigstoreRegistries({}, {}), "");
  PolicyRequirements requirements;
  requirements.of_namespaces["ns"]["*.w.test"];
  EXPECT_EQ(*SigstoreRegistries(requirements, {}), "docker:\n  '*.w.test':\n    use-sigstore-attachments: true\n");
  EXPECT_EQ(SigstoreKeys({"z", "a/b"}, {}), (Names{"a/b", "z"}));
  EXPECT_EQ(SigstoreKeys({"s.test"}, {{"s.test", {"m.test"}}, {"s.test/x", {"n.test/x"}}, {"t.test", {"o.test"}}}),
            (Names{"m.test", "n.test/x", "s.test", "s.test/x"}));
  // The mirrors of a scope are those of the smallest entry that contains it.
  EXPECT_EQ(SigstoreKeys({"s.test/x/app"}, {{"s.test", {"m.test"}}, {"s.test/x", {"n.test"}}}),
            (Names{"n.test/app", "s.test/x/app"}));
  EXPECT_EQ(SigstoreKeys({"a.w.test/ns"}, {{"*.w.test", {"m.test"}}}), (Names{"a.w.test/ns", "m.test/ns"}));
}

// Container tools look for signatures by the name under which they pull an image.
TEST(SigstoreRegistries, HasEntriesInsideOfAScope) {
  // An entry that is only blocked or insecure counts, too.
  EXPECT_EQ(SigstoreKeys({"s.test"}, {{"s.test/x", {}}}), (Names{"s.test", "s.test/x"}));
  EXPECT_EQ(SigstoreKeys({"*.test"}, {{"*.s.test", {"m.test"}}, {"a.test", {}}}),
            (Names{"'*.test'", "a.test", "m.test"}));
  // The tools sort entries, so a wildcard comes before a registry of the same length.
  EXPECT_EQ(SigstoreKeys({"s.test"}, {{"s.test", {"m.test"}}, {"*.test", {"n.test"}}}), (Names{"n.test", "s.test"}));
}

TEST(SigstoreRegistries, NamesAScopeThatCannotBeRewrittenForItsMirror) {
  PolicyRequirements requirements;
  requirements.of_cluster["s.test/x"];
  RegistriesConf conf;
  conf.registries.emplace_back().endpoint.location = "s.test/x";
  conf.registries.back().mirrors.emplace_back().location = "m.test";
  EXPECT_EQ(SigstoreRegistries(requirements, conf).error().message(),
            "error adding clusterimagepolicy scope s.test/x relevant mirrors: error getting digest sources for scope "
            "s.test/x: rewriting reference: repository name must be canonical");
}

TEST(RegistriesConfig, HasTheObjectsOfTheClusterAsOwners) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.metadata.uid = "u-2";
  api::Image image;
  image.metadata.name = "cluster";
  image.metadata.uid = "u-1";
  EXPECT_EQ(OldRegistriesConfigName(pool.metadata), "99-worker-u-2-registries");
  const MachineConfig made = RegistriesConfig(RegistriesConfigName("worker"), pool, {}, image, "HASH");
  EXPECT_EQ(made.name, "99-worker-generated-registries");
  EXPECT_EQ(made.annotations, MadeBy("HASH"));
  EXPECT_EQ(made.owner_references.at(0).uid, "u-1");
  EXPECT_FALSE(made.owner_references.at(0).controller);
  const MachineConfig at_bootstrap = RegistriesConfigAtBootstrap(pool, {});
  EXPECT_TRUE(at_bootstrap.annotations.empty());
  EXPECT_EQ(at_bootstrap.owner_references.at(0).kind, "Image");
  EXPECT_EQ(at_bootstrap.owner_references.at(0).uid, "");
}

}  // namespace
}  // namespace pintle::generated
