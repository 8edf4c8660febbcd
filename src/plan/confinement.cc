// What a plan's steps make of the sandbox, for the signed record: read from the bytes that init
// gets.

#include <map>

#include "base/text.h"
#include "json/writer.h"
#include "plan/flag_names.h"
#include "plan/plan_reader.h"

namespace plimsoll::plan {
namespace {

using init::StepKind;

std::string WithoutNewline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> FlagTexts(std::string_view list) {
  std::vector<std::string> texts;
  if (list.empty()) return texts;
  for (const std::string_view name : Split(list, ' '))
    texts.emplace_back(name);
  return texts;
}

struct Mount {
  std::string_view type;
  std::uint64_t attributes = 0;
};

// By target. A later step on the same target adds to what an earlier one has mounted there.
std::map<std::string, Mount> Mounts(const std::vector<StepView>& steps) {
  std::map<std::string, Mount> mounts;
  for (const StepView& step : steps) {
    if (step.kind == StepKind::kRoot) {
      mounts["/"] = {"image", step.number[0]};
    } else if (step.kind == StepKind::kOverlayRoot) {
      mounts["/"] = {"overlay", step.number[0]};
    } else if (step.kind == StepKind::kMountFilesystem) {
      mounts["/" + std::string(step.text[0])] = {step.text[1], step.number[0]};
    } else if (step.kind == StepKind::kBind) {
      const bool is_ours =
          step.number[1] == init::kFromScratch || step.number[1] == init::kFromRoot;
      Mount& mount = mounts["/" + std::string(step.text[0])];
      if (mount.type.empty()) mount.type = is_ours ? "run" : "host";
      mount.attributes |= step.number[0];
    }
  }
  return mounts;
}

void WriteLandlock(const std::vector<StepView>& steps, json::Writer& writer) {
  writer.Key("landlock");
  for (const StepView& step : steps) {
    if (step.kind != StepKind::kLandlockRuleset) continue;
    writer.BeginObject();
    writer.Member("files", Number(step.number[0], 16));
    writer.Member("network", Number(step.number[1], 16));
    writer.Member("scopes", Number(step.number[2], 16));
    writer.EndObject();
    return;
  }
  writer.Null();
}

}  // namespace

void WriteConfinement(const std::string& bytes, json::Writer& writer) {
  const std::vector<StepView> steps = ReadSteps(bytes);
  bool has_no_new_privileges = false;
  for (const StepView& step : steps) {
    if (step.kind == StepKind::kNamespaces) {
      writer.Key("namespaces").Strings(FlagTexts(FlagList(step.number[0], kNamespaceNames)));
    } else if (step.kind == StepKind::kIdMap) {
      writer.Key("id_maps").BeginObject();
      writer.Member("uid", WithoutNewline(step.text[0]));
      writer.Member("gid", WithoutNewline(step.text[1])).EndObject();
    } else if (step.kind == StepKind::kDropCapabilities) {
      writer.Key("capabilities").BeginArray().EndArray();
    }
    has_no_new_privileges = has_no_new_privileges || step.kind == StepKind::kNoNewPrivileges;
  }
  writer.Member("no_new_privileges", has_no_new_privileges);
  WriteLandlock(steps, writer);
  writer.Key("mounts").BeginArray();
  for (const auto& [target, mount] : Mounts(steps)) {
    writer.BeginObject().Member("target", target).Member("type", mount.type);
    writer.Key("flags").Strings(FlagTexts(FlagList(mount.attributes, kAttributeNames)));
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace plimsoll::plan
