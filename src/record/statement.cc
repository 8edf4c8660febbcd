#include "record/statement.h"

#include <utility>

#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"

namespace plimsoll::record {
namespace {

constexpr std::uint64_t kVersion = 2;
constexpr std::string_view kSubjectName = "run-record";

// Each field of a record by the name that it has in the predicate and in the digest.
struct TextField {
  std::string_view name;
  std::string RecordFields::*member;
};
constexpr TextField kTextFields[] = {
    {"request_sha256", &RecordFields::request_sha256},
    {"result_sha256", &RecordFields::result_sha256},
    {"provider", &RecordFields::provider},
    {"isolation", &RecordFields::isolation},
    {"environment", &RecordFields::environment},
    {"software_identity", &RecordFields::software_identity},
    {"software_rule_id", &RecordFields::software_rule_id},
    {"policy", &RecordFields::policy},
};

void WriteLink(const LineLink& link, json::Writer& writer) {
  writer.Member("request_line_sha256", link.request_line_sha256);
  writer.Member("response_line_sha256", link.response_line_sha256);
  writer.Member("plan_line_sha256", link.plan_line_sha256);
  writer.Key("bundle").BeginObject();
  writer.Member("index", link.index);
  writer.Member("previous_line_sha256", link.previous_line_sha256);
  writer.EndObject();
}

void WritePredicate(const Statement& statement, json::Writer& writer) {
  const RecordFields& record = statement.record;
  writer.BeginObject().Member("version", kVersion);
  for (const TextField& field : kTextFields)
    writer.Member(field.name, record.*field.member);
  writer.Member("started_unix_ms", record.started_unix_ms);
  writer.Member("ended_unix_ms", record.ended_unix_ms);
  writer.Member("session", record.session);
  writer.Member("sequence", record.sequence);
  writer.Member("previous_sha256", record.previous_sha256);
  writer.Member("record_sha256", RecordDigest(record));
  if (!statement.confinement.empty()) writer.Key("confinement").Raw(statement.confinement);
  if (!statement.calls.empty()) writer.Key("calls").Raw(statement.calls);
  if (statement.link) WriteLink(*statement.link, writer);
  writer.EndObject();
}

Result<std::string> Text(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  return std::string(text);
}

Result<std::uint64_t> Number(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return value.Uint(INT64_MAX);
}

Result<void> Expect(const json::Value& object, std::string_view name, std::string_view wanted) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  if (text == wanted) return {};
  return value.Complaint("expected '" + std::string(wanted) + "', found " + Quote(text));
}

// The one digest of the one subject.
Result<std::string> ReadSubject(const json::Value& root) {
  PLIMSOLL_TRY_ASSIGN(const json::Value subjects, root.Member("subject"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, subjects.Array());
  if (items.size() != 1) {
    return subjects.Complaint("expected one subject, found " + std::to_string(items.size()));
  }
  PLIMSOLL_TRY(items[0].OnlyMembers({"name", "digest"}));
  PLIMSOLL_TRY(Expect(items[0], "name", kSubjectName));
  PLIMSOLL_TRY_ASSIGN(const json::Value digest, items[0].Member("digest"));
  PLIMSOLL_TRY(digest.OnlyMembers({"sha256"}));
  return Text(digest, "sha256");
}

Result<RecordFields> ReadRecord(const json::Value& predicate) {
  PLIMSOLL_TRY_ASSIGN(const json::Value version, predicate.Member("version"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t number, version.Uint());
  if (number != kVersion) {
    return version.Complaint("record version " + std::to_string(number) +
                             " is not known; this program reads version 2");
  }
  RecordFields record;
  for (const TextField& field : kTextFields) {
    PLIMSOLL_TRY_ASSIGN(record.*field.member, Text(predicate, field.name));
  }
  PLIMSOLL_TRY_ASSIGN(record.started_unix_ms, Number(predicate, "started_unix_ms"));
  PLIMSOLL_TRY_ASSIGN(record.ended_unix_ms, Number(predicate, "ended_unix_ms"));
  PLIMSOLL_TRY(Expect(predicate, "session", ""));
  PLIMSOLL_TRY(Expect(predicate, "previous_sha256", ""));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t sequence, Number(predicate, "sequence"));
  if (sequence != 0) {
    return predicate.Complaint("sequence " + std::to_string(sequence) +
                               " belongs to a session; expected 0");
  }
  return record;
}

Result<std::string> Canonical(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const auto value, object.Find(name));
  if (!value) return std::string();
  PLIMSOLL_TRY(value->Members());
  json::Writer writer;
  value->WriteTo(writer);
  return writer.Take();
}

Result<std::optional<LineLink>> ReadLink(const json::Value& predicate) {
  PLIMSOLL_TRY_ASSIGN(const auto bundle, predicate.Find("bundle"));
  if (!bundle) return std::optional<LineLink>();
  PLIMSOLL_TRY(bundle->OnlyMembers({"index", "previous_line_sha256"}));
  LineLink link;
  PLIMSOLL_TRY_ASSIGN(link.index, Number(*bundle, "index"));
  PLIMSOLL_TRY_ASSIGN(link.previous_line_sha256, Text(*bundle, "previous_line_sha256"));
  PLIMSOLL_TRY_ASSIGN(link.request_line_sha256, Text(predicate, "request_line_sha256"));
  PLIMSOLL_TRY_ASSIGN(link.response_line_sha256, Text(predicate, "response_line_sha256"));
  PLIMSOLL_TRY_ASSIGN(link.plan_line_sha256, Text(predicate, "plan_line_sha256"));
  return std::optional(std::move(link));
}

}  // namespace

