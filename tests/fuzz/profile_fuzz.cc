// Any bytes: a profile is read or refused; what is read becomes a program that answers every call
// as the rules do, and the guard's refusals stand before it.

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "policy/guard.h"
#include "policy/interpret.h"
#include "policy/profile.h"
#include "policy/program.h"

namespace {

using plimsoll::policy::Call;
using plimsoll::policy::Decide;
using plimsoll::policy::Interpret;

// Names need no table here: any name is some number, so that rules meet each other.
plimsoll::Result<std::optional<std::uint32_t>> NumberOf(const std::string& name) {
  std::uint32_t number = 0;
  for (const char c : name)
    number = number * 31 + static_cast<unsigned char>(c);
  return std::optional<std::uint32_t>(number % 500);
}

void CheckCall(const plimsoll::policy::Verdicts& verdicts, const plimsoll::policy::Program& program,
               const seccomp_data& data) {
  const auto answer = Interpret(program, data);
  if (!answer || answer->action != Decide(verdicts, data)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = plimsoll::policy::ParseProfile(text, "fuzz");
  if (!profile) return 0;
  const auto verdicts = plimsoll::policy::ToVerdicts(*profile, NumberOf);
  if (!verdicts) return 0;
  const auto guard = plimsoll::policy::Guard();
  const auto stacked = Stack(guard, *verdicts);
  const auto program = EmitProgram(stacked);
  if (!program) return 0;
  for (std::uint32_t number = 0; number < 520; ++number) {
    for (const std::uint64_t value : {0UL, 1UL, 0xffffffffUL, 0x100000001UL, ~0UL}) {
      const seccomp_data call = Call(number, {value, value, value, value, value, value});
      CheckCall(stacked, *program, call);
      const std::uint32_t first = Decide(guard, call);
      if (first != SECCOMP_RET_ALLOW && Decide(stacked, call) != first) std::abort();
    }
  }
  return 0;
}
