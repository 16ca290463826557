// SPDX-License-Identifier: Apache-2.0

// The bytes are a kubelet.conf and, after 0xFF, the spec of a KubeletConfig.  Merging them leads to a kubelet.conf that
// can be parsed to the same values, or to an error with a text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kubelet_config.h"
#include "generated/kubelet_configuration.h"
#include "generated/kubelet_files.h"
#include "generated/kubelet_validation.h"
#include "json/fields.h"
#include "machineconfig/yaml.h"

namespace pintle {
namespace {

// With small limits, inputs that exceed them are found soon.
constexpr json::ParseLimits kLimits{.depth = 50, .bytes = 1 << 16};

// Returns whether there is a value.  An error must have a text.
template <typename T>
bool HasValue(const Result<T>& result) {
  if (!result && result.error().message().empty()) std::abort();
  return result.has_value();
}

api::KubeletConfig ObjectOf(std::string_view spec) {
  api::KubeletConfig object;
  Result<std::vector<json::Value>> documents = machineconfig::ParseYaml(spec, nullptr, kLimits);
  if (!documents || documents->empty()) return object;
  json::Report report;
  object.spec = json::Decode<api::KubeletConfigSpec>(std::move(documents->front()), report);
  return object;
}

// Parses a kubelet.conf that was written, and writes it again: the text must be the same.
void TryAgain(const std::string& written) {
  const Result<generated::KubeletConfiguration> read = generated::ParseKubeletConf(written);
  if (!read) std::abort();
  const Result<std::string> again = generated::KubeletConfText(*read);
  // The old line break U+0085 becomes another character when it is first written, which can make two keys equal.
  const bool has_old_break = written.find("\xC2\x85") != std::string::npos;
  if (!again || (*again != written && !has_old_break)) std::abort();
}

void Try(std::string_view bytes) {
  const std::size_t end = bytes.find('\xFF');
  const std::string_view conf = bytes.substr(0, end);
  if (!machineconfig::ParseYaml(conf, nullptr, kLimits)) return;
  const Result<generated::KubeletConfiguration> base = generated::ParseKubeletConf(conf);
  if (!HasValue(base) || end == std::string_view::npos) return;
  const api::KubeletConfig object = ObjectOf(bytes.substr(end + 1));
  const bool is_valid = HasValue(generated::Validate(object));
  const auto files = generated::KubeletFiles(object, *base);
  if (!HasValue(files)) return;
  if (files->empty() || files->back().path != "/etc/kubernetes/kubelet.conf") std::abort();
  if (is_valid && bytes.find("\xC2\x85") == std::string_view::npos) TryAgain(files->back().contents);
}

}  // namespace
}  // namespace pintle

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pintle::Try(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
