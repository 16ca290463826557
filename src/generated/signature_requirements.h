// SPDX-License-Identifier: Apache-2.0
#pragma once

// The requirements that an image must meet before container tools use it, in the form of /etc/containers/policy.json.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/image_policy.h"
#include "base/result.h"
#include "json/field_list.h"

namespace pintle::generated {

// The name under which an image must have been signed.
struct SignedName {
  std::string type;
  std::string docker_reference;
  std::string docker_repository;
  std::string prefix;
  std::string signed_prefix;

  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &SignedName::type},
      json::Field{"dockerReference", &SignedName::docker_reference},
      json::Field{"dockerRepository", &SignedName::docker_repository},
      json::Field{"prefix", &SignedName::prefix},
      json::Field{"signedPrefix", &SignedName::signed_prefix},
  };
};

struct FulcioRequirement {
  std::string ca_path;
  std::string ca_data;
  std::string oidc_issuer;
  std::string subject_email;

  static constexpr auto kFields = json::FieldList{
      json::Field{"caPath", &FulcioRequirement::ca_path},
      json::Field{"caData", &FulcioRequirement::ca_data},
      json::Field{"oidcIssuer", &FulcioRequirement::oidc_issuer},
      json::Field{"subjectEmail", &FulcioRequirement::subject_email},
  };
};

struct PkiRequirement {
  std::string ca_roots_path;
  std::string ca_roots_data;
  std::string ca_intermediates_path;
  std::string ca_intermediates_data;
  std::string subject_email;
  std::string subject_hostname;

  static constexpr auto kFields = json::FieldList{
      json::Field{"caRootsPath", &PkiRequirement::ca_roots_path},
      json::Field{"caRootsData", &PkiRequirement::ca_roots_data},
      json::Field{"caIntermediatesPath", &PkiRequirement::ca_intermediates_path},
      json::Field{"caIntermediatesData", &PkiRequirement::ca_intermediates_data},
      json::Field{"subjectEmail", &PkiRequirement::subject_email},
      json::Field{"subjectHostname", &PkiRequirement::subject_hostname},
  };
};

struct Requirement {
  std::string type;  // "insecureAcceptAnything", "reject", "signedBy" or "sigstoreSigned".
  std::string key_type;
  std::string key_path;
  std::vector<std::string> key_paths;
  std::string key_data;
  std::vector<std::string> key_datas;
  std::optional<FulcioRequirement> fulcio;
  std::optional<PkiRequirement> pki;
  std::string rekor_public_key_path;
  std::string rekor_public_key_data;
  std::optional<SignedName> signed_identity;

  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &Requirement::type},
      json::Field{"keyType", &Requirement::key_type},
      json::Field{"keyPath", &Requirement::key_path},
      json::Field{"keyPaths", &Requirement::key_paths},
      json::Field{"keyData", &Requirement::key_data},
      json::Field{"keyDatas", &Requirement::key_datas},
      json::Field{"fulcio", &Requirement::fulcio},
      json::Field{"pki", &Requirement::pki},
      json::Field{"rekorPublicKeyPath", &Requirement::rekor_public_key_path},
      json::Field{"rekorPublicKeyData", &Requirement::rekor_public_key_data},
      json::Field{"signedIdentity", &Requirement::signed_identity},
  };
};

using Requirements = std::vector<Requirement>;
using ScopeRequirements = std::map<std::string, Requirements>;

// Converts one policy.  The error has the words of the Machine Config Operator, unless the policy has no member for its
// type.
Result<Requirement> RequirementOf(const api::SignaturePolicy& policy);

}  // namespace pintle::generated
