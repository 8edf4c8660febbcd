// Where plimsoll keeps its things, by the XDG base directory specification.
#pragma once

#include <string>

#include "base/error.h"

namespace plimsoll::cli {

// The store: `given` when not empty (made absolute), else $XDG_DATA_HOME/plimsoll, else
// $HOME/.local/share/plimsoll. Errors: kRequest when none of them is set.
Result<std::string> StorePath(const std::string& given);

// $XDG_CONFIG_HOME/plimsoll, else $HOME/.config/plimsoll; empty when neither is set.
std::string ConfigPath();

}  // namespace plimsoll::cli
