// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/remedy.h"

#include <algorithm>
#include <array>

namespace pintle::machineconfig {
namespace {

struct Remedy {
  std::string_view problem;  // The beginning of the problem's text.
  std::string_view remedy;
};

constexpr std::array kRemedies = {
    Remedy{"Unused key", "the key has no effect: remove it or correct its spelling"},
    Remedy{"cannot be unpacked", "compress the contents with gzip, or remove compression"},
    Remedy{"cannot set both id and name", "keep one of the two"},
    Remedy{"cannot use the same partition label twice", "give each partition a label of its own"},
    Remedy{"directory path includes link", "write the path that the link leads to"},
    Remedy{"duplicate entry defined", "keep one of the entries, or merge them by hand"},
    Remedy{"file path includes link", "write the path that the link leads to"},
    Remedy{"format cannot be empty", "name the filesystem: ext4, btrfs, xfs, swap or vfat"},
    Remedy{"illegal base64 data", "encode the contents again: base64 -w0 FILE"},
    Remedy{"illegal file mode", "write a decimal number from 0 to 4095: 0644 is 420 and 0755 is 493"},
    Remedy{"incorrect size for hash sum", "a sha256 has 64 hexadecimal digits, and a sha512 has 128"},
    Remedy{"invalid data character", "percent-encode the contents, or use base64"},
    Remedy{"invalid filesystem format", "use ext4, btrfs, xfs, swap, vfat or, from 3.3 on, none"},
    Remedy{"invalid systemd drop-in extension", "let the name of the drop-in end in .conf"},
    Remedy{"invalid systemd unit extension",
           "let the name of the unit end in .service, .timer, .mount or another kind of unit"},
    Remedy{"invalid unit content: line too long", "break the line with a backslash: systemd reads 2048 bytes"},
    Remedy{"invalid unit content", "write [Section] lines and Name=value lines"},
    Remedy{"invalid url scheme", "use data:, http:, https:, tftp:, s3: or, from 3.2 on, gs:"},
    Remedy{"link path includes link", "write the path that the other link leads to"},
    Remedy{"link target is required", "add the target of the link"},
    Remedy{"malformed hash specifier", "write sha256- or sha512- and the digits"},
    Remedy{"missing data prefix", "write data: in lower case"},
    Remedy{"must be a whole number", "write the number without quotes and in decimal: 0644 is 420"},
    Remedy{"overwrite must be false", "add contents to the file, or remove overwrite"},
    Remedy{"parsing Ignition config failed: invalid version", "write the version, such as ignition: {version: 3.4.0}"},
    Remedy{
        "parsing Ignition config spec v3 failed with error: config is not valid\nReport: error: json: cannot unmarshal",
        "write the config as a mapping, and its version as text: ignition: {version: 3.4.0}"},
    Remedy{"partition label will be truncated", "use a label without a colon"},
    Remedy{"partitions overlap",
           "move one of the partitions, or remove startMiB, so that the machine chooses the place"},
    Remedy{"path conflicts with systemd", "write the unit's contents in one of the two places"},
    Remedy{"path is not fully simplified", "write the path without . and .., and without slashes at the end or twice"},
    Remedy{"path not absolute", "begin the path with a slash"},
    Remedy{"path not specified", "add the path"},
    Remedy{"proxies must be http(s)", "begin the URL with http:// or https://"},
    Remedy{"raid devices required", "list the devices of the array"},
    Remedy{"setuid/setgid/sticky bits", "remove the bits above 0777"},
    Remedy{"source is required", "add the URL of the source"},
    Remedy{"source must be specified", "add the source that the hash belongs to"},
    Remedy{"thumbprint is required", "ask the server: tang-show-keys"},
    Remedy{"unrecognized hash function", "use sha512 or, from 3.1 on, sha256"},
    Remedy{"unsupported config version", "use a version from 3.0.0 to 3.5.0"},
};

}  // namespace

std::string_view RemedyForConfigProblem(std::string_view problem) {
  const auto found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                  [&](const Remedy& remedy) { return problem.starts_with(remedy.problem); });
  return found == kRemedies.end() ? "" : found->remedy;
}

}  // namespace pintle::machineconfig
