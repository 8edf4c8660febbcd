#include "record/line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "crypto/sha256.h"
#include "json/reader.h"
#include "json/writer.h"
#include "record/dsse.h"
#include "record/form.h"

namespace plimsoll::record {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{512} << 20U;
// Before an envelope's payload, in which no quote can be; and before what it says last.
constexpr std::string_view kPayloadKey = ",\"payload\":\"";
constexpr std::string_view kPlaceKey = ",\"bundle\":";
constexpr std::array<std::string_view, 4> kTiers = {"process", "container", "kernel", "vm"};

std::string JsonString(std::string_view text) {
  json::Writer writer;
  return writer.String(text).Take();
}

std::string CanonicalOf(const json::Value& value) {
  json::Writer writer;
  value.WriteTo(writer);
  return writer.Take();
}

Error Wrong(std::string what) {
  return Error{.kind = ErrorKind::kProtocol, .what = std::move(what)};
}

Error NoLine() {
  return Wrong("no line of a bundle");
}

Result<Statement> ReadSigned(Envelope envelope) {
  if (envelope.payload_type != kStatementMediaType) {
    return Wrong("payloadType: expected '" + std::string(kStatementMediaType) + "', found " +
                 Quote(envelope.payload_type));
  }
  if (envelope.signatures.size() != 1) return Wrong("signatures: expected one");
  PLIMSOLL_TRY_ASSIGN(Statement statement, ReadStatement(std::move(envelope.payload)));
  if (!statement.link || statement.confinement.empty() || statement.calls.empty()) {
    return Wrong("statement: a line of a bundle needs confinement, calls and bundle");
  }
  return statement;
}

Result<void> ExpectEqual(std::string_view what, std::string_view signed_text,
                         std::string_view found) {
  if (signed_text == found) return {};
  return Wrong(std::string(what) + ": " + Quote(signed_text) + " is signed, " + Quote(found) +
               " comes out");
}

// 0 for no tier at all.
std::size_t TierOf(std::string_view name) {
  const auto* const tier = std::find(kTiers.begin(), kTiers.end(), name);
  return tier == kTiers.end() ? 0 : static_cast<std::size_t>(tier - kTiers.begin()) + 1;
}

// What the response repeats of the record.
Result<void> CheckEvidence(const RecordFields& record, const json::Value& response) {
  struct Repeated {
    std::string_view member;
    const std::string& field;
  };
  const std::array<Repeated, 5> repeated = {{{"sandbox", record.provider},
                                             {"isolation", record.isolation},
                                             {"environment", record.environment},
                                             {"software_identity", record.software_identity},
                                             {"policy", record.policy}}};
  for (const Repeated& item : repeated) {
    PLIMSOLL_TRY_ASSIGN(const json::Value value, response.Member(item.member));
    PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
    PLIMSOLL_TRY(ExpectEqual("response: /" + std::string(item.member), item.field, text));
  }
  return {};
}

Result<void> CheckRules(const RecordFields& record, const RequestFields& request, bool has_run) {
  if (record.ended_unix_ms < record.started_unix_ms) {
    return Wrong("record: it ended before it started");
  }
  if (has_run && TierOf(record.isolation) < TierOf(request.minimum_isolation)) {
    return Wrong("record: isolation " + Quote(record.isolation) +
                 " is weaker than the floor that was asked for, " +
                 Quote(request.minimum_isolation));
  }
  if (has_run && !request.software.Allows(record.software_identity)) {
    return Wrong("record: software_identity " + Quote(record.software_identity) +
                 " is not what the request's rule allows");
  }
  return ExpectEqual("record: software_rule_id", record.software_rule_id, request.software.Id());
}

std::string JoinMembers(std::string_view request, std::string_view response, std::string_view plan,
                        std::string_view envelope) {
  json::Writer writer;
  writer.BeginObject().Key("request").Raw(request).Key("response").Raw(response);
  return writer.Key("plan").Raw(plan).Key("envelope").Raw(envelope).EndObject().Take();
}

std::string EnvelopeText(const Envelope& envelope) {
  json::Writer writer;
  WriteEnvelope(envelope, writer);
  return writer.Take();
}

// What WriteEnvelope() would write, of the value that ReadEnvelope() has read, without decoding and
// encoding again: strict base64 has one spelling already.
std::string EnvelopeText(const json::Value& envelope) {
  json::Writer writer;
  const auto copy = [&writer](const json::Value& object, std::string_view name) {
    if (const auto value = object.Member(name)) {
      writer.Key(name);
      value->WriteTo(writer);
    }
  };
  writer.BeginObject();
  copy(envelope, "payloadType");
  copy(envelope, "payload");
  writer.Key("signatures").BeginArray();
  const auto list = envelope.Member("signatures");
  const auto signatures = list ? list->Array() : Result<std::vector<json::Value>>(list.error());
  if (signatures) {
    for (const json::Value& signature : *signatures) {
      writer.BeginObject();
      copy(signature, "keyid");
      copy(signature, "sig");
      writer.EndObject();
    }
  }
  return writer.EndArray().EndObject().Take();
}

}  // namespace

