// SPDX-License-Identifier: Apache-2.0
#include "controller/tls_files.h"

#include <sys/inotify.h>

#include <chrono>
#include <set>
#include <utility>

#include "net/tls_settings.h"

namespace pintle::controller {
namespace {

// The certificate and the key seldom change at the same instant.
constexpr auto kSettling = std::chrono::milliseconds(200);
// Some ways of changing files happen in directories that are not watched.
constexpr auto kLookAgain = std::chrono::seconds(30);

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

TlsFiles::TlsFiles(event::Loop& loop, std::string certificate, std::string key, net::TlsRules rules, Renewed renewed)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      rules_(std::move(rules)),
      renewed_(std::move(renewed)),
      settled_(loop, [this] { Look(); }),
      again_(loop, [this] { Look(); }) {}

Result<std::unique_ptr<TlsFiles>> TlsFiles::Open(event::Loop& loop, std::string certificate, std::string key,
                                                 net::TlsRules rules, Renewed renewed) {
  std::unique_ptr<TlsFiles> files(
      new TlsFiles(loop, std::move(certificate), std::move(key), std::move(rules), std::move(renewed)));
  // First watched and then read, so that no change comes in between.
  TRY(files->Watch(loop));
  files->last_ = TRY(files->Read());
  files->first_ = TRY(files->Make(files->last_));
  files->again_.After(kLookAgain);
  return files;
}

Result<> TlsFiles::Watch(event::Loop& loop) {
  constexpr std::uint32_t kMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE;
  for (const std::string& directory : std::set{DirectoryOf(certificate_), DirectoryOf(key_)}) {
    watches_.push_back(
        TRY(event::InotifyWatch::Create(loop, directory, kMask,
                                        [this](const event::FileHappening&) { settled_.After(kSettling); }),
            "watching " + directory));
  }
  return {};
}

void TlsFiles::Look() {
  again_.After(kLookAgain);
  auto texts = Read();
  if (!texts) return renewed_(std::move(texts).error());
  if (*texts == last_) return;
  last_ = *std::move(texts);
  renewed_(Make(last_));
}

Result<TlsFiles::Texts> TlsFiles::Read() const {
  return Texts{TRY(net::ReadPem(net::PemFile{certificate_}), "reading the certificate " + certificate_),
               TRY(net::ReadPem(net::PemFile{key_}), "reading the key " + key_)};
}

Result<TlsFiles::Identity> TlsFiles::Make(const Texts& texts) const {
  return TRY(net::TlsIdentity::Create(texts.certificate, texts.key, rules_), certificate_ + " and " + key_);
}

}  // namespace pintle::controller
