#include "policy/for_file.h"

#include "base/text.h"
#include "policy/check.h"
#include "policy/source.h"

namespace plimsoll::policy {

Result<Policy> ForFile(const std::string& path, const Needs& needs, const Platform& platform,
                       const std::string& cache) {
  std::vector<std::string> differences;
  if (needs.writable_volume) differences.emplace_back("rw-volume");
  PLIMSOLL_TRY_ASSIGN(const Source source, ReadSource(path, differences, platform));
  for (const Finding& finding : Check(source, true)) {
    if (finding.severity != Severity::kWrong) continue;
    return Error{.kind = ErrorKind::kRequest,
                 .what = "--seccomp " + Quote(path) + ": " + finding.text,
                 .hint = "'plimsoll policy check --foreign' lists all that is wrong"};
  }
  return CachedPolicy(source, cache);
}

}  // namespace plimsoll::policy
