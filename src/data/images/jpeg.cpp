#include "data/images/jpeg.h"

#include <jerror.h>
#include <jpeglib.h>  // and jerror.h needs this

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it first
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/images/image_decode.h"

namespace trainyard {

namespace {

/// A progressive image is decoded once per scan, so a small file with thousands of scans would
/// take minutes. Encoders write about ten.
constexpr int kMostScans = 100;

/// libjpeg's errors, as a text and a jump to where the call was made.
struct Errors {
  jpeg_error_mgr base;  // first: libjpeg passes a pointer to it
  std::jmp_buf escape;
  char text[JMSG_LENGTH_MAX];

  static Errors& of(j_common_ptr info) { return *reinterpret_cast<Errors*>(info->err); }
  [[noreturn]] static void leave(j_common_ptr info) {
    info->err->format_message(info, of(info).text);
    std::longjmp(of(info).escape, 1);
  }
  /// Warnings (level -1) are damage, except those that leave the pixels whole.
  static void warn(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = info->err->msg_code;
    if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR) return;
    leave(info);
  }
};

void limit_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  std::snprintf(Errors::of(info).text, JMSG_LENGTH_MAX, "more than %d scans", kMostScans);
  std::longjmp(Errors::of(info).escape, 1);
}

/// One decompression. libjpeg leaves a failed call by a jump, so what a guarded function has on its
/// stack must need no destructor.
class Decompression {
 public:
  explicit Decompression(const EncodedImage& encoded) : encoded_(encoded) {
    info().err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = Errors::leave;
    errors_.base.emit_message = Errors::warn;
    progress_.progress_monitor = limit_scans;
    guarded([this] {
      jpeg_create_decompress(&info());
      info().progress = &progress_;
      jpeg_mem_src(&info(), reinterpret_cast<const unsigned char*>(encoded_.bytes.data()),
                   encoded_.bytes.size());
      jpeg_save_markers(&info(), JPEG_APP0 + 1, 0xffff);
      jpeg_read_header(&info(), TRUE);
    });
  }
  Decompression(const Decompression&) = delete;
  Decompression& operator=(const Decompression&) = delete;

  template <class Work>
  void guarded(const Work& work) {
    if (setjmp(errors_.escape) == 0) return work();
    bad_file(encoded_.name, "cannot be decoded (" + std::string(errors_.text) +
                                "); it is truncated or damaged, or a kind of JPEG that is not "
                                "supported");
  }
  jpeg_decompress_struct& info() { return owner_.info; }

 private:
  /// Its destructor also runs if the constructor of Decompression throws.
  struct Owner {
    Owner() = default;
    ~Owner() { jpeg_destroy_decompress(&info); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    jpeg_decompress_struct info{};
  };

  const EncodedImage& encoded_;
  Errors errors_{};
  jpeg_progress_mgr progress_{};
  Owner owner_;
};

JpegHeader header_of(const EncodedImage& encoded, const jpeg_decompress_struct& info) {
  JpegHeader header{{info.image_height, info.image_width}, {}};
  check_claim(encoded, header.stored);
  for (const auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const std::span<const JOCTET> bytes(marker->data, marker->data_length);
    const Orientation found = exif_orientation(std::as_bytes(bytes));
    if (found.value != 1) header.orientation = found;
  }
  return header;
}

/// a * b / 255, rounded.
int product(int a, int b) {
  const int scaled = a * b + 128;
  return (scaled + (scaled >> 8)) >> 8;
}

/// A row of inverted cyan, magenta, yellow, black as `channels` of red, green, blue or grey (ITU-R
/// BT.601).
void convert_cmyk(const std::uint8_t* cmyk, std::int64_t pixels, int channels, std::uint8_t* out) {
  for (std::int64_t i = 0; i < pixels; ++i, cmyk += 4, out += channels) {
    const int black = cmyk[3];
    int rgb[3];
    for (int c = 0; c < 3; ++c) rgb[c] = std::max(black - product(255 - cmyk[c], black), 0);
    if (channels == 1) {
      out[0] = static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    } else {
      for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(rgb[c]);
    }
  }
}

/// Reads the rows of a part of an image.
class PartReader {
 public:
  PartReader(Decompression& file, int channels, const ImagePart& part)
      : file_(file), part_(part), image_(part.size, channels) {
    jpeg_decompress_struct& info = file.info();
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(part.reduction);
    cmyk_ = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    if (cmyk_) info.out_color_space = JCS_CMYK;
  }

  Image read() {
    jpeg_decompress_struct& info = file_.info();
    file_.guarded([&info] { jpeg_start_decompress(&info); });
    TY_CHECK(part_.top + part_.size.h <= info.output_height &&
                 part_.left + part_.size.w <= info.output_width,
             "a part outside its image");
    skip();
    const int stored = cmyk_ ? 4 : image_.channels();
    TY_CHECK(info.output_components == stored, "libjpeg gives rows of another form");
    row_.resize(info.output_width * static_cast<std::size_t>(stored));
    const std::uint8_t* const from = row_.data() + (part_.left - first_column_) * stored;
    for (std::int64_t y = 0; y < part_.size.h; ++y) {
      JSAMPROW row = row_.data();
      file_.guarded([&info, &row] { jpeg_read_scanlines(&info, &row, 1); });
      store(from, image_.row(y));
    }
    return std::move(image_);
  }

 private:
  /// Skips what lies before the part. Columns can only be skipped in blocks, and the first and last
  /// columns that remain lack the neighbours that chroma is interpolated from: so two blocks more
  /// are read on each side.
  void skip() {
    jpeg_decompress_struct& info = file_.info();
    const auto block = static_cast<std::int64_t>(info.max_h_samp_factor) * DCTSIZE;
    const std::int64_t first = std::max<std::int64_t>(part_.left - 2 * block, 0);
    const std::int64_t end =
        std::min<std::int64_t>(part_.left + part_.size.w + 2 * block, info.output_width);
    auto column = static_cast<JDIMENSION>(first), width = static_cast<JDIMENSION>(end - first);
    const auto rows = static_cast<JDIMENSION>(part_.top);
    file_.guarded([&] {
      if (width < info.output_width) jpeg_crop_scanline(&info, &column, &width);
      if (rows > 0) jpeg_skip_scanlines(&info, rows);
    });
    first_column_ = column;
  }

  void store(const std::uint8_t* from, std::uint8_t* to) const {
    if (cmyk_) return convert_cmyk(from, part_.size.w, image_.channels(), to);
    std::copy_n(from, part_.size.w * image_.channels(), to);
  }

  Decompression& file_;
  ImagePart part_;
  Image image_;
  bool cmyk_ = false;
  std::int64_t first_column_ = 0;
  std::vector<std::uint8_t> row_;
};

}  // namespace

JpegHeader jpeg_header(const EncodedImage& encoded) {
  Decompression file(encoded);
  return header_of(encoded, file.info());
}

Image decode_jpeg(const EncodedImage& encoded, int channels, const ImagePart& part) {
  Decompression file(encoded);
  static_cast<void>(header_of(encoded, file.info()));
  return PartReader(file, channels, part).read();
}

}  // namespace trainyard
