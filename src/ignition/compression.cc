// SPDX-License-Identifier: Apache-2.0
#include "ignition/compression.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace pintle::ignition {
namespace {

constexpr std::size_t kInflateBufferSize = 64 << 10;

Error Broken(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

// Go's words for the errors that its gzip reader knows.
constexpr const char* kWrongHeader = "gzip: invalid header";
constexpr const char* kWrongChecksum = "gzip: invalid checksum";
constexpr const char* kEndsTooEarly = "unexpected EOF";

// Returns the error for a message of zlib.  Errors about a header or a trailer have Go's words.  An error about corrupt
// contents has zlib's words, because Go's message has an offset that zlib does not report.
Error ErrorOfZlib(const char* message) {
  constexpr auto kOfHeader = std::to_array<std::string_view>(
      {"incorrect header check", "unknown compression method", "unknown header flags set", "header crc mismatch"});
  constexpr auto kOfTrailer = std::to_array<std::string_view>({"incorrect data check", "incorrect length check"});
  const std::string_view problem = message != nullptr ? message : "corrupt input";
  if (std::find(kOfHeader.begin(), kOfHeader.end(), problem) != kOfHeader.end()) return Broken(kWrongHeader);
  if (std::find(kOfTrailer.begin(), kOfTrailer.end(), problem) != kOfTrailer.end()) return Broken(kWrongChecksum);
  return Broken(fmt::format("gzip: {}", problem));
}

}  // namespace

Result<> CheckGzipHeader(std::string_view bytes) {
  constexpr std::size_t kFixedSize = 10;
  constexpr std::size_t kHasChecksum = 2;
  constexpr std::size_t kHasExtra = 4;
  constexpr std::size_t kHasName = 8;
  constexpr std::size_t kHasComment = 16;
  const auto byte = [&](std::size_t at) -> std::size_t { return static_cast<unsigned char>(bytes[at]); };
  if (bytes.size() < kFixedSize) return Broken(kEndsTooEarly);
  if (!IsGzip(bytes) || byte(2) != Z_DEFLATED) return Broken(kWrongHeader);
  const std::size_t flags = byte(3);
  std::size_t size = kFixedSize;
  if ((flags & kHasExtra) != 0) {
    if (bytes.size() < size + 2) return Broken(kEndsTooEarly);
    size += 2 + (byte(size) | byte(size + 1) << 8);
  }
  for (const std::size_t text : {kHasName, kHasComment}) {
    if ((flags & text) == 0) continue;
    const std::size_t end = bytes.find('\0', size);
    if (end == std::string_view::npos) return Broken(kEndsTooEarly);
    size = end + 1;
  }
  if ((flags & kHasChecksum) != 0) size += 2;
  if (bytes.size() < size) return Broken(kEndsTooEarly);
  return {};
}

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
      return ErrorOfZlib(stream.msg);
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

Result<> Gunzipper::End() const { return has_begun_ && !inflater_ ? Result<>() : Broken(kEndsTooEarly); }

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
