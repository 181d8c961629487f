// A data set of image files, decoded when they are read.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/images/image.h"
#include "data/images/image_decode.h"
#include "data/sets/file_walk.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/source.h"

namespace trainyard {

/// How an image of other proportions becomes one of a given size.
enum class Fit {
  stretch,  // all of it, whatever its proportions
  cover,    // its largest centred part of the right proportions
};
[[nodiscard]] constexpr config::Words<Fit> words(Fit) { return {"stretch", "cover"}; }

/// What is done with files that cannot be samples.
enum class OnError {
  error,
  skip,  // they are left out, which all images are decoded once for
};
[[nodiscard]] constexpr config::Words<OnError> words(OnError) { return {"error", "skip"}; }

/// Keys of every source of images.
struct ImageOptions : SourceOptions {
  std::int64_t channels = 3;         // 1 (grey) or 3
  std::optional<config::Pair> size;  // every image is resized to it
  Fit fit = Fit::stretch;
  ResizeFilter filter = ResizeFilter::bilinear;
  std::int64_t max_pixels = kDefaultMaxPixels;  // most that an image may claim
  Links links = Links::follow;
  OnError on_error = OnError::error;
  std::int64_t memory_mib = 1024;  // sets up to this size are decoded once and held as bytes
};
void declare_images(config::Fields& fields, ImageOptions& options);

/// A labelled file; its name is relative to the set's folder.
struct ImageFile {
  std::string name;
  std::int32_t label = 0;
  std::string fault = {};  // why it cannot be a sample, a message; "": nothing is known against it
  std::int64_t row = 0;    // row in its list
};

/// The files of a set and its classes.
struct ImageFiles {
  fs::path folder;
  std::vector<ImageFile> files;  // at least one
  std::int64_t classes = 0;
  std::vector<std::string> class_names;
  /// The fields after the label of the files that are samples; null: there are none.
  std::function<std::vector<MemoryField>(std::span<const ImageFile>)> fields_of = nullptr;
};

/// Images [channels, h, w] of `size`, or of the images' own size or sizes. `limit` takes every
/// k-th file, so that every class remains. All headers are checked on opening, and all pixels if
/// bad files are to be left out or `opening.check_all` is set (see indexed_images()): what is
/// left out depends on the files alone, not on ranks or on when they are read. Files that are left
/// out are a warning with their number; the pixels of images of one size are decoded on opening
/// for sets up to `memory_mib`, else each time a sample is read, for which a thread needs the
/// memory of the largest image. The fingerprint is of the files' names, labels, lengths and
/// image sizes. Throws Error{data}, with all such files: a claim beyond max_pixels, damaged
/// files; and if a class has no sample left.
[[nodiscard]] DatasetPtr open_images(ImageFiles files, const ImageOptions& options,
                                     const Opening& opening);

/// True for the name of an image file; false for one of another kind (README.txt). Throws
/// Error{data} for an image of a format that is not read: leaving it out would change the data set
/// silently.
[[nodiscard]] bool is_image_name(const fs::path& path);
/// The extensions of such names, for messages.
inline constexpr const char* kImageNames = ".jpg, .png, .webp, .gif, .bmp";

}  // namespace trainyard
