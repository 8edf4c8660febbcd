#include "oci/image_config.h"

#include <utility>

#include "base/text.h"
#include "oci/manifest.h"

namespace plimsoll::oci {
namespace {

// What reaches execve(2) as a C string must not end early.
Result<std::string> Text(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  if (text.find('\0') != std::string_view::npos) return value.Complaint("has a NUL character");
  return std::string(text);
}

Result<std::string> OptionalText(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const auto value, object.Find(name));
  if (!value) return std::string();
  return Text(*value);
}

Result<std::vector<std::string>> OptionalTexts(const json::Value& object, std::string_view name) {
  std::vector<std::string> texts;
  PLIMSOLL_TRY_ASSIGN(const auto value, object.Find(name));
  if (!value) return texts;
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, value->Array());
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(std::string text, Text(item));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<std::pair<std::string, std::string>>> ReadEnv(const json::Value& object) {
  std::vector<std::pair<std::string, std::string>> env;
  PLIMSOLL_TRY_ASSIGN(const auto value, object.Find("Env"));
  if (!value) return env;
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, value->Array());
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(const std::string text, Text(item));
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return item.Complaint(Quote(text, 64) + " is not NAME=VALUE");
    }
    env.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

Result<std::vector<Digest>> ReadDiffIds(const json::Value& root) {
  PLIMSOLL_TRY_ASSIGN(const json::Value rootfs, root.Member("rootfs"));
  PLIMSOLL_TRY_ASSIGN(const json::Value array, rootfs.Member("diff_ids"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, array.Array());
  if (items.size() > kMaxLayers) return array.Complaint("has too many layers");
  std::vector<Digest> diff_ids;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(const Digest digest, ReadDigest(item));
    diff_ids.push_back(digest);
  }
  return diff_ids;
}

}  // namespace

Result<ImageConfig> ReadImageConfig(const json::Value& root) {
  ImageConfig config;
  PLIMSOLL_TRY_ASSIGN(config.platform.os, OptionalText(root, "os"));
  PLIMSOLL_TRY_ASSIGN(config.platform.architecture, OptionalText(root, "architecture"));
  PLIMSOLL_TRY_ASSIGN(config.platform.variant, OptionalText(root, "variant"));
  PLIMSOLL_TRY_ASSIGN(config.diff_ids, ReadDiffIds(root));
  PLIMSOLL_TRY_ASSIGN(const auto inner, root.Find("config"));
  if (!inner) return config;
  PLIMSOLL_TRY_ASSIGN(config.entrypoint, OptionalTexts(*inner, "Entrypoint"));
  PLIMSOLL_TRY_ASSIGN(config.cmd, OptionalTexts(*inner, "Cmd"));
  PLIMSOLL_TRY_ASSIGN(config.env, ReadEnv(*inner));
  PLIMSOLL_TRY_ASSIGN(config.user, OptionalText(*inner, "User"));
  PLIMSOLL_TRY_ASSIGN(config.working_dir, OptionalText(*inner, "WorkingDir"));
  return config;
}

Result<ImageConfig> ParseImageConfig(std::string text, std::string name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document, json::Parse(std::move(text), std::move(name)));
  return ReadImageConfig(document.Root());
}

void WriteImageConfig(json::Writer& writer, const ImageConfig& config) {
  writer.BeginObject();
  writer.Member("os", config.platform.os).Member("architecture", config.platform.architecture);
  if (!config.platform.variant.empty()) writer.Member("variant", config.platform.variant);
  writer.Key("config").BeginObject();
  writer.Key("Entrypoint").Strings(config.entrypoint).Key("Cmd").Strings(config.cmd);
  writer.Key("Env").BeginArray();
  for (const auto& [name, value] : config.env)
    writer.String(name + "=" + value);
  writer.EndArray();
  writer.Member("User", config.user).Member("WorkingDir", config.working_dir).EndObject();
  writer.Key("rootfs").BeginObject().Member("type", "layers").Key("diff_ids").BeginArray();
  for (const Digest& diff_id : config.diff_ids)
    writer.String(diff_id.ToString());
  writer.EndArray().EndObject().EndObject();
}

}  // namespace plimsoll::oci
