// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/rendered_name.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/digest.h"
#include "json/fields.h"

namespace pintle::machineconfig {
namespace {

// The Machine Config Operator's salt.
constexpr auto kSalt = std::to_array<unsigned char>({
    16,  124, 206, 228, 139, 56, 175, 175, 79,  229, 134, 118, 157, 154, 211, 110, 25,  93,  47,  253,
    172, 106, 37,  7,   174, 13, 160, 185, 110, 17,  87,  52,  219, 131, 12,  206, 218, 141, 116, 135,
    188, 181, 192, 151, 233, 62, 126, 165, 64,  83,  179, 119, 15,  168, 208, 197, 146, 107, 58,  227,
    133, 188, 238, 26,  33,  26, 235, 202, 32,  173, 31,  234, 41,  144, 148, 79,  6,   206, 23,  22,
});

}  // namespace

Result<> WriteHashInput(const api::MachineConfigSpec& spec, const TextSink& sink) {
  const json::Value os_image_url = spec.os_image_url;
  const json::Value extensions_image = spec.base_os_extensions_container_image;
  const json::Value kernel_arguments = json::Encode(spec.kernel_arguments);
  const json::Value extensions = json::Encode(spec.extensions);
  const json::Value fips = spec.fips;
  const json::Value kernel_type = spec.kernel_type;
  TRY(WriteGoYaml({{"baseOSExtensionsContainerImage", &extensions_image},
                   {"config", &spec.config},
                   {"extensions", &extensions},
                   {"fips", &fips},
                   {"kernelArguments", &kernel_arguments},
                   {"kernelType", &kernel_type},
                   {"osImageURL", &os_image_url}},
                  sink),
      "error converting JSON to YAML");
  return {};
}

Result<std::string> RenderedName(std::string_view pool, const api::MachineConfigSpec& spec) {
  Hasher hasher(DigestAlgorithm::kMd5);
  hasher.Update(std::string_view(reinterpret_cast<const char*>(kSalt.data()), kSalt.size()));
  TRY(WriteHashInput(spec, [&](std::string_view piece) { hasher.Update(piece); }));
  return fmt::format("rendered-{}-{}", pool, std::move(hasher).Finish().hex());
}

}  // namespace pintle::machineconfig
