// SPDX-License-Identifier: Apache-2.0
#pragma once

// The OS that the machine boots: an image, with kernel arguments, extensions and a kernel of choice.  A machine has
// one.

#include <string>
#include <vector>

#include "json/field_list.h"

namespace pintle::resource {

struct Deployment {
  struct Key {
    static constexpr auto kFields = json::FieldList{};
  };

  struct State {
    std::string image;             // Empty for the image that is there.
    std::string extensions_image;  // The image with the packages of extensions and kernels.
    // The arguments beside those that the image and the installer bring.
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
