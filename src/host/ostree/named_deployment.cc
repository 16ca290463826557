// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/named_deployment.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host/ostree/image_name.h"
#include "host/ostree/kernel_arguments.h"
#include "host/stripped.h"

namespace pintle::host {
namespace {

constexpr std::string_view kOstreeArgument = "ostree=";

// Returns the value of a key in the section [origin], or "" if the section does not have the key.
std::string OriginValue(std::string_view text, std::string_view key) {
  bool is_in_origin = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Stripped(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[')) is_in_origin = line == "[origin]";
    const std::size_t equals = line.find('=');
    if (is_in_origin && equals != std::string_view::npos && Stripped(line.substr(0, equals)) == key) {
      return std::string(Stripped(line.substr(equals + 1)));
    }
  }
  return "";
}

}  // namespace

Result<std::optional<DeployedImage>> NamedDeployment(const Root& root, std::string_view command_line) {
  DeployedImage image;
  image.kernel_arguments = SplitKernelArguments(Stripped(command_line.substr(0, command_line.find('\n'))));
  const std::vector<std::string>& arguments = image.kernel_arguments;
  const auto named = std::find_if(arguments.begin(), arguments.end(),
                                  [](const std::string& argument) { return argument.starts_with(kOstreeArgument); });
  if (named == arguments.end()) return std::nullopt;
  // The argument is the path of a link, which leads to a directory .../deploy/OS/deploy/COMMIT.SERIAL.  The origin file
  // is beside that directory.
  const std::string place = TRY(root.RealPath(named->substr(kOstreeArgument.size())), "finding the booted deployment");
  const std::filesystem::path directory = place;
  const std::string name = directory.filename(), os = directory.parent_path().parent_path().filename();
  image.id = fmt::format("{}-{}", os, name);
  image.commit = name.substr(0, name.rfind('.'));
  image.base_commit = image.commit;
  const std::string origin = TRY(root.ReadFile(place + ".origin"), "finding the booted deployment");
  image.image = ImageOfReference(OriginValue(origin, "container-image-reference"));
  image.branch = OriginValue(origin, "refspec");
  if (image.branch.empty()) image.branch = OriginValue(origin, "baserefspec");
  if (const std::size_t at = image.image.rfind('@'); at != std::string::npos) image.digest = image.image.substr(at + 1);
  return image;
}

}  // namespace pintle::host
