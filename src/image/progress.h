// How long work tells what it is doing, without knowing who shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace plimsoll::image {

struct Step {
  std::string what;         // "unpack layer 2 of 5"; the same text as long as the step lasts
  std::uint64_t done = 0;   // bytes
  std::uint64_t total = 0;  // bytes; 0 when unknown
};

// Called from the thread that does the work, up to some hundred times a step; may be empty.
using Progress = std::function<void(const Step&)>;

}  // namespace plimsoll::image
