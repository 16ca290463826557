// SPDX-License-Identifier: Apache-2.0
#include "ignition/compression.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace pintle::ignition {
namespace {

Error Broken(std::string what) { return Error(ErrorKind::kInvalid, std::move(what)); }

// A stream of zlib's, ended with its owner.
class Inflater {
 public:
  Inflater() { ready_ = ::inflateInit2(&stream_, kGzipOnly) == Z_OK; }
  ~Inflater() {
    if (ready_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  static constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream_ = {};
  bool ready_ = false;
};

// Unpacks one member behind what is in `unpacked`, and takes it off the front of `packed`.
Result<> UnpackMember(std::string_view& packed, std::string& unpacked, std::size_t limit) {
  constexpr std::size_t kPiece = 64 << 10;
  Inflater inflater;
  if (!inflater.ready()) return Error(ErrorKind::kSystem, "zlib cannot start");
  z_stream& stream = inflater.stream();
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::size_t count = std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max());
      if (count == 0) return Broken("unexpected EOF");
      // zlib does not write to its input; the missing const is its history.
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
      stream.avail_in = static_cast<uInt>(count);
      packed.remove_prefix(count);
    }
    const std::size_t before = unpacked.size();
    const std::size_t room = std::min(std::max(kPiece, before), limit - before + 1);
    unpacked.resize(before + room);
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data() + before);
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    unpacked.resize(before + room - stream.avail_out);
    if (unpacked.size() > limit) return Broken(fmt::format("unpacks to more than {} bytes", limit));
    if (status == Z_BUF_ERROR && stream.avail_in == 0 && packed.empty()) return Broken("unexpected EOF");
    if (status != Z_OK && status != Z_STREAM_END) {
      return Broken(fmt::format("gzip: {}", stream.msg != nullptr ? stream.msg : "corrupt input"));
    }
  }
  packed = {packed.data() - stream.avail_in, packed.size() + stream.avail_in};
  return {};
}

}  // namespace

Result<std::string> Gunzip(std::string_view bytes, std::size_t limit) {
  std::string unpacked;
  do {
    TRY(UnpackMember(bytes, unpacked, limit));
  } while (!bytes.empty());
  return unpacked;
}

}  // namespace pintle::ignition
