// SPDX-License-Identifier: Apache-2.0
#include "generated/signature_requirements.h"

#include <gtest/gtest.h>

#include "json/fields.h"
#include "json/go_text.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

// Returns the JSON of a requirement, or the error.
std::string RequirementFor(const std::string& trust, const std::string& identity = "null") {
  json::Report report;
  auto document = json::Parse(R"({"rootOfTrust":)" + trust + R"(,"signedIdentity":)" + identity + "}");
  EXPECT_TRUE(document);
  const auto policy = json::Decode<api::SignaturePolicy>(*std::move(document), report);
  if (report.has_errors()) return report.problems().front().ToString();
  const auto requirement = RequirementOf(policy);
  return requirement ? json::GoText(*requirement) : requirement.error().message();
}

struct TrustRow {
  std::string in;
  std::string out;
};

TEST(RequirementOf, HasTheRootOfTrust) {
  const std::string identity = R"("signedIdentity":{"type":"matchRepoDigestOrExact"}})";
  const std::string none = "exactly one of keyPath, keyPaths, keyData, keyDatas, fulcio, and pki must be specified";
  for (const TrustRow& row : {
           TrustRow{R"({"policyType":"PublicKey","publicKey":{"keyData":"a2V5"}})",
                    R"({"type":"sigstoreSigned","keyData":"a2V5",)" + identity},
           {R"({"policyType":"PublicKey","publicKey":{"keyData":"a2V5","rekorKeyData":"cg=="}})",
            R"({"type":"sigstoreSigned","keyData":"a2V5","rekorPublicKeyData":"cg==",)" + identity},
           {R"({"policyType":"PublicKey","publicKey":{}})", none},
           {R"({"policyType":"PublicKey"})", "a policy of the type PublicKey has no publicKey; add it"},
           {R"({"policyType":"FulcioCAWithRekor","fulcioCAWithRekor":{"fulcioCAData":"Y2E=","rekorKeyData":"cg==",)"
            R"("fulcioSubject":{"oidcIssuer":"https://i.test","signedEmail":"a@b.test"}}})",
            R"({"type":"sigstoreSigned","fulcio":{"caData":"Y2E=","oidcIssuer":"https://i.test",)"
            R"("subjectEmail":"a@b.test"},"rekorPublicKeyData":"cg==",)" +
                identity},
           {R"({"policyType":"FulcioCAWithRekor","fulcioCAWithRekor":{}})",
            "At least one of caPath and caData must be specified"},
           {R"({"policyType":"FulcioCAWithRekor","fulcioCAWithRekor":{"fulcioCAData":"Y2E="}})",
            "oidcIssuer not specified"},
           {R"({"policyType":"FulcioCAWithRekor","fulcioCAWithRekor":{"fulcioCAData":"Y2E=",)"
            R"("fulcioSubject":{"oidcIssuer":"i"}}})",
            "subjectEmail not specified"},
           {R"({"policyType":"FulcioCAWithRekor","fulcioCAWithRekor":{"fulcioCAData":"Y2E=",)"
            R"("fulcioSubject":{"oidcIssuer":"i","signedEmail":"e"}}})",
            "At least one of rekorPublickeyPath, rekorPublicKeyPaths, rekorPublickeyData and rekorPublicKeyDatas must "
            "be specified if fulcio is used"},
           {R"({"policyType":"FulcioCAWithRekor"})",
            "a policy of the type FulcioCAWithRekor has no fulcioCAWithRekor; add it"},
           {R"({"policyType":"PKI","pki":{"caRootsData":"cm9vdA==","caIntermediatesData":"aW50",)"
            R"("pkiCertificateSubject":{"email":"a@b.test","hostname":"h.test"}}})",
            R"({"type":"sigstoreSigned","pki":{"caRootsData":"cm9vdA==","caIntermediatesData":"aW50",)"
            R"("subjectEmail":"a@b.test","subjectHostname":"h.test"},)" +
                identity},
           {R"({"policyType":"PKI","pki":{"caRootsData":"cm9vdA==","pkiCertificateSubject":{"email":"e"}}})",
            R"({"type":"sigstoreSigned","pki":{"caRootsData":"cm9vdA==","subjectEmail":"e"},)" + identity},
           {R"({"policyType":"PKI","pki":{}})", "At least one of caRootsPath and caRootsData must be specified"},
           {R"({"policyType":"PKI","pki":{"caRootsData":"cm9vdA=="}})",
            "At least one of subjectEmail, subjectHostname must be specified"},
           {R"({"policyType":"PKI"})", "a policy of the type PKI has no pki; add it"},
           {R"({"policyType":"Huh","publicKey":{"keyData":"a2V5"}})", none},
       }) {
    EXPECT_EQ(RequirementFor(row.in), row.out);
  }
}

