// The command "doctor": what this host can do, what it refuses, and the narrowest cure.
#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

// Carries "doctor" with the words behind it out, down to its last line of output. Returns the exit
// status: 0 when a run works on this host, 1 when it does not, 125 for a wrong command line or when
// the examination itself failed.
//
// The calling thread must be the process's only one.
int RunDoctorCommand(const std::vector<std::string>& words);

}  // namespace plimsoll::cli
