#include "record/verify.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "record/line.h"
#include "record/line_reader.h"

namespace plimsoll::record {
namespace {

// Each line by itself, on all processors. A result for each, in order.
std::vector<Result<CheckedLine>> CheckLines(std::vector<std::string> lines,
                                            const crypto::PublicKey& key) {
  std::vector<Result<CheckedLine>> checked(lines.size(), CheckedLine{});
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next++; at < lines.size(); at = next++)
      checked[at] = CheckLine(std::move(lines[at]), key);
  };
  std::vector<std::jthread> threads;
  try {
    const std::size_t processors = std::thread::hardware_concurrency();
    for (std::size_t i = 1; i < std::min(processors, lines.size()); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error&) {
    // One thread takes longer, that is all.
  }
  work();
  threads.clear();
  return checked;
}

Error InLine(std::uint64_t index, Error error) {
  return std::move(error).In("line " + std::to_string(index));
}

// The line's place behind what was verified so far.
Result<void> CheckPlace(const CheckedLine& line, const Verified& verified) {
  const LineLink& link = *line.statement.link;
  const std::uint64_t index = verified.lines + 1;
  if (link.index != index) {
    return Error{
        .kind = ErrorKind::kProtocol,
        .what = "envelope: bundle/index: it was signed as line " + std::to_string(link.index)};
  }
  if (link.previous_line_sha256 != verified.head) {
    return Error{
        .kind = ErrorKind::kProtocol,
        .what =
            "envelope: bundle/previous_line_sha256: it was signed behind another line, " +
            (link.previous_line_sha256.empty() ? std::string("none") : link.previous_line_sha256)};
  }
  return {};
}

Result<void> CheckExpectations(const Verified& verified, const Expectations& expected) {
  if (expected.lines && *expected.lines != verified.lines) {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = "it has " + std::to_string(verified.lines) + " lines, expected " +
                         std::to_string(*expected.lines)};
  }
  if (!expected.head.empty() && expected.head != verified.head) {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = "its last line has the SHA-256 " +
                         (verified.head.empty() ? std::string("of nothing") : verified.head) +
                         ", expected " + expected.head};
  }
  return {};
}

}  // namespace

Result<Verified> VerifyBundle(const std::string& path, const crypto::PublicKey& key,
                              const Expectations& expected) {
  PLIMSOLL_TRY_ASSIGN(LineReader reader, LineReader::Open(path));
  Verified verified;
  for (;;) {
    auto lines = reader.Next();
    if (!lines) return InLine(verified.lines + 1, std::move(lines).error());
    if (lines->empty()) break;
    for (auto& line : CheckLines(*std::move(lines), key)) {
      const std::uint64_t index = verified.lines + 1;
      if (!line) return InLine(index, std::move(line).error());
      if (auto placed = CheckPlace(*line, verified); !placed) {
        return InLine(index, std::move(placed).error());
      }
      verified.lines = index;
      verified.head = line->sha256;
      if (!line->request_is_whole) ++verified.partial_requests;
    }
  }
  PLIMSOLL_TRY(CheckExpectations(verified, expected));
  return verified;
}

}  // namespace plimsoll::record
