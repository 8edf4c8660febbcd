// What a digest covers, read out of the JSON forms of a request and a response.
#pragma once

#include <deque>
#include <string>

#include "base/error.h"
#include "json/reader.h"
#include "record/digest.h"

namespace plimsoll::record {

// A request's fields and the texts that they point to, which a move leaves where they are.
struct StoredRequest {
  RequestFields fields = {};
  bool is_whole = true;  // false: a file is there by its digest alone, so the request's digest
                         // cannot be worked out
  std::deque<std::string> texts = {};
};

// A response's fields and the texts that they point to.
struct StoredResult {
  ResultFields fields = {};
  std::deque<std::string> texts = {};
};

// Errors: kProtocol, with the JSON pointer.
Result<StoredRequest> ReadRequest(const json::Value& request);

// Also holds each output against what is said of it: a text or base64, never both, as long as
// "bytes" says unless it is truncated, and with its SHA-256.
Result<StoredResult> ReadResult(const json::Value& response);

// {"text"} or {"base64"}: the bytes. Errors: kProtocol for both, none, or wrong base64.
Result<std::string> ReadContent(const json::Value& object);

}  // namespace plimsoll::record
