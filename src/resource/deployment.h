// SPDX-License-Identifier: Apache-2.0
#pragma once

// The OS that a machine boots: an image, kernel arguments, extensions and the type of the kernel.  A machine has only
// one deployment to boot, so the key is empty.

#include <string>
#include <vector>

#include "json/field_list.h"

namespace pintle::resource {

struct Deployment {
  struct Key {
    static constexpr auto kFields = json::FieldList{};
  };

  struct State {
    std::string image;             // Empty if the machine keeps its present image.
    std::string extensions_image;  // The image with the packages of extensions and kernels.
    // The arguments that the config adds to those of the image and the installer.
    std::vector<std::string> kernel_arguments;
    std::vector<std::string> extensions;
    std::string kernel_type;

    static constexpr auto kFields = json::FieldList{
        json::Field{"image", &State::image},
        json::Field{"extensionsImage", &State::extensions_image},
        json::Field{"kernelArguments", &State::kernel_arguments},
        json::Field{"extensions", &State::extensions},
        json::Field{"kernelType", &State::kernel_type},
    };
  };
};

}  // namespace pintle::resource
