// SPDX-License-Identifier: Apache-2.0
#include "generated/signature_requirements.h"

#include <fmt/core.h>

#include <string_view>

#include "generated/image_reference.h"
#include "generated/invalid.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kMatchRepoDigestOrExact = "MatchRepoDigestOrExact";

Error MissingMember(std::string_view policy_type, std::string_view member) {
  return Invalid(fmt::format("a policy of the type {} has no {}; add it", policy_type, member));
}

Result<> AddKey(const std::optional<api::PublicKeyTrust>& trust, Requirement& requirement) {
  if (!trust) return MissingMember("PublicKey", "publicKey");
  if (!trust->key) {
    return Invalid("exactly one of keyPath, keyPaths, keyData, keyDatas, fulcio, and pki must be specified");
  }
  requirement.key_data = trust->key->text;
  requirement.rekor_public_key_data = trust->rekor_key.value_or(api::Base64Text()).text;
  return {};
}

Result<> AddFulcio(const std::optional<api::FulcioTrust>& trust, Requirement& requirement) {
  if (!trust) return MissingMember("FulcioCAWithRekor", "fulcioCAWithRekor");
  if (!trust->ca) return Invalid("At least one of caPath and caData must be specified");
  if (trust->subject.oidc_issuer.empty()) return Invalid("oidcIssuer not specified");
  if (trust->subject.signed_email.empty()) return Invalid("subjectEmail not specified");
  if (!trust->rekor_key) {
    return Invalid(
        "At least one of rekorPublickeyPath, rekorPublicKeyPaths, rekorPublickeyData and "
        "rekorPublicKeyDatas must be specified if fulcio is used");
  }
  FulcioRequirement& fulcio = requirement.fulcio.emplace();
  fulcio.ca_data = trust->ca->text;
  fulcio.oidc_issuer = trust->subject.oidc_issuer;
  fulcio.subject_email = trust->subject.signed_email;
  requirement.rekor_public_key_data = trust->rekor_key->text;
  return {};
}

Result<> AddPki(const std::optional<api::PkiTrust>& trust, Requirement& requirement) {
  if (!trust) return MissingMember("PKI", "pki");
  if (!trust->ca_roots) return Invalid("At least one of caRootsPath and caRootsData must be specified");
  if (trust->subject.email.empty() && trust->subject.hostname.empty()) {
    return Invalid("At least one of subjectEmail, subjectHostname must be specified");
  }
  PkiRequirement& pki = requirement.pki.emplace();
  pki.ca_roots_data = trust->ca_roots->text;
  pki.ca_intermediates_data = trust->ca_intermediates.value_or(api::Base64Text()).text;
  pki.subject_email = trust->subject.email;
  pki.subject_hostname = trust->subject.hostname;
  return {};
}

Result<> AddTrust(const api::RootOfTrust& trust, Requirement& requirement) {
  if (trust.policy_type == "PublicKey") return AddKey(trust.public_key, requirement);
  if (trust.policy_type == "FulcioCAWithRekor") return AddFulcio(trust.fulcio, requirement);
  if (trust.policy_type == "PKI") return AddPki(trust.pki, requirement);
  return Invalid("exactly one of keyPath, keyPaths, keyData, keyDatas, fulcio, and pki must be specified");
}

api::SignedIdentity DefaultIdentity() {
  api::SignedIdentity identity;
  identity.match_policy = kMatchRepoDigestOrExact;
  return identity;
}

Result<SignedName> ExactRepository(const api::SignedIdentity& identity) {
  const std::string repository = identity.exact_repository ? identity.exact_repository->repository : "";
  if (auto checked = CheckImageName(repository); !checked) {
    return Invalid(
        fmt::format("error getting signedIdentity for ExactRepository: Invalid format of dockerRepository "
                    "{}: {}",
                    gotext::Quoted(repository), checked.error().message()));
  }
  SignedName name;
  name.type = "exactRepository";
  name.docker_repository = repository;
  return name;
}

Result<SignedName> RemappedIdentity(const api::SignedIdentity& identity) {
  const api::RemapIdentity remap = identity.remap_identity.value_or(api::RemapIdentity());
  for (const std::string& prefix : {remap.prefix, remap.signed_prefix}) {
    if (IsRegistryOrRepository(prefix)) continue;
    return Invalid(
        fmt::format("error getting signedIdentity for RemapIdentity: prefix {} is not valid", gotext::Quoted(prefix)));
  }
  SignedName name;
  name.type = "remapIdentity";
  name.prefix = remap.prefix;
  name.signed_prefix = remap.signed_prefix;
  return name;
}

Result<SignedName> SignedNameOf(const api::SignedIdentity& identity) {
  const std::string& policy = identity.match_policy;
  if (policy == "ExactRepository") return ExactRepository(identity);
  if (policy == "RemapIdentity") return RemappedIdentity(identity);
  SignedName name;
  if (policy == kMatchRepoDigestOrExact) {
    name.type = "matchRepoDigestOrExact";
  } else if (policy == "MatchRepository") {
    name.type = "matchRepository";
  } else {
    return Invalid(fmt::format("unknown signedIdentity match policy: {}", policy));
  }
  return name;
}

}  // namespace

Result<Requirement> RequirementOf(const api::SignaturePolicy& policy) {
  Requirement requirement;
  requirement.type = "sigstoreSigned";
  TRY(AddTrust(policy.root_of_trust, requirement));
  requirement.signed_identity = TRY(SignedNameOf(policy.signed_identity.value_or(DefaultIdentity())));
  return requirement;
}

}  // namespace pintle::generated
