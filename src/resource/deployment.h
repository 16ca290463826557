// SPDX-License-Identifier: Apache-2.0
#pragma once

// The OS that the machine boots: an image, with kernel arguments, extensions and a kernel of choice.  There is one.

#include <string>
#include <vector>

#include "json/fields.h"

namespace pintle::resource {

struct Deployment {
  struct Key {
    static constexpr auto kFields = json::FieldList{};
  };

  struct State {
    std::string image;             // Empty: the one that is there.
    std::string extensions_image;  // Where the packages of extensions and kernels come from.
    // Beside those that the image and the installer bring.
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
