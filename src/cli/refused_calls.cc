#include "cli/refused_calls.h"

#include "base/error.h"
#include "base/text.h"
#include "policy/calls.h"

namespace plimsoll::cli {
namespace {

// Pointers and long numbers are easier to read in hexadecimal.
std::string Argument(std::uint64_t value) {
  constexpr std::uint64_t kFirstInHex = 65536;
  return Number(value, value < kFirstInHex ? 10 : 16);
}

std::string Note(const result::RefusedCall& call) {
  std::string name = CallName(call);
  if (name.empty()) {
    name = call.is_native ? "call " : "call by another gate, number ";
    name += std::to_string(call.number);
  }
  std::string text = "refused: " + name + "(";
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    text += (i == 0 ? "" : ", ") + Argument(call.arguments[i]);
  return text + "), " + DescribeErrno(call.error) + ", " + std::to_string(call.count) +
         (call.count == 1 ? " time" : " times");
}

}  // namespace

std::string CallName(const result::RefusedCall& call) {
  if (!call.is_native) return {};
  return std::string(policy::NameOfCall(call.number));
}

std::vector<std::string> RefusedCallNotes(const result::RunResult& result) {
  std::vector<std::string> notes;
  for (const result::RefusedCall& call : result.refused_calls)
    notes.push_back(Note(call));
  if (result.refused_uncounted > 0) {
    notes.push_back("refused: further calls of other kinds, " +
                    std::to_string(result.refused_uncounted) + " times");
  }
  return notes;
}

}  // namespace plimsoll::cli
