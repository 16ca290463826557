// SPDX-License-Identifier: Apache-2.0
#include "net/made_certificates.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/libcrypto.h"
#include "net/openssl_objects.h"
#include "net/pem_objects.h"

namespace pintle::net {
namespace {

OPENSSL_STACK* StackOf(const GeneralNames& names) { return reinterpret_cast<OPENSSL_STACK*>(names.get()); }

// The encoding of version 3, which has extensions.
constexpr long kVersion3 = 2;
constexpr int kSerialBits = 127;
constexpr const char* kCurve = "P-256";

Error MakingFailed(std::string_view doing) {
  const unsigned long code = Crypto().ERR_peek_last_error();
  Crypto().ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : Crypto().ERR_reason_error_string(code);
  return Error(ErrorKind::kSystem, fmt::format("{}: {}", doing, reason == nullptr ? "OpenSSL failed" : reason));
}

Result<> Must(int ok, std::string_view doing) {
  if (ok <= 0) return MakingFailed(doing);
  return {};
}

Result<std::string> TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = Crypto().BIO_ctrl(bio, BIO_CTRL_INFO, 0, &bytes);
  if (size <= 0) return MakingFailed("writing PEM");
  return std::string(bytes, static_cast<std::size_t>(size));
}

Result<X509Certificate> ReadOne(const std::string& pem) {
  const Bio bio = TRY(ReaderOf(pem));
  X509Certificate certificate = NextCertificate(bio.get());
  if (!certificate) return MakingFailed("reading a certificate");
  return certificate;
}

Result<PrivateKey> ReadKey(const std::string& pem) {
  const Bio bio = TRY(ReaderOf(pem));
  PrivateKey key = NextPrivateKey(bio.get());
  if (!key) return MakingFailed("reading a private key");
  return key;
}

Result<> SetSerial(X509* certificate) {
  const BigNumber number(Crypto().BN_new());
  if (!number) return MakingFailed("making a serial number");
  TRY(Must(Crypto().BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY), "making a serial number"));
  if (Crypto().BN_to_ASN1_INTEGER(number.get(), Crypto().X509_get_serialNumber(certificate)) == nullptr) {
    return MakingFailed("setting the serial number");
  }
  return {};
}

Result<> SetTimes(X509* certificate, const Validity& validity) {
  const auto set = [](ASN1_TIME* field, WallTime time) -> Result<> {
    const bool is_set = Crypto().ASN1_TIME_set(field, std::chrono::system_clock::to_time_t(time)) != nullptr;
    return Must(is_set ? 1 : 0, "setting the validity");
  };
  TRY(set(Crypto().X509_getm_notBefore(certificate), validity.begin));
  return set(Crypto().X509_getm_notAfter(certificate), validity.end);
}

Result<> SetSubject(X509* certificate, const std::string& common_name) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(common_name.data());
  return Must(
      Crypto().X509_NAME_add_entry_by_NID(Crypto().X509_get_subject_name(certificate), NID_commonName,
                                          V_ASN1_UTF8STRING, bytes, static_cast<int>(common_name.size()), -1, 0),
      "setting the subject");
}

Result<> AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context = {};
  context.db = nullptr;
  Crypto().X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const X509Extension extension(Crypto().X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  if (!extension) return MakingFailed("making an extension");
  return Must(Crypto().X509_add_ext(certificate, extension.get(), -1), "adding an extension");
}

using AddressBytes = std::array<unsigned char, sizeof(in6_addr)>;

// Returns the number of bytes of an address, or 0 for a text that is not an address.
std::size_t ParseAddress(const std::string& host, AddressBytes& address) {
  if (inet_pton(AF_INET, host.c_str(), address.data()) == 1) return sizeof(in_addr);
  if (inet_pton(AF_INET6, host.c_str(), address.data()) == 1) return sizeof(in6_addr);
  return 0;
}

// The size determines the family of the address.
std::string TextOfAddress(const unsigned char* bytes, std::size_t size) {
  std::array<char, INET6_ADDRSTRLEN> text;
  return inet_ntop(size == sizeof(in6_addr) ? AF_INET6 : AF_INET, bytes, text.data(), text.size());
}

// Adds each host as a value of its own.  In the text of an extension, a comma would separate hosts.
Result<> AddHosts(X509* certificate, const std::vector<std::string>& hosts) {
  const GeneralNames names(Crypto().GENERAL_NAMES_new());
  for (const std::string& host : hosts) {
    AddressBytes address = {};
    const std::size_t size = ParseAddress(host, address);
    Asn1String text(Crypto().ASN1_STRING_type_new(size == 0 ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING));
    GeneralName name(Crypto().GENERAL_NAME_new());
    if (!names || !text || !name) return MakingFailed("naming the hosts");
    TRY(Must(size == 0 ? Crypto().ASN1_STRING_set(text.get(), host.data(), static_cast<int>(host.size()))
                       : Crypto().ASN1_STRING_set(text.get(), address.data(), static_cast<int>(size)),
             "naming a host"));
    Crypto().GENERAL_NAME_set0_value(name.get(), size == 0 ? GEN_DNS : GEN_IPADD, text.release());
    TRY(Must(Crypto().OPENSSL_sk_push(StackOf(names), name.get()), "naming a host"));
    name.release();
  }
  return Must(Crypto().X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT),
              "adding the hosts");
}

