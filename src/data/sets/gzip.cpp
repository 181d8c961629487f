#include "data/sets/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"

namespace trainyard {

namespace {

constexpr std::size_t kPieceBytes = 256 << 10;
constexpr std::uint64_t kLargestRatio = 1032;

}  // namespace

struct InflatingReader::State {
  explicit State(const fs::path& path)
      : name(path.string()), file(path, ErrorKind::data), piece(kPieceBytes) {
    std::byte magic[2] = {};
    if (file.size() >= 2) file.read(0, magic);
    compressed = magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
    constexpr int kGzipOnly = 16;  // added to the window bits: expect a gzip header
    if (compressed) TY_CHECK(inflateInit2(&stream, MAX_WBITS + kGzipOnly) == Z_OK, "zlib's start");
  }
  ~State() {
    if (compressed) inflateEnd(&stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void fail(const std::string& what) const {
    throw data_error("'" + name + "' " + what + "; get the file again");
  }
  void refill();
  std::size_t inflate_into(std::span<std::byte> out);

  std::string name;
  InputFile file;
  std::uint64_t offset = 0;  // next byte of the file
  bool compressed = false;
  bool ended = false;            // the gzip stream is complete
  std::vector<std::byte> piece;  // compressed bytes
  z_stream stream = {};
};

void InflatingReader::State::refill() {
  const std::size_t count = std::min<std::uint64_t>(kPieceBytes, file.size() - offset);
  if (count == 0) {
    fail("is a truncated gzip file: it ends at byte " + std::to_string(file.size()) +
         ", before the end of its stream");
  }
  file.read(offset, std::span<std::byte>(piece.data(), count));
  offset += count;
  stream.next_in = reinterpret_cast<Bytef*>(piece.data());
  stream.avail_in = static_cast<uInt>(count);
}

std::size_t InflatingReader::State::inflate_into(std::span<std::byte> out) {
  constexpr std::size_t kMostBytesACall = 1u << 30;
  std::size_t done = 0;
  while (done < out.size() && !ended) {
    if (stream.avail_in == 0) refill();
    const std::size_t room = std::min(out.size() - done, kMostBytesACall);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    done += room - stream.avail_out;
    if (status == Z_STREAM_END) {
      ended = true;
    } else if (status != Z_OK) {
      fail(std::string("is a damaged gzip file (") + (stream.msg ? stream.msg : "no progress") +
           ")");
    }
  }
  return done;
}

InflatingReader::InflatingReader(const fs::path& path) : state_(std::make_unique<State>(path)) {}
InflatingReader::~InflatingReader() = default;

std::size_t InflatingReader::read(std::span<std::byte> out) {
  if (state_->compressed) return state_->inflate_into(out);
  const std::size_t count =
      std::min<std::uint64_t>(out.size(), state_->file.size() - state_->offset);
  state_->file.read(state_->offset, out.first(count));
  state_->offset += count;
  return count;
}

std::uint64_t InflatingReader::most_bytes() const {
  return state_->file.size() * (state_->compressed ? kLargestRatio : 1);
}

}  // namespace trainyard
