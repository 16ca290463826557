// SPDX-License-Identifier: Apache-2.0
#include "kube/access.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/root.h"

namespace pintle::kube {
namespace {

constexpr std::size_t kKubeconfigLimit = 4 << 20;
constexpr std::size_t kTokenLimit = 1 << 20;

Result<std::string> ReadWhole(const std::string& path, std::size_t limit) {
  const Root root = TRY(Root::Open("/"));
  return TRY(root.ReadFile(path, limit));
}

std::string Doing(const std::string& path) { return "reading the kubeconfig " + path; }

Result<Config> Parse(const std::string& text, const std::string& path, const std::string& context) {
  return TRY(ParseKubeconfig(text, std::filesystem::path(path).parent_path(), context), Doing(path));
}

}  // namespace

Result<Access> Access::FromKubeconfig(const std::string& path, std::string context) {
  std::error_code failure;
  const std::string absolute = std::filesystem::absolute(path, failure);
  if (failure) return Error::FromErrno("getcwd", failure.value()).While(Doing(path));
  std::string text = TRY(ReadWhole(absolute, kKubeconfigLimit), Doing(absolute));
  Access access(TRY(Parse(text, absolute, context)));
  access.path_ = absolute;
  access.context_ = std::move(context);
  access.text_ = std::move(text);
  return access;
}

Access Access::Fixed(Config config) { return Access(std::move(config)); }

Result<const Config*> Access::Current() {
  if (path_.empty()) return &config_;
  std::string text = TRY(ReadWhole(path_, kKubeconfigLimit), Doing(path_));
  if (text != text_) {
    config_ = TRY(Parse(text, path_, context_));
    text_ = std::move(text);
  }
  return &config_;
}

Result<std::string> ReadToken(const Config& config) {
  if (config.token_file.empty()) return config.token;
  std::string token = TRY(ReadWhole(config.token_file, kTokenLimit), "reading the token file " + config.token_file);
  // A file that was written by hand ends with a newline, which is not part of the token.
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.empty()) return Error(ErrorKind::kInvalid, "the token file " + config.token_file + " is empty");
  return token;
}

}  // namespace pintle::kube