// Begins a certificate; its extensions and its signature are still to be added.
Result<X509Certificate> BeginCertificate(EVP_PKEY* key, const std::string& common_name, const Validity& validity) {
  X509Certificate certificate(Crypto().X509_new());
  if (!certificate) return MakingFailed("making a certificate");
  TRY(Must(Crypto().X509_set_version(certificate.get(), kVersion3), "setting the version"));
  TRY(SetSerial(certificate.get()));
  TRY(SetTimes(certificate.get(), validity));
  TRY(SetSubject(certificate.get(), common_name));
  TRY(Must(Crypto().X509_set_pubkey(certificate.get(), key), "setting the public key"));
  return certificate;
}

Result<PrivateKey> NewKey() {
  PrivateKey key(Crypto().EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", kCurve));
  if (!key) return MakingFailed("making a private key");
  return key;
}

Result<CertifiedKey> ToPem(X509* certificate, EVP_PKEY* key) {
  const Bio certificate_pem(Crypto().BIO_new(Crypto().BIO_s_mem()));
  const Bio key_pem(Crypto().BIO_new(Crypto().BIO_s_mem()));
  if (!certificate_pem || !key_pem) return MakingFailed("writing PEM");
  TRY(Must(Crypto().PEM_write_bio_X509(certificate_pem.get(), certificate), "writing a certificate"));
  TRY(Must(Crypto().PEM_write_bio_PrivateKey(key_pem.get(), key, nullptr, nullptr, 0, nullptr, nullptr),
           "writing a key"));
  std::string certificate_text = TRY(TextOf(certificate_pem.get()));
  std::string key_text = TRY(TextOf(key_pem.get()));
  return CertifiedKey{.certificate = std::move(certificate_text), .key = std::move(key_text)};
}

}  // namespace

Result<CertifiedKey> MakeAuthority(const std::string& common_name, const Validity& validity) {
  const PrivateKey key = TRY(NewKey());
  const X509Certificate made = TRY(BeginCertificate(key.get(), common_name, validity));
  X509* const certificate = made.get();
  TRY(Must(Crypto().X509_set_issuer_name(certificate, Crypto().X509_get_subject_name(certificate)),
           "setting the issuer"));
  TRY(AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE"));
  TRY(AddExtension(certificate, certificate, NID_key_usage, "critical,digitalSignature,keyCertSign"));
  TRY(AddExtension(certificate, certificate, NID_subject_key_identifier, "hash"));
  TRY(Must(Crypto().X509_sign(certificate, key.get(), Crypto().EVP_sha256()), "signing"));
  return ToPem(certificate, key.get());
}

Result<CertifiedKey> MakeServerCertificate(const CertifiedKey& authority, const std::string& common_name,
                                           const std::vector<std::string>& hosts, const Validity& validity) {
  if (hosts.empty()) return Error(ErrorKind::kInvalid, "a server's certificate needs a host");
  const X509Certificate issuer = TRY(ReadOne(authority.certificate), "the authority");
  const PrivateKey signer = TRY(ReadKey(authority.key), "the authority");
  const PrivateKey key = TRY(NewKey());
  const X509Certificate made = TRY(BeginCertificate(key.get(), common_name, validity));
  X509* const certificate = made.get();
  TRY(Must(Crypto().X509_set_issuer_name(certificate, Crypto().X509_get_subject_name(issuer.get())),
           "setting the issuer"));
  TRY(AddExtension(certificate, issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  TRY(AddExtension(certificate, issuer.get(), NID_key_usage, "critical,digitalSignature"));
  TRY(AddExtension(certificate, issuer.get(), NID_ext_key_usage, "serverAuth"));
  TRY(AddExtension(certificate, issuer.get(), NID_subject_key_identifier, "hash"));
  TRY(AddExtension(certificate, issuer.get(), NID_authority_key_identifier, "keyid"));
  TRY(AddHosts(certificate, hosts));
  TRY(Must(Crypto().X509_sign(certificate, signer.get(), Crypto().EVP_sha256()), "signing"));
  return ToPem(certificate, key.get());
}

Result<std::vector<std::string>> HostsOf(const std::string& certificate) {
  const X509Certificate parsed = TRY(ReadOne(certificate));
  std::vector<std::string> hosts;
  const GeneralNames names(
      static_cast<GENERAL_NAMES*>(Crypto().X509_get_ext_d2i(parsed.get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < Crypto().OPENSSL_sk_num(StackOf(names)); ++i) {
    int kind = 0;
    const auto* const value = static_cast<const ASN1_STRING*>(Crypto().GENERAL_NAME_get0_value(
        static_cast<GENERAL_NAME*>(Crypto().OPENSSL_sk_value(StackOf(names), i)), &kind));
    const auto* const bytes = Crypto().ASN1_STRING_get0_data(value);
    const auto size = static_cast<std::size_t>(Crypto().ASN1_STRING_length(value));
    if (kind == GEN_DNS) hosts.emplace_back(reinterpret_cast<const char*>(bytes), size);
    if (kind == GEN_IPADD && (size == sizeof(in_addr) || size == sizeof(in6_addr))) {
      hosts.push_back(TextOfAddress(bytes, size));
    }
  }
  Crypto().ERR_clear_error();
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

std::string CanonicalHost(const std::string& host) {
  AddressBytes address = {};
  const std::size_t size = ParseAddress(host, address);
  return size == 0 ? host : TextOfAddress(address.data(), size);
}

}  // namespace pintle::net