std::string MakeLine(const Draft& draft, std::uint64_t index, std::string previous,
                     const crypto::SigningKey& key) {
  const std::string plan = JsonString(draft.plan);
  Statement statement = draft.statement;
  statement.link = LineLink{.index = index,
                            .previous_line_sha256 = std::move(previous),
                            .request_line_sha256 = crypto::Sha256HexOf(draft.request),
                            .response_line_sha256 = crypto::Sha256HexOf(draft.response),
                            .plan_line_sha256 = crypto::Sha256HexOf(plan)};
  const Envelope envelope = Sign(std::string(kStatementMediaType), WriteStatement(statement), key);
  return JoinMembers(draft.request, draft.response, plan, EnvelopeText(envelope)) + "\n";
}

// The end of the signed statement is enough: it names the line's place last. A line that only looks
// like one does no harm, for it does not verify by itself.
Result<Place> PlaceOf(std::string_view line) {
  constexpr std::size_t kTail = 400;  // base64 digits; the place takes 140 at most
  const std::size_t key = line.rfind(kPayloadKey);
  if (!line.starts_with("{\"request\":") || key == std::string_view::npos) return NoLine();
  std::string_view payload = line.substr(key + kPayloadKey.size());
  payload = payload.substr(0, payload.find('"'));
  if (payload.size() > kTail) payload.remove_prefix((payload.size() - kTail) / 4 * 4);
  const auto statement = DecodeBase64(payload);
  const std::size_t at = statement ? statement->rfind(kPlaceKey) : std::string::npos;
  if (at == std::string::npos || !statement->ends_with("}}")) return NoLine();
  std::string place = statement->substr(at + kPlaceKey.size());
  place.resize(place.size() - 2);
  PLIMSOLL_TRY_ASSIGN(const json::Document document, json::Parse(std::move(place), "bundle"));
  PLIMSOLL_TRY_ASSIGN(const json::Value index, document.Root().Member("index"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t number, index.Uint(INT64_MAX));
  return Place{.index = number};
}

Result<CheckedLine> CheckLine(std::string line, const crypto::PublicKey& key) {
  CheckedLine checked;
  checked.sha256 = crypto::Sha256HexOf(line);
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(line, "line", {.bytes = kMaxLineBytes}));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"request", "response", "plan", "envelope"}));
  PLIMSOLL_TRY_ASSIGN(const json::Value request, root.Member("request"));
  PLIMSOLL_TRY_ASSIGN(const json::Value response, root.Member("response"));
  PLIMSOLL_TRY_ASSIGN(const json::Value plan, root.Member("plan"));
  PLIMSOLL_TRY_ASSIGN(const json::Value envelope, root.Member("envelope"));
  PLIMSOLL_TRY_ASSIGN(const std::string_view plan_text, plan.String());
  PLIMSOLL_TRY_ASSIGN(Envelope read, ReadEnvelope(envelope));

  const std::string request_line = CanonicalOf(request);
  const std::string response_line = CanonicalOf(response);
  const std::string plan_line = JsonString(plan_text);
  if (JoinMembers(request_line, response_line, plan_line, EnvelopeText(envelope)) != line) {
    return Wrong("not in the one spelling that a line has");
  }
  if (auto good = CheckSignature(read, key); !good) {
    return std::move(good).error().In("envelope");
  }
  auto statement = ReadSigned(std::move(read));
  if (!statement) return std::move(statement).error().In("envelope");
  checked.statement = *std::move(statement);

  const LineLink& link = *checked.statement.link;
  const RecordFields& record = checked.statement.record;
  PLIMSOLL_TRY_ASSIGN(const StoredRequest stored, ReadRequest(request));
  PLIMSOLL_TRY_ASSIGN(const StoredResult result, ReadResult(response));
  checked.request_is_whole = stored.is_whole;
  if (stored.is_whole) {
    PLIMSOLL_TRY(
        ExpectEqual("request: digest", record.request_sha256, RequestDigest(stored.fields)));
  }
  PLIMSOLL_TRY(ExpectEqual("response: digest", record.result_sha256, ResultDigest(result.fields)));
  PLIMSOLL_TRY(CheckEvidence(record, response));
  PLIMSOLL_TRY(CheckRules(record, stored.fields, !result.fields.steps.empty()));
  PLIMSOLL_TRY(
      ExpectEqual("request: bytes", link.request_line_sha256, crypto::Sha256HexOf(request_line)));
  PLIMSOLL_TRY(ExpectEqual("response: bytes", link.response_line_sha256,
                           crypto::Sha256HexOf(response_line)));
  PLIMSOLL_TRY(ExpectEqual("plan: bytes", link.plan_line_sha256, crypto::Sha256HexOf(plan_line)));
  return checked;
}

}  // namespace plimsoll::record
