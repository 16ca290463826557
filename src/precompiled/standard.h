// SPDX-License-Identifier: Apache-2.0
#pragma once

// The headers that nearly every file includes and that we never change, precompiled for builds with -Db_pch=true.  This
// halves the time that clang takes.  Other builds do not read this file, so each file includes all that it uses.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
