// Keys as files: the user's own pair, and others' public keys.
#pragma once

#include <string>

#include "base/error.h"
#include "crypto/ed25519.h"

namespace plimsoll::record {

// The public key's file beside a private one: "NAME.key" has "NAME.pub", any other name gets
// ".pub".
std::string PublicPath(const std::string& private_path);

// Errors: kPermission when others may read the file; kRequest when it holds no Ed25519 key in PEM
// (PKCS#8); kHost, with ENOENT when there is none.
Result<crypto::SigningKey> ReadPrivateKey(const std::string& path);

// Errors: kRequest when the file holds no Ed25519 key in PEM; kHost.
Result<crypto::PublicKey> ReadPublicKey(const std::string& path);

// Makes a pair: the private key with mode 0600, complete or not there (link(2)), then the public
// one. False when `path` is there already, which then stays as it is: of two that make the same
// file at once, one wins. Missing directories are made with mode 0700. Errors: kHost.
Result<bool> MakeKeyPair(const std::string& path);

}  // namespace plimsoll::record
