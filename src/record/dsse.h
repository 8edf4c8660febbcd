// DSSE envelopes: a payload and the signatures over it (the DSSE protocol and envelope documents,
// version 1.0.2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "crypto/ed25519.h"
#include "json/reader.h"
#include "json/writer.h"

namespace plimsoll::record {

struct Signature {
  std::string key_id;
  std::string bytes;
};

struct Envelope {
  std::string payload_type;
  std::string payload;
  std::vector<Signature> signatures;
};

// What is signed: "DSSEv1", the type and the payload, each behind its length.
std::string PreAuthentication(std::string_view payload_type, std::string_view payload);

Envelope Sign(std::string payload_type, std::string payload, const crypto::SigningKey& key);

// {"payloadType","payload","signatures":[{"keyid","sig"}]}, payload and signature in base64.
void WriteEnvelope(const Envelope& envelope, json::Writer& writer);

// Strictly the same form: no other member, at least one signature, base64 as WriteEnvelope has it.
// Says nothing of the signatures. Errors: kProtocol, with the JSON pointer.
Result<Envelope> ReadEnvelope(const json::Value& value);

// Whether `key` has signed. Errors: kProtocol when no signature is of this key, or one is wrong.
Result<void> CheckSignature(const Envelope& envelope, const crypto::PublicKey& key);

}  // namespace plimsoll::record
