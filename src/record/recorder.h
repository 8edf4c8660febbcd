// Records runs: everything that can go wrong is looked at before the run, and the key is opened
// only when the guest has ended.
#pragma once

#include <string>

#include "base/error.h"
#include "record/bundle.h"
#include "record/draft.h"

namespace plimsoll::record {

struct Places {
  std::string bundle;        // the file that lines are appended to
  std::string key;           // the private key
  bool make_key = false;     // a key that is not there is made: the user's own, on first use
  bool sync = false;         // each line is on the disk before its run is reported
  std::string digest_cache;  // a directory, for OwnDigest
};

struct Recorded {
  Appended line;
  std::string key_id;
  bool made_key = false;
};

class Recorder {
 public:
  // Before the run: opens the bundle, and looks whether the key can be used or made, without
  // reading it. Errors: kRequest for a key that is not there, kPermission for one that others can
  // read, kHost.
  static Result<Recorder> Prepare(Places places, std::string version, std::string kernel_release);

  const Places& Where() const { return places_; }
  const Runner& Who() const { return runner_; }

  // After the run. Errors: those of Bundle::Append and ReadPrivateKey.
  Result<Recorded> Record(const Draft& draft);

 private:
  Recorder(Places places, Bundle bundle, Runner runner)
      : places_(std::move(places)), bundle_(std::move(bundle)), runner_(std::move(runner)) {}

  Places places_;
  Bundle bundle_;
  Runner runner_;
};

// A draft as bytes, for a process that has the key to read from one that has not. Errors:
// kProtocol.
std::string EncodeDraft(const Draft& draft);
Result<Draft> DecodeDraft(std::string_view bytes);

}  // namespace plimsoll::record
