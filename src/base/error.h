// One error type for the whole program: what failed, with which values, and what to do.
//
// Errors are values. A function that can fail returns Result<T>; it never logs and never exits.
// Only main() prints an Error (see cli/report.h). Depends on: the standard library, Boost.System.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll {

// Why a run was refused or failed, and so who can act. The names are the refusal reasons of the
// JSON response; kUsage (a wrong command line) is told apart since nothing is recorded for it.
enum class ErrorKind {
  kUsage,        // the command line: the caller mends the call
  kRequest,      // a value of the request: the caller mends the value
  kPermission,   // the caller may not do this
  kProtocol,     // a peer or a file broke its format
  kUnsupported,  // this version or this kernel cannot do it
  kIsolation,    // the wall asked for is not to be had here
  kEnvironment,  // the image is missing, unknown or damaged
  kCapacity,     // a limit or a resource ran out
  kHost,         // the host refused or failed a system call
};

// "request", "permission", ... as in the JSON response; kUsage reads "request".
std::string_view ReasonName(ErrorKind kind);

struct [[nodiscard]] Error {
  ErrorKind kind;
  std::string what;                       // the failed operation, with its values
  std::string hint = {};                  // what the reader can do; empty when nothing
  int sys_errno = 0;                      // errno of the failed system call; 0 when there was none
  std::vector<std::string> context = {};  // enclosing operations, innermost first

  // Adds the enclosing operation. Call it where the value becomes known, not at every level.
  Error&& In(std::string operation) && {
    context.push_back(std::move(operation));
    return std::move(*this);
  }

  // "outer: inner: what: text of errno (NAME)", without the hint.
  std::string Message() const;
};

// "ENOENT" for 2; the number itself where libc has no name for it.
std::string ErrnoName(int number);
// 2 for "ENOENT"; nothing for a name that libc does not have.
std::optional<int> ErrnoNumber(std::string_view name);
// "ENOENT (No such file or directory)"; "errno 4000" where libc has no name for it.
std::string DescribeErrno(int number);

template <typename T>
using Result = boost::system::result<T, Error>;

#define PLIMSOLL_TRY(expr)                                                                 \
  do {                                                                                     \
    if (auto plimsoll_try = (expr); !plimsoll_try) return std::move(plimsoll_try).error(); \
  } while (false)

#define PLIMSOLL_CONCAT_(a, b) a##b
#define PLIMSOLL_CONCAT(a, b) PLIMSOLL_CONCAT_(a, b)
#define PLIMSOLL_TRY_ASSIGN_(decl, expr, tmp) \
  auto tmp = (expr);                          \
  if (!tmp) return std::move(tmp).error();    \
  decl = *std::move(tmp)
#define PLIMSOLL_TRY_ASSIGN(decl, expr) \
  PLIMSOLL_TRY_ASSIGN_(decl, expr, PLIMSOLL_CONCAT(plimsoll_result_, __LINE__))

}  // namespace plimsoll
