// SPDX-License-Identifier: Apache-2.0
#include "serving/tls_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "net/certificates.h"
#include "net/tls_settings.h"
#include "serving/private_file.h"

namespace pintle::serving {
namespace {

// Returns when the first certificate of a chain expires, which is that of the server itself.  Returns nullopt if the
// certificates cannot be read.
std::optional<WallTime> ExpiryOfFirst(const std::string& chain) {
  const auto certificates = net::ReadCertificates(chain);
  if (!certificates || certificates->empty()) return std::nullopt;
  return certificates->front().not_after;
}

// net::ReadPem() finds files from the root directory, but the path may begin in the working directory.
Result<std::string> AbsolutePath(const std::string& path) {
  std::error_code failure;
  const std::string absolute = std::filesystem::absolute(path, failure);
  if (failure) return Error::FromErrno("finding " + path, failure.value());
  return absolute;
}

}  // namespace

TlsFiles::TlsFiles(std::string certificate, std::string key, net::TlsRules rules, Renewed renewed)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      rules_(std::move(rules)),
      renewed_(std::move(renewed)) {}

Result<std::unique_ptr<TlsFiles>> TlsFiles::Open(event::Loop& loop, std::string certificate, std::string key,
                                                 net::TlsRules rules, Renewed renewed) {
  certificate = TRY(AbsolutePath(certificate));
  key = TRY(AbsolutePath(key));
  std::unique_ptr<TlsFiles> files(
      new TlsFiles(std::move(certificate), std::move(key), std::move(rules), std::move(renewed)));
  files->watch_ =
      TRY(FileWatch::Begin(loop, {files->certificate_, files->key_}, [self = files.get()] { self->Look(); }));
  files->last_ = TRY(files->Read());
  files->first_identity_ = TRY(files->Make(files->last_));
  files->expiry_ = ExpiryOfFirst(files->last_.certificate);
  return files;
}

void TlsFiles::Look() {
  auto texts = Read();
  if (!texts) return renewed_(std::move(texts).error());
  if (*texts == last_) return;
  last_ = *std::move(texts);
  auto identity = Make(last_);
  if (identity) expiry_ = ExpiryOfFirst(last_.certificate);
  renewed_(std::move(identity));
}

Result<TlsFiles::Texts> TlsFiles::Read() const {
  std::string certificate = TRY(net::ReadPem(net::PemFile{certificate_}), "reading the certificate " + certificate_);
  std::string key = TRY(net::ReadPem(net::PemFile{key_}), "reading the key " + key_);
  return Texts{std::move(certificate), std::move(key), IsReadableByAll(key_)};
}

Result<TlsFiles::Identity> TlsFiles::Make(const Texts& texts) const {
  auto identity = TRY(net::TlsIdentity::Create(texts.certificate, texts.key, rules_), certificate_ + " and " + key_);
  if (texts.is_key_readable_by_all) return ReadableByAllError("the key", key_);
  return identity;
}

}  // namespace pintle::serving
