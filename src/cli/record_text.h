// The answers of keygen, verify and show, for people and as JSON.
#pragma once

#include <string>

#include "base/error.h"
#include "crypto/ed25519.h"
#include "record/line.h"
#include "record/verify.h"

namespace plimsoll::cli {

std::string KeyText(const std::string& path, const crypto::PublicKey& key);
std::string KeyJson(const std::string& path, const crypto::PublicKey& key);

std::string VerifiedText(const record::Verified& verified, const crypto::PublicKey& key);
std::string VerifiedJson(const record::Verified& verified, const crypto::PublicKey& key);
// {"verified":false,"error"}.
std::string NotVerifiedJson(const Error& error);

// A line that was checked, as a page for people: what ran, where, behind which wall, what it
// reached, how it ended, and who signed. Errors: kProtocol.
Result<std::string> RecordText(const std::string& line, const record::CheckedLine& checked,
                               const crypto::PublicKey& key);
// The plan in it. Errors: kProtocol.
Result<std::string> PlanOfLine(const std::string& line);

}  // namespace plimsoll::cli
