#include "base/error.h"

#include <cstring>

namespace plimsoll {

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

std::string Error::Message() const {
  std::string text;
  for (auto outer = context.rbegin(); outer != context.rend(); ++outer) {
    text += *outer + ": ";
  }
  text += what;
  if (sys_errno != 0) {
    const char* description = ::strerrordesc_np(sys_errno);
    text += std::string(": ") + (description != nullptr ? description : "Unknown error") + " (" +
            ErrnoName(sys_errno) + ")";
  }
  return text;
}

}  // namespace plimsoll
