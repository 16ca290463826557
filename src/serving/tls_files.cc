// SPDX-License-Identifier: Apache-2.0
#include "serving/tls_files.h"

#include <cstddef>
#include <utility>

#include "machineconfig/input.h"
#include "net/certificates.h"
#include "serving/private_file.h"

namespace pintle::serving {
namespace {

// Returns when the first certificate of a chain expires.  This is the server's own certificate.  Returns nullopt if the
// certificates cannot be read.
std::optional<WallTime> ExpiryOfFirst(const std::string& chain) {
  const auto certificates = net::ReadCertificates(chain);
  if (!certificates || certificates->empty()) return std::nullopt;
  return certificates->front().not_after;
}

// Reads a file that a person has named, so the path may begin in the working directory.
Result<std::string> ReadPemFile(const std::string& path) {
  constexpr std::size_t kLimit = 4 << 20;
  return machineconfig::ReadInput(path, machineconfig::Accepts::kFilesOnly, kLimit);
}

}  // namespace

TlsFiles::TlsFiles(std::string certificate, std::string key, net::TlsRules rules, Renewed renewed)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      rules_(std::move(rules)),
      renewed_(std::move(renewed)) {}

Result<std::unique_ptr<TlsFiles>> TlsFiles::Open(event::Loop& loop, std::string certificate, std::string key,
                                                 net::TlsRules rules, Renewed renewed) {
  std::unique_ptr<TlsFiles> files(
      new TlsFiles(std::move(certificate), std::move(key), std::move(rules), std::move(renewed)));
  files->watch_ =
      TRY(FileWatch::Begin(loop, {files->certificate_, files->key_}, [self = files.get()] { self->ReadAgain(); }));
  files->last_ = TRY(files->Read());
  files->first_identity_ = TRY(files->Make(files->last_));
  files->expiry_ = ExpiryOfFirst(files->last_.certificate);
  return files;
}

void TlsFiles::ReadAgain() {
  auto texts = Read();
  if (!texts) return renewed_(std::move(texts).error());
  if (*texts == last_) return;
  last_ = *std::move(texts);
  auto identity = Make(last_);
  if (identity) expiry_ = ExpiryOfFirst(last_.certificate);
  renewed_(std::move(identity));
}

Result<TlsFiles::Texts> TlsFiles::Read() const {
  std::string certificate = TRY(ReadPemFile(certificate_), "the certificate");
  std::string key = TRY(ReadPemFile(key_), "the key");
  return Texts{std::move(certificate), std::move(key), IsReadableByAll(key_)};
}

Result<TlsFiles::Identity> TlsFiles::Make(const Texts& texts) const {
  auto identity = TRY(net::TlsIdentity::Create(texts.certificate, texts.key, rules_), certificate_ + " and " + key_);
  if (texts.is_key_readable_by_all) return ReadableByAllError("the key", key_);
  return identity;
}

}  // namespace pintle::serving
