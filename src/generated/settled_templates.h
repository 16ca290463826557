// SPDX-License-Identifier: Apache-2.0
#pragma once

// The templates of a folder that may change while it is read, for example because it is being copied.
//
// The first reading is used at once.  Later, changed templates are used only after two readings in a row have found the
// same templates.  Otherwise, configs could be made from a half-copied folder, and nodes would be updated to these
// configs.

#include <optional>
#include <string>

#include "generated/template_folder.h"

namespace pintle::generated {

class SettledTemplates {
 public:
  enum class Reading {
    kSame,           // The templates in use have not changed.
    kUsed,           // The templates that were read are in use from now on.
    kMustBeRepeated  // The templates have changed.  They are used if the next reading finds the same templates.
  };

  // Takes a reading of the folder, and decides whether its templates are used.
  Reading Offer(TemplateFolder read);

  // Returns nullptr before the first reading.
  const TemplateFolder* get() const { return used_ ? &*used_ : nullptr; }
  // Returns the digest of the templates in use; empty before the first reading.
  const std::string& digest() const { return digest_; }

 private:
  std::optional<TemplateFolder> used_;
  std::string digest_;     // The digest of used_.
  std::string unsettled_;  // The digest of the last reading if it must be repeated; otherwise empty.
};

}  // namespace pintle::generated
