// SPDX-License-Identifier: Apache-2.0

// Any settings of registries, mirrors and signatures lead to an error with a text, or to files that can be parsed.
//
// The bytes are lines of a letter, which selects the setting, and words.  After an empty line comes the template of
// registries.conf.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generated/image_files.h"
#include "generated/registries_conf.h"
#include "json/parse.h"

namespace {

using Words = std::vector<std::string>;
namespace api = pintle::api;
namespace generated = pintle::generated;

// Removes the part up to the next separator from the text, and returns it.
std::string_view Take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

Words Split(std::string_view line) {
  Words words;
  while (!line.empty()) words.emplace_back(Take(line, ' '));
  return words;
}

struct Cluster {
  api::Image image;
  std::vector<api::MirrorSet> content_source_policies{1};
  std::vector<api::MirrorSet> digest_sets{1};
  std::vector<api::MirrorSet> tag_sets{1};
  std::vector<api::ImagePolicy> cluster_policies;
  std::vector<api::ImagePolicy> namespace_policies;
  std::string release = "r.test/release";

  api::RegistrySources& sources() { return image.spec.registry_sources; }
  // Sets or extends the setting that the letter selects.
  void Set(char letter, Words words);
};

// Returns the mirrors of a source, which is the first word.
api::Mirrors MirrorsOf(Words words, bool never_contacts_source) {
  api::Mirrors mirrors;
  if (!words.empty()) {
    mirrors.source = words.front();
    words.erase(words.begin());
  }
  mirrors.mirrors = std::move(words);
  if (never_contacts_source) mirrors.source_policy = api::kNeverContactSource;
  return mirrors;
}

api::ImagePolicy PolicyOf(Words scopes, std::string name_space) {
  api::ImagePolicy policy;
  policy.metadata.namespace_name = std::move(name_space);
  policy.spec.scopes = std::move(scopes);
  auto& spec = policy.spec.policy;
  spec.root_of_trust.policy_type = "PublicKey";
  spec.root_of_trust.public_key = api::PublicKeyTrust{.key = api::Base64Text{"a2V5"}, .rekor_key = {}};
  if (policy.spec.scopes.size() > 2) {
    api::SignedIdentity& identity = spec.signed_identity.emplace();
    identity.match_policy = "ExactRepository";
    identity.exact_repository = api::ExactRepository{policy.spec.scopes[0]};
  }
  return policy;
}

void Cluster::Set(char letter, Words words) {
  switch (letter) {
    case 'i':
      sources().insecure = std::move(words);
      return;
    case 'b':
      sources().blocked = std::move(words);
      return;
    case 'a':
      sources().allowed = std::move(words);
      return;
    case 's':
      sources().search = std::move(words);
      return;
    case 'c':
      content_source_policies[0].spec.repository_digest_mirrors.push_back(MirrorsOf(std::move(words), false));
      return;
    case 'd':
    case 'D':
      digest_sets[0].spec.image_digest_mirrors.push_back(MirrorsOf(std::move(words), letter == 'D'));
      return;
    case 't':
    case 'T':
      tag_sets[0].spec.image_tag_mirrors.push_back(MirrorsOf(std::move(words), letter == 'T'));
      return;
    case 'p':
      cluster_policies.push_back(PolicyOf(std::move(words), ""));
      return;
    case 'n':
      namespace_policies.push_back(PolicyOf(std::move(words), "ns"));
      return;
    case 'r':
      if (!words.empty()) release = words[0];
      return;
    default:
      return;
  }
}

void Check(const generated::NewFile& file) {
  if (file.path.ends_with(".json")) {
    if (!pintle::json::Parse(file.contents)) std::abort();
  } else if (file.path.ends_with(".conf")) {
    const auto conf = generated::ReadRegistriesConf(file.contents);
    if (!conf || generated::Write(*conf) != file.contents) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Cluster cluster;
  while (!bytes.empty()) {
    const std::string_view line = Take(bytes, '\n');
    if (line.empty()) break;
    cluster.Set(line[0], Split(line.substr(1)));
  }
  const generated::RuntimeTemplates templates{
      .storage_conf = "",
      .registries_conf = std::string(bytes),
      .policy_json = R"({"default":[{"type":"insecureAcceptAnything"}],"transports":{}})"};
  const generated::ImageInputs inputs{
      .image = &cluster.image,
      .release_image = cluster.release,
      .mirrors = {cluster.content_source_policies, cluster.digest_sets, cluster.tag_sets},
      .cluster_policies = cluster.cluster_policies,
      .namespace_policies = cluster.namespace_policies,
  };
  const auto rules = generated::ImageRulesOf(inputs, generated::ImagesFor::kCluster);
  if (!rules) return rules.error().message().empty() ? (std::abort(), 0) : 0;
  const auto files = generated::FilesOf(*rules, templates);
  if (!files) return files.error().message().empty() ? (std::abort(), 0) : 0;
  for (const generated::NewFile& file : *files) Check(file);
  return 0;
}
