#include "base/error.h"

#include <cstring>

namespace plimsoll {
namespace {

const char* Description(int number) {
  const char* description = ::strerrordesc_np(number);
  return description != nullptr ? description : "Unknown error";
}

}  // namespace

std::string_view ReasonName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kRequest:
      return "request";
    case ErrorKind::kPermission:
      return "permission";
    case ErrorKind::kProtocol:
      return "protocol";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kIsolation:
      return "isolation";
    case ErrorKind::kEnvironment:
      return "environment";
    case ErrorKind::kCapacity:
      return "capacity";
    case ErrorKind::kHost:
      return "host";
  }
  return "host";
}

std::string ErrnoName(int number) {
  const char* name = ::strerrorname_np(number);
  return name != nullptr ? name : std::to_string(number);
}

std::optional<int> ErrnoNumber(std::string_view name) {
  constexpr int kHighest = 133;  // EHWPOISON
  for (int number = 1; number <= kHighest; ++number) {
    const char* known = ::strerrorname_np(number);
    if (known != nullptr && name == known) return number;
  }
  return std::nullopt;
}

std::string DescribeErrno(int number) {
  const char* name = ::strerrorname_np(number);
  if (name == nullptr) return "errno " + std::to_string(number);
  return std::string(name) + " (" + Description(number) + ")";
}

std::string Error::Message() const {
  std::string text;
  for (auto outer = context.rbegin(); outer != context.rend(); ++outer) {
    text += *outer + ": ";
  }
  text += what;
  if (sys_errno != 0) {
    text += std::string(": ") + Description(sys_errno) + " (" + ErrnoName(sys_errno) + ")";
  }
  return text;
}

}  // namespace plimsoll
