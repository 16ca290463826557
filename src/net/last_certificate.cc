// SPDX-License-Identifier: Apache-2.0
#include "net/last_certificate.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace pintle::net {
namespace {

// The beginnings of the signers' common names; a number follows the first one.
constexpr std::string_view kKubeletSigners[] = {"openshift-kube-apiserver-operator_kube-apiserver-to-kubelet-signer@",
                                                "kube-apiserver-to-kubelet-signer"};

bool SignsForKubelets(const Certificate& certificate) {
  return std::any_of(std::begin(kKubeletSigners), std::end(kKubeletSigners),
                     [&](std::string_view signer) { return certificate.common_name.starts_with(signer); });
}

}  // namespace

std::optional<Certificate> LastToExpire(std::vector<Certificate> certificates, BundleOf whose) {
  if (whose == BundleOf::kKubelet && std::any_of(certificates.begin(), certificates.end(), SignsForKubelets)) {
    std::erase_if(certificates, [](const Certificate& certificate) { return !SignsForKubelets(certificate); });
  }
  const auto last = std::max_element(certificates.begin(), certificates.end(),
                                     [](const auto& a, const auto& b) { return a.not_after < b.not_after; });
  if (last == certificates.end()) return std::nullopt;
  return *last;
}

}  // namespace pintle::net
