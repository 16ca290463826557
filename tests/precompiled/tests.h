// SPDX-License-Identifier: Apache-2.0
#pragma once

// The headers that every test includes, in addition to those of src/precompiled/standard.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled/standard.h"
