// One line of a bundle: a run's request, its response, its plan for people, and the envelope that
// signs all three.
//
//   {"request":{...},"response":{...},"plan":"...","envelope":{...}}
//
// in the one spelling that json::Writer has, so that every byte of a line is either signed or can
// only be what it is.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "crypto/ed25519.h"
#include "record/statement.h"

namespace plimsoll::record {

// A finished run before it has a place in a bundle.
struct Draft {
  std::string request;   // JSON, one line; the form of plimsoll-record(5)
  std::string response;  // the same
  std::string plan;      // any text
  Statement statement;   // without its link
};

// The draft as line `index`, with a newline. `previous` is the SHA-256 of the line before, without
// its newline; empty for the first.
std::string MakeLine(const Draft& draft, std::uint64_t index, std::string previous,
                     const crypto::SigningKey& key);

// Where a line stands, as its signed statement says.
struct Place {
  std::uint64_t index = 0;
};

// Of a line of which nothing but its form is trusted: for the next one to follow it. Errors:
// kProtocol when that is no line of a bundle.
Result<Place> PlaceOf(std::string_view line);

// What a good line says.
struct CheckedLine {
  Statement statement;
  std::string sha256;             // of the line, without its newline
  bool request_is_whole = false;  // false: the request's digest is signed, but could not be worked
                                  // out, since a file is there by its own digest alone
};

// Checks a line (without its newline) by itself: one spelling, the signature, every digest worked
// out anew, and the rules that tie request, response and record together. Not its place.
//
// Errors: kProtocol, beginning with the member that is wrong.
Result<CheckedLine> CheckLine(std::string line, const crypto::PublicKey& key);

}  // namespace plimsoll::record
