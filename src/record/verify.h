// Whether a bundle holds: every line, and their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "crypto/ed25519.h"

namespace plimsoll::record {

// What else a bundle has to be; a bundle cut at its end is good by itself.
struct Expectations {
  std::optional<std::uint64_t> lines;  // as many
  std::string head;                    // SHA-256 of the last line; empty: any
};

struct Verified {
  std::uint64_t lines = 0;
  std::string head;                    // SHA-256 of the last line; empty without any
  std::uint64_t partial_requests = 0;  // lines whose request keeps a file by its digest alone
};

// Checks the whole file, on all processors, with a few lines in memory at a time; takes the lock of
// the file for as long as it looks for its end, so that a line being appended is seen whole or not
// at all.
//
// Errors: kProtocol for the first line that is wrong ("line 3: ..."), a line cut short, or an
// expectation that fails; kHost when the file cannot be read.
Result<Verified> VerifyBundle(const std::string& path, const crypto::PublicKey& key,
                              const Expectations& expected);

}  // namespace plimsoll::record
