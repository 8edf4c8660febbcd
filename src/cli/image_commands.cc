#include "cli/image_commands.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "cli/flags.h"
#include "cli/image_text.h"
#include "cli/paths.h"
#include "cli/progress_bar.h"
#include "cli/report.h"
#include "cli/subcommands.h"
#include "image/find.h"
#include "image/import.h"
#include "image/record.h"
#include "image/remove.h"
#include "image/store.h"
#include "image/tree.h"
#include "image/verify.h"
#include "oci/reference.h"

namespace plimsoll::cli {
namespace {

constexpr int kDiffers = 1;
constexpr std::string_view kUsage =
    "Usage: plimsoll image COMMAND [FLAGS] ...\n"
    "\n"
    "The local image store.\n"
    "\n"
    "  import SRC [--name NAME[:TAG]]   bring in an OCI layout, an OCI archive or a docker "
    "archive\n"
    "  ls                               list the images\n"
    "  inspect NAME                     show what the store knows of one\n"
    "  rm NAME...                       remove images, and what only they needed\n"
    "  verify [NAME]                    hash blobs again, compare unpacked files; 1 if any "
    "differs\n"
    "\n"
    "'plimsoll image COMMAND -h' lists the flags.\n";

// What every subcommand can be told.
struct Common {
  std::string store;
  bool json = false;
  bool quiet = false;
};

class ImageFlags {
 public:
  ImageFlags(std::string description, const std::string& name, std::string usage)
      : flags_(std::move(description), "plimsoll image " + name, std::move(usage)) {
    flags_.Value("--store", common_.store,
                 "where images are kept; default $XDG_DATA_HOME/plimsoll");
    flags_.Switch("--json", common_.json, "one JSON document");
    flags_.Switch("-q,--quiet", common_.quiet, "errors only");
  }

  cli::Flags& Flags() { return flags_; }
  const Common& Given() const { return common_; }

  // Here flags may follow operands, since no operand is somebody else's command line.
  Result<cli::Flags::Parsed> Parse(const Words& words) {
    return flags_.Parse(words, FlagsEnd::kAtDashes);
  }

  Result<image::Store> OpenStore() const {
    PLIMSOLL_TRY_ASSIGN(const std::string path, StorePath(common_.store));
    return image::Store::Open(path);
  }

 private:
  Common common_;
  cli::Flags flags_;
};

Result<std::string> OneOperand(const Flags& flags, const Words& operands, std::string_view what) {
  if (operands.size() == 1) return operands[0];
  return flags.UsageError("expected one " + std::string(what) + ", got " +
                          std::to_string(operands.size()));
}

// oci:, oci-archive: and docker-archive: as in exec, else a plain path told apart by what is there.
Result<image::ImportRequest> ImportRequestFor(const std::string& source, const std::string& name) {
  image::ImportRequest request = {
      .source = source, .path = source, .selection = {}, .name = {}, .unnamed = false};
  const bool prefixed = source.starts_with("oci:") || source.starts_with("oci-archive:") ||
                        source.starts_with("docker-archive:");
  if (prefixed) {
    PLIMSOLL_TRY_ASSIGN(const oci::ImageReference parsed, oci::ParseReference(source));
    request.path = parsed.path;
    request.selection = {.tag = parsed.tag, .digest = parsed.digest};
  }
  if (!name.empty()) {
    PLIMSOLL_TRY_ASSIGN(request.name, oci::ParseStoreName(name));
    if (request.name->digest) {
      return Error{.kind = ErrorKind::kRequest,
                   .what = "--name " + Quote(name) + ": expected NAME[:TAG], without a digest"};
    }
  }
  return request;
}

Result<Answer> Import(const Words& words) {
  ImageFlags command("Brings images into the store.", "import", "SRC [--name NAME[:TAG]] [FLAGS]");
  std::string name;
  std::string max_size;
  command.Flags().Value("--name", name, "the name to give; default: the one in the source");
  command.Flags().Value("--max-size", max_size, "refuse a layer that unpacks to more; default 32G");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Parse(words));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  PLIMSOLL_TRY_ASSIGN(const std::string source,
                      OneOperand(command.Flags(), parsed.operands, "source"));
  PLIMSOLL_TRY_ASSIGN(const image::ImportRequest request, ImportRequestFor(source, name));
  image::ImportOptions options;
  if (!max_size.empty()) {
    PLIMSOLL_TRY_ASSIGN(options.limits.layer_bytes, ParseBytes(max_size));
  }
  ProgressBar bar(command.Given().quiet);
  options.progress = bar.Callback();
  PLIMSOLL_TRY_ASSIGN(const image::Store store, command.OpenStore());
  auto imported = image::ImportImages(store, request, options);
  if (!imported) return std::move(imported).error().In("image " + Quote(source));
  for (const std::string& note : imported->notes) {
    if (!command.Given().quiet) PrintNote(note);
  }
  if (command.Given().json) return Answer{.text = ImagesJson(imported->records)};
  return Answer{.text = command.Given().quiet ? "" : ImagesTable(imported->records)};
}

// Tags, and pins that stand behind no tag of the same name; one without a name behind none at all.
std::vector<image::ImageRecord> Listed(std::vector<image::ImageRecord> records) {
  const auto repository = [](const std::string& name) { return name.substr(0, name.find('@')); };
  std::vector<image::ImageRecord> listed;
  for (const image::ImageRecord& record : records) {
    const bool shown_elsewhere =
        std::any_of(records.begin(), records.end(), [&](const image::ImageRecord& other) {
          if (record.IsNameless() && !other.IsNameless()) return other.manifest == record.manifest;
          const bool same_name =
              !other.IsPin()
                  ? other.name.substr(0, other.name.rfind(':')) == repository(record.name)
                  : other.name == repository(record.name) + "@" + record.manifest.ToString() &&
                        other.name != record.name;
          return same_name && other.manifest == record.manifest;
        });
    if (!record.IsPin() || !shown_elsewhere) listed.push_back(record);
  }
  return listed;
}

Result<Answer> List(const Words& words) {
  ImageFlags command("Lists the images of the store.", "ls", "[FLAGS]");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Parse(words));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  if (!parsed.operands.empty()) return command.Flags().UsageError("ls takes no name");
  PLIMSOLL_TRY_ASSIGN(const image::Store store, command.OpenStore());
  PLIMSOLL_TRY_ASSIGN(std::vector<image::ImageRecord> records, image::ListRecords(store));
  records = Listed(std::move(records));
  return Answer{.text = command.Given().json ? ImagesJson(records) : ImagesTable(records)};
}

