// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ClusterImagePolicy or an ImagePolicy: whose signatures images must have, in the whole cluster or in one namespace.
//
// Keys and certificates stay in base64.  Fulcio and Rekor are services of sigstore: Fulcio issues certificates for
// signing, and Rekor is a log of signatures.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base64_text.h"
#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct PublicKeyTrust {
  std::optional<Base64Text> key;
  std::optional<Base64Text> rekor_key;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"keyData", &PublicKeyTrust::key},
      json::Field{"rekorKeyData", &PublicKeyTrust::rekor_key},
  };
};

struct FulcioSubject {
  std::string oidc_issuer;
  std::string signed_email;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"oidcIssuer", &FulcioSubject::oidc_issuer},
      json::Required{"signedEmail", &FulcioSubject::signed_email},
  };
};

struct FulcioTrust {
  std::optional<Base64Text> ca;
  std::optional<Base64Text> rekor_key;
  FulcioSubject subject;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"fulcioCAData", &FulcioTrust::ca},
      json::Required{"rekorKeyData", &FulcioTrust::rekor_key},
      json::Required{"fulcioSubject", &FulcioTrust::subject},
  };
};

struct PkiSubject {
  std::string email;
  std::string hostname;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"email", &PkiSubject::email},
      json::Field{"hostname", &PkiSubject::hostname},
  };
};

struct PkiTrust {
  std::optional<Base64Text> ca_roots;
  std::optional<Base64Text> ca_intermediates;
  PkiSubject subject;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"caRootsData", &PkiTrust::ca_roots},
      json::Field{"caIntermediatesData", &PkiTrust::ca_intermediates},
      json::Required{"pkiCertificateSubject", &PkiTrust::subject},
  };
};

struct RootOfTrust {
  std::string policy_type;  // "PublicKey", "FulcioCAWithRekor" or "PKI"; it selects the member to use.
  std::optional<PublicKeyTrust> public_key;
  std::optional<FulcioTrust> fulcio;
  std::optional<PkiTrust> pki;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"policyType", &RootOfTrust::policy_type},
      json::Field{"publicKey", &RootOfTrust::public_key},
      json::Field{"fulcioCAWithRekor", &RootOfTrust::fulcio},
      json::Field{"pki", &RootOfTrust::pki},
  };
};

struct ExactRepository {
  std::string repository;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"repository", &ExactRepository::repository}};
};

struct RemapIdentity {
  std::string prefix;
  std::string signed_prefix;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"prefix", &RemapIdentity::prefix},
      json::Required{"signedPrefix", &RemapIdentity::signed_prefix},
  };
};

// The name under which an image must have been signed.
struct SignedIdentity {
  std::string match_policy;  // "MatchRepoDigestOrExact", "MatchRepository", "ExactRepository" or "RemapIdentity".
  std::optional<ExactRepository> exact_repository;
  std::optional<RemapIdentity> remap_identity;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"matchPolicy", &SignedIdentity::match_policy},
      json::Field{"exactRepository", &SignedIdentity::exact_repository},
      json::Field{"remapIdentity", &SignedIdentity::remap_identity},
  };
};

struct SignaturePolicy {
  RootOfTrust root_of_trust;
  std::optional<SignedIdentity> signed_identity;  // If unset, the match policy is "MatchRepoDigestOrExact".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"rootOfTrust", &SignaturePolicy::root_of_trust},
      json::Field{"signedIdentity", &SignaturePolicy::signed_identity},
  };
};

struct ImagePolicySpec {
  std::vector<std::string> scopes;
  SignaturePolicy policy;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"scopes", &ImagePolicySpec::scopes},
      json::Required{"policy", &ImagePolicySpec::policy},
  };
};

struct ImagePolicyStatus {
  std::vector<ConditionWithGeneration> conditions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"conditions", &ImagePolicyStatus::conditions}};
};

struct ImagePolicy {
  ObjectMeta metadata;
  ImagePolicySpec spec;
  ImagePolicyStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ImagePolicy::metadata},
      json::Required{"spec", &ImagePolicy::spec},
      json::Field{"status", &ImagePolicy::status},
  };
};

}  // namespace pintle::api
