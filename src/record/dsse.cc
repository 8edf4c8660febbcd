#include "record/dsse.h"

#include <utility>

#include "base/text.h"

namespace plimsoll::record {
namespace {

constexpr std::size_t kMaxSignatures = 16;

Result<std::string> ReadBase64(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  auto bytes = DecodeBase64(text);
  if (!bytes) return value.Complaint("expected standard base64 with padding");
  return *std::move(bytes);
}

}  // namespace

std::string PreAuthentication(std::string_view payload_type, std::string_view payload) {
  std::string text = "DSSEv1 ";
  text += std::to_string(payload_type.size()) + " ";
  text += payload_type;
  text += " " + std::to_string(payload.size()) + " ";
  text += payload;
  return text;
}

Envelope Sign(std::string payload_type, std::string payload, const crypto::SigningKey& key) {
  std::string bytes = key.Sign(PreAuthentication(payload_type, payload));
  return {.payload_type = std::move(payload_type),
          .payload = std::move(payload),
          .signatures = {{.key_id = key.Public().Id(), .bytes = std::move(bytes)}}};
}

void WriteEnvelope(const Envelope& envelope, json::Writer& writer) {
  writer.BeginObject();
  writer.Member("payloadType", envelope.payload_type);
  writer.Member("payload", Base64(envelope.payload));
  writer.Key("signatures").BeginArray();
  for (const Signature& signature : envelope.signatures) {
    writer.BeginObject();
    writer.Member("keyid", signature.key_id);
    writer.Member("sig", Base64(signature.bytes));
    writer.EndObject();
  }
  writer.EndArray().EndObject();
}

Result<Envelope> ReadEnvelope(const json::Value& value) {
  PLIMSOLL_TRY(value.OnlyMembers({"payloadType", "payload", "signatures"}));
  Envelope envelope;
  PLIMSOLL_TRY_ASSIGN(const json::Value type, value.Member("payloadType"));
  PLIMSOLL_TRY_ASSIGN(envelope.payload_type, type.String());
  PLIMSOLL_TRY_ASSIGN(envelope.payload, ReadBase64(value, "payload"));
  PLIMSOLL_TRY_ASSIGN(const json::Value signatures, value.Member("signatures"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, signatures.Array());
  if (items.empty() || items.size() > kMaxSignatures) {
    return signatures.Complaint("expected 1 to " + std::to_string(kMaxSignatures) + " signatures");
  }
  for (const json::Value& item : items) {
    PLIMSOLL_TRY(item.OnlyMembers({"keyid", "sig"}));
    Signature signature;
    PLIMSOLL_TRY_ASSIGN(const json::Value id, item.Member("keyid"));
    PLIMSOLL_TRY_ASSIGN(signature.key_id, id.String());
    PLIMSOLL_TRY_ASSIGN(signature.bytes, ReadBase64(item, "sig"));
    envelope.signatures.push_back(std::move(signature));
  }
  return envelope;
}

Result<void> CheckSignature(const Envelope& envelope, const crypto::PublicKey& key) {
  const std::string id = key.Id();
  const std::string message = PreAuthentication(envelope.payload_type, envelope.payload);
  bool found = false;
  for (const Signature& signature : envelope.signatures) {
    if (signature.key_id != id) continue;
    found = true;
    if (!key.Verifies(message, signature.bytes)) {
      return Error{.kind = ErrorKind::kProtocol, .what = "the signature is wrong"};
    }
  }
  if (found) return {};
  return Error{.kind = ErrorKind::kProtocol,
               .what = "no signature is of the key " + id + ", but of " +
                       Quote(envelope.signatures.empty() ? "" : envelope.signatures[0].key_id, 64)};
}

}  // namespace plimsoll::record
