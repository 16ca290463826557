// SPDX-License-Identifier: Apache-2.0
#include "net/certificates.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/libcrypto.h"
#include "net/openssl_objects.h"
#include "net/pem_objects.h"

namespace pintle::net {
namespace {

// Returns OpenSSL's error and clears its queue, so that no later call finds it there.
std::string TakeReason() {
  const unsigned long code = Crypto().ERR_peek_last_error();
  Crypto().ERR_clear_error();
  const char* const reason = Crypto().ERR_reason_error_string(code);
  return reason == nullptr ? "not a certificate" : reason;
}

// Returns whether OpenSSL's last error means that the text has no further certificate.
bool IsEndOfText() {
  const unsigned long code = Crypto().ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

std::string TextOfName(const X509_NAME* name) {
  const Bio text(Crypto().BIO_new(Crypto().BIO_s_mem()));
  if (!text) return "";
  Crypto().X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = Crypto().BIO_ctrl(text.get(), BIO_CTRL_INFO, 0, &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "";
}

std::string CommonNameOf(const X509* certificate) {
  const X509_NAME* const subject = Crypto().X509_get_subject_name(certificate);
  int last = -1;
  for (int at = -1; (at = Crypto().X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) last = at;
  if (last < 0) return "";
  unsigned char* bytes = nullptr;
  const int size = Crypto().ASN1_STRING_to_UTF8(
      &bytes, Crypto().X509_NAME_ENTRY_get_data(Crypto().X509_NAME_get_entry(subject, last)));
  if (size < 0) {
    Crypto().ERR_clear_error();
    return "";
  }
  std::string name(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  Crypto().CRYPTO_free(bytes, __FILE__, __LINE__);
  return name;
}

// A certificate "without end" ends in the year 9999, which is beyond the range of our clock.  A time before 1970
// becomes 1970: with an earlier time, the difference of two times would be beyond the range of a duration.
WallTime TimeAt(const tm& broken_down) {
  constexpr std::chrono::sys_seconds kFirst = {};
  constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(WallTime::max());
  tm copy = broken_down;
  return std::clamp(std::chrono::sys_seconds(std::chrono::seconds(::timegm(&copy))), kFirst, kLast);
}

Result<WallTime> ReadTime(const ASN1_TIME* time) {
  tm broken_down = {};
  if (Crypto().ASN1_TIME_to_tm(time, &broken_down) != 1) return Error(ErrorKind::kInvalid, TakeReason());
  return TimeAt(broken_down);
}

Result<Certificate> Read(const X509* certificate) {
  const WallTime not_before = TRY(ReadTime(Crypto().X509_get0_notBefore(certificate)), "reading notBefore");
  const WallTime not_after = TRY(ReadTime(Crypto().X509_get0_notAfter(certificate)), "reading notAfter");
  return Certificate{.subject = TextOfName(Crypto().X509_get_subject_name(certificate)),
                     .issuer = TextOfName(Crypto().X509_get_issuer_name(certificate)),
                     .common_name = CommonNameOf(certificate),
                     .not_before = not_before,
                     .not_after = not_after};
}

// Appends the certificates of a bundle up to the first that cannot be read, which is an error.
Result<> AppendCertificates(std::string_view pem, std::vector<Certificate>& to) {
  const Bio bytes = TRY(ReaderOf(pem));
  Crypto().ERR_clear_error();
  while (true) {
    const X509Certificate certificate = NextCertificate(bytes.get());
    const std::string which = fmt::format("certificate {}", to.size() + 1);
    if (certificate) {
      to.push_back(TRY(Read(certificate.get()), which));
    } else if (IsEndOfText()) {
      Crypto().ERR_clear_error();
      return {};
    } else {
      return Error(ErrorKind::kInvalid, fmt::format("{}: {}", which, TakeReason()));
    }
  }
}

}  // namespace

Result<std::vector<Certificate>> ReadCertificates(std::string_view pem) {
  std::vector<Certificate> certificates;
  TRY(AppendCertificates(pem, certificates));
  return certificates;
}

std::vector<Certificate> ReadableCertificates(std::string_view pem) {
  std::vector<Certificate> certificates;
  static_cast<void>(AppendCertificates(pem, certificates));
  return certificates;
}

bool HasCertificate(std::string_view pem) {
  const auto certificates = ReadCertificates(pem);
  return certificates && !certificates->empty();
}

}  // namespace pintle::net
