// SPDX-License-Identifier: Apache-2.0
#pragma once

// As src/precompiled/standard.h, and what every test includes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled/standard.h"
