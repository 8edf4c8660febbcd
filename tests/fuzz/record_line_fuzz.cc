// Lines of bundles: whatever they hold, they are refused or read, and one that is read by itself is
// what we would write.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "crypto/ed25519.h"
#include "json/reader.h"
#include "json/writer.h"
#include "record/dsse.h"
#include "record/line.h"
#include "record/statement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  static const crypto::SigningKey key(std::array<unsigned char, crypto::kKeyBytes>{});
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)record::CheckLine(text, key.Public());
  (void)record::PlaceOf(text);
  if (const auto statement = record::ReadStatement(text)) {
    const auto again = record::ReadStatement(record::WriteStatement(*statement));
    if (!again || again->record != statement->record || again->link != statement->link) {
      std::abort();
    }
  }
  if (const auto document = json::Parse(text, "envelope")) {
    if (const auto envelope = record::ReadEnvelope(document->Root())) {
      json::Writer writer;
      record::WriteEnvelope(*envelope, writer);
      const auto written = json::Parse(writer.Take(), "written");
      if (!written) std::abort();
      const auto again = record::ReadEnvelope(written->Root());
      if (!again || again->payload != envelope->payload) std::abort();
    }
  }
  return 0;
}
