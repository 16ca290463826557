// SPDX-License-Identifier: Apache-2.0
#include "ignition/compression.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace pintle::ignition {
namespace {

constexpr std::size_t kInflateBufferSize = 64 << 10;

Error Broken(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

}  // namespace

// Owns a zlib stream.
class Gunzipper::Inflater {
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
  static constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib defines that 16 selects gzip's header and trailer.
  z_stream stream_ = {};
  bool ready_ = false;
};

Gunzipper::Gunzipper(TakePiece take, std::size_t limit)
    : take_(std::move(take)), limit_(limit), buffer_(std::make_unique_for_overwrite<char[]>(kInflateBufferSize)) {}

Gunzipper::~Gunzipper() = default;

Result<bool> Gunzipper::Take(std::string_view packed) {
  while (!packed.empty()) {
    has_begun_ = true;
    if (!inflater_) inflater_ = std::make_unique<Inflater>();
    if (!inflater_->ready()) return Error(ErrorKind::kSystem, "zlib cannot start");
    z_stream& stream = inflater_->stream();
    const std::size_t count = std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max());
    // zlib does not write to its input; the missing const is historical.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream.avail_in = static_cast<uInt>(count);
    int status = Z_OK;
    // If the buffer is full, zlib may hold more output.
    for (bool is_full = true; status == Z_OK && (stream.avail_in > 0 || is_full);) {
      stream.next_out = reinterpret_cast<Bytef*>(buffer_.get());
      stream.avail_out = kInflateBufferSize;
      status = ::inflate(&stream, Z_NO_FLUSH);
      is_full = stream.avail_out == 0;
      if (!TRY(PassOn({buffer_.get(), kInflateBufferSize - stream.avail_out}))) return false;
    }
    if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END) {
      return Broken(fmt::format("gzip: {}", stream.msg != nullptr ? stream.msg : "corrupt input"));
    }
    packed.remove_prefix(count - stream.avail_in);
    if (status == Z_STREAM_END) inflater_.reset();
  }
  return true;
}

Result<bool> Gunzipper::PassOn(std::string_view unpacked) {
  if (unpacked.size() > limit_ - unpacked_) return Broken(fmt::format("unpacks to more than {} bytes", limit_));
  unpacked_ += unpacked.size();
  return unpacked.empty() ? Result<bool>(true) : take_(unpacked);
}

Result<> Gunzipper::End() const { return has_begun_ && !inflater_ ? Result<>() : Broken("unexpected EOF"); }

Result<std::string> Gunzip(std::string_view bytes, std::size_t limit) {
  std::string unpacked;
  Gunzipper gunzipper(
      [&](std::string_view piece) {
        unpacked += piece;
        return true;
      },
      limit);
  TRY(gunzipper.Take(bytes));
  TRY(gunzipper.End());
  return unpacked;
}

}  // namespace pintle::ignition
