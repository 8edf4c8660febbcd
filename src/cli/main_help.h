// The program's own help.
#pragma once

#include <string_view>

namespace plimsoll::cli {

// For `plimsoll -h`: every command in a line.
std::string_view MainHelp();

}  // namespace plimsoll::cli