Result<Answer> Inspect(const Words& words) {
  ImageFlags command("Shows what the store knows of an image.", "inspect", "NAME [FLAGS]");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Parse(words));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  PLIMSOLL_TRY_ASSIGN(const std::string name, OneOperand(command.Flags(), parsed.operands, "name"));
  PLIMSOLL_TRY_ASSIGN(const oci::ImageReference reference, oci::ParseStoreName(name));
  PLIMSOLL_TRY_ASSIGN(const image::Store store, command.OpenStore());
  PLIMSOLL_TRY_ASSIGN(const image::ImageRecord record,
                      image::FindImage(store.Path(), reference, {}));
  std::vector<image::LayerFacts> facts;
  for (const image::RecordedLayer& layer : record.layers) {
    const auto opened = image::OpenLayer(store, layer.diff_id);  // absent until it is needed again
    facts.push_back(opened ? opened->facts : image::LayerFacts{});
  }
  return Answer{.text = command.Given().json ? ImageJson(record, facts) : ImageText(record, facts)};
}

Result<Answer> Remove(const Words& words) {
  ImageFlags command("Removes images, and what only they needed.", "rm", "NAME... [FLAGS]");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Parse(words));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  if (parsed.operands.empty()) return command.Flags().UsageError("expected a name");
  PLIMSOLL_TRY_ASSIGN(const image::Store store, command.OpenStore());
  image::Removed all;
  for (const std::string& name : parsed.operands) {
    PLIMSOLL_TRY_ASSIGN(const oci::ImageReference reference, oci::ParseStoreName(name));
    PLIMSOLL_TRY_ASSIGN(const image::Removed removed, image::RemoveImage(store, reference));
    all.names.insert(all.names.end(), removed.names.begin(), removed.names.end());
    all.freed += removed.freed;
  }
  if (command.Given().json) return Answer{.text = RemovedJson(all)};
  return Answer{.text = command.Given().quiet ? "" : RemovedText(all)};
}

Result<Answer> Verify(const Words& words) {
  ImageFlags command("Checks that images are what was imported.", "verify", "[NAME] [FLAGS]");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Parse(words));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  std::optional<oci::ImageReference> reference;
  if (!parsed.operands.empty()) {
    PLIMSOLL_TRY_ASSIGN(const std::string name,
                        OneOperand(command.Flags(), parsed.operands, "name"));
    PLIMSOLL_TRY_ASSIGN(reference, oci::ParseStoreName(name));
  }
  PLIMSOLL_TRY_ASSIGN(const image::Store store, command.OpenStore());
  ProgressBar bar(command.Given().quiet);
  PLIMSOLL_TRY_ASSIGN(
      const image::Verification verification,
      image::VerifyImages(store, reference, {.limits = {}, .progress = bar.Callback()}));
  const std::string text =
      command.Given().json ? VerificationJson(verification) : VerificationText(verification);
  return Answer{.text = text, .status = verification.problems.empty() ? 0 : kDiffers};
}

constexpr std::array<Subcommand, 5> kSubcommands = {{{.name = "import", .run = &Import},
                                                     {.name = "ls", .run = &List},
                                                     {.name = "inspect", .run = &Inspect},
                                                     {.name = "rm", .run = &Remove},
                                                     {.name = "verify", .run = &Verify}}};

}  // namespace

int RunImageCommand(const Words& words) {
  return RunSubcommand({.name = "image", .usage = kUsage, .subcommands = kSubcommands}, words);
}

}  // namespace plimsoll::cli