std::string WriteStatement(const Statement& statement) {
  json::Writer writer;
  writer.BeginObject().Member("_type", kStatementType);
  writer.Key("subject").BeginArray().BeginObject().Member("name", kSubjectName);
  writer.Key("digest").BeginObject().Member("sha256", RecordDigest(statement.record)).EndObject();
  writer.EndObject().EndArray();
  writer.Member("predicateType", kPredicateType).Key("predicate");
  WritePredicate(statement, writer);
  return writer.EndObject().Take();
}

Result<Statement> ReadStatement(std::string payload) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document, json::Parse(std::move(payload), "statement"));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"_type", "subject", "predicateType", "predicate"}));
  PLIMSOLL_TRY(Expect(root, "_type", kStatementType));
  PLIMSOLL_TRY(Expect(root, "predicateType", kPredicateType));
  PLIMSOLL_TRY_ASSIGN(const std::string subject, ReadSubject(root));
  PLIMSOLL_TRY_ASSIGN(const json::Value predicate, root.Member("predicate"));
  PLIMSOLL_TRY(predicate.OnlyMembers(
      {"version",         "request_sha256",  "result_sha256",       "provider",
       "isolation",       "environment",     "software_identity",   "software_rule_id",
       "policy",          "started_unix_ms", "ended_unix_ms",       "session",
       "sequence",        "previous_sha256", "record_sha256",       "confinement",
       "calls",           "bundle",          "request_line_sha256", "response_line_sha256",
       "plan_line_sha256"}));
  Statement statement;
  PLIMSOLL_TRY_ASSIGN(statement.record, ReadRecord(predicate));
  const std::string digest = RecordDigest(statement.record);
  PLIMSOLL_TRY(Expect(predicate, "record_sha256", digest));
  if (subject != digest) {
    return root.Complaint("the subject's digest is not that of the record, " + digest);
  }
  PLIMSOLL_TRY_ASSIGN(statement.confinement, Canonical(predicate, "confinement"));
  PLIMSOLL_TRY_ASSIGN(statement.calls, Canonical(predicate, "calls"));
  PLIMSOLL_TRY_ASSIGN(statement.link, ReadLink(predicate));
  return statement;
}

}  // namespace plimsoll::record
