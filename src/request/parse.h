// REQUEST.json, the document of `plimsoll run`: its form is in plimsoll-run(1).
#pragma once

#include <string>

#include "base/error.h"
#include "request/run_request.h"

namespace plimsoll::request {

// Reads `text`, which messages call `name`. What the document leaves out keeps RunRequest's value,
// but for the working directory, which is then the project folder; `json` is true. Strict: every
// member is known and there once, every value of its kind and in the range of RequestLimits, base64
// in its one form.
//
// Errors: kProtocol, with the document's name and the JSON pointer; kCapacity for a document that
// is too large.
Result<RunRequest> Parse(std::string text, const std::string& name);

}  // namespace plimsoll::request
