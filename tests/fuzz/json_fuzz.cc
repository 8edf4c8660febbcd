// Any bytes: Parse answers or refuses; every value has a place, and what is read and written again
// is read and written the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "json/reader.h"
#include "json/writer.h"

namespace {

using plimsoll::json::Kind;

void Copy(const plimsoll::json::Value& value, plimsoll::json::Writer& writer) {
  switch (value.GetKind()) {
    case Kind::kNull:
      writer.Null();
      break;
    case Kind::kBool:
      writer.Bool(*value.Bool());
      break;
    case Kind::kInt:
      writer.Int(*value.Int());
      break;
    case Kind::kUint:
      writer.Uint(*value.Uint());
      break;
    case Kind::kDouble:
      writer.Double(*value.Double());
      break;
    case Kind::kString:
      writer.String(*value.String());
      break;
    case Kind::kArray:
      writer.BeginArray();
      for (const auto& item : *value.Array())
        Copy(item, writer);
      writer.EndArray();
      break;
    case Kind::kObject:
      writer.BeginObject();
      for (const auto& [name, member] : *value.Members())
        Copy(member, writer.Key(name));
      writer.EndObject();
      break;
  }
}

std::string CopyOf(const plimsoll::json::Document& document) {
  plimsoll::json::Writer writer;
  Copy(document.Root(), writer);
  return writer.Take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = plimsoll::json::Parse(text, "fuzz");
  if (!document) return 0;
  (void)document->Root().Member("missing");  // makes an error with a place, or finds it
  const std::string once = CopyOf(*document);
  const auto again = plimsoll::json::Parse(once, "again");
  if (!again || CopyOf(*again) != once) std::abort();
  return 0;
}