TEST(RequirementOf, HasKeysAsGoWritesThem) {
  const std::string identity = R"("signedIdentity":{"type":"matchRepoDigestOrExact"}})";
  for (const TrustRow& row : {
           TrustRow{R"({"policyType":"PublicKey","publicKey":{"keyData":"a2\nV5\r\n","rekorKeyData":"cg\n=="}})",
                    R"({"type":"sigstoreSigned","keyData":"a2V5","rekorPublicKeyData":"cg==",)" + identity},
           {R"({"policyType":"PublicKey","publicKey":{"keyData":"a key"}})",
            "$.rootOfTrust.publicKey.keyData: illegal base64 data at input byte 1"},
           {R"({"policyType":"PublicKey","publicKey":{"keyData":"a2V5","rekorKeyData":"cg"}})",
            "$.rootOfTrust.publicKey.rekorKeyData: illegal base64 data at input byte 0"},
           {R"({"policyType":"FulcioCAWithRekor","fulcioCAWithRekor":{"fulcioCAData":"*"}})",
            "$.rootOfTrust.fulcioCAWithRekor.fulcioCAData: illegal base64 data at input byte 0"},
           {R"({"policyType":"PKI","pki":{"caRootsData":"cm9v\ndA==","pkiCertificateSubject":{"email":"e"}}})",
            R"({"type":"sigstoreSigned","pki":{"caRootsData":"cm9vdA==","subjectEmail":"e"},)" + identity},
           {R"({"policyType":"PKI","pki":{"caRootsData":"cm9vdA==","caIntermediatesData":"="}})",
            "$.rootOfTrust.pki.caIntermediatesData: illegal base64 data at input byte 0"},
       }) {
    EXPECT_EQ(RequirementFor(row.in), row.out);
  }
}

TEST(RequirementOf, HasTheSignedIdentity) {
  const std::string begin = R"({"type":"sigstoreSigned","keyData":"a2V5","signedIdentity":)";
  for (const TrustRow& row : {
           TrustRow{"null", begin + R"({"type":"matchRepoDigestOrExact"}})"},
           {"{}", "unknown signedIdentity match policy: "},
           {R"({"matchPolicy":""})", "unknown signedIdentity match policy: "},
           {R"({"matchPolicy":"MatchRepoDigestOrExact"})", begin + R"({"type":"matchRepoDigestOrExact"}})"},
           {R"({"matchPolicy":"MatchRepository"})", begin + R"({"type":"matchRepository"}})"},
           {R"({"matchPolicy":"ExactRepository","exactRepository":{"repository":"s.test/r"}})",
            begin + R"({"type":"exactRepository","dockerRepository":"s.test/r"}})"},
           {R"({"matchPolicy":"RemapIdentity","remapIdentity":{"prefix":"s.test","signedPrefix":"o.test/ns"}})",
            begin + R"({"type":"remapIdentity","prefix":"s.test","signedPrefix":"o.test/ns"}})"},
           {R"({"matchPolicy":"ExactRepository","exactRepository":{"repository":"Bad Repo"}})",
            R"(error getting signedIdentity for ExactRepository: Invalid format of dockerRepository "Bad Repo": )"
            "invalid reference format: repository name must be lowercase"},
           {R"({"matchPolicy":"ExactRepository"})",
            R"(error getting signedIdentity for ExactRepository: Invalid format of dockerRepository "": )"
            "invalid reference format"},
           {R"({"matchPolicy":"RemapIdentity","remapIdentity":{"prefix":"a b","signedPrefix":"o.test"}})",
            R"(error getting signedIdentity for RemapIdentity: prefix "a b" is not valid)"},
           {R"({"matchPolicy":"RemapIdentity","remapIdentity":{"prefix":"a.test","signedPrefix":"o.test/A"}})",
            R"(error getting signedIdentity for RemapIdentity: prefix "o.test/A" is not valid)"},
           {R"({"matchPolicy":"RemapIdentity"})",
            R"(error getting signedIdentity for RemapIdentity: prefix "" is not valid)"},
           {R"({"matchPolicy":"Huh"})", "unknown signedIdentity match policy: Huh"},
       }) {
    EXPECT_EQ(RequirementFor(R"({"policyType":"PublicKey","publicKey":{"keyData":"a2V5"}})", row.in), row.out);
  }
}

}  // namespace
}  // namespace pintle::generated
