// Where plimsoll keeps its things, by the XDG base directory specification.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace plimsoll::cli {

// The store: `given` when not empty (made absolute), else $XDG_DATA_HOME/plimsoll, else
// $HOME/.local/share/plimsoll. Errors: kRequest when none of them is set.
Result<std::string> StorePath(const std::string& given);

// $XDG_CONFIG_HOME/plimsoll, else $HOME/.config/plimsoll; empty when neither is set.
std::string ConfigPath();

// Where the user's own private key may be: harness.key in ConfigPath(), and in the store, for who
// has no home or cannot write there. The first that is there, or can be made, counts.
std::vector<std::string> UserKeyPaths(const std::string& store);

}  // namespace plimsoll::cli
