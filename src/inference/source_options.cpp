#include "inference/source_options.h"

#include "base/error.h"
#include "data/sets/image_list.h"
#include "run/session/session_data.h"

namespace trainyard {
namespace {

/// The shape of samples that the pipeline gets: without height and width if some have sizes of
/// their own. Throws Error{data} if the samples are not like those of the run.
Shape common_shape(const SamplesRecord& run, const Dataset& set) {
  const Shape own = set.image_shape();
  const bool sized = own[1] > 0 && run.image[1] > 0;
  if (sized ? own == run.image : own[0] == run.image[0]) return own[1] == 0 ? own : run.image;
  throw data_error("the samples are " + sample_text(set) + ", but the run's are " +
                   run.image.text());
}

}  // namespace

std::string source_name(const RunConfig& run) {
  return run.settled.find("data")->find("train")->find("source")->text;
}

ImageOptions image_options(const RunConfig& run, const SamplesRecord& samples) {
  if (!samples.eight_bit) {
    throw config_error("the run was not trained with images: the samples of source '" +
                       source_name(run) + "' are " +
                       (samples.image == kNoImage
                            ? "sequences"
                            : "numbers " + samples.image.text() + " of any size, not 0 to 255"));
  }
  const std::int64_t channels = samples.image[0];
  if (channels != 1 && channels != 3) {
    throw config_error("the samples of the run have " + std::to_string(channels) +
                       " channels, and images are read with 1 (grey) or 3 (colour); evaluate it on "
                       "a split of its own data");
  }
  ImageOptions options;
  const std::string name = source_name(run);
  if (name == "image_folder") {
    options = source_options<ImageFolderOptions>(run);
  } else if (name == "image_list") {
    options = source_options<ImageListOptions>(run);
  }
  options.channels = channels;
  if (!options.size && samples.image[1] > 0) {
    options.size = config::Pair{.h = samples.image[1], .w = samples.image[2]};
  }
  return options;
}

std::unique_ptr<Pipeline> pipeline_for(const StoredModel& stored, const SamplesRecord& samples,
                                       const Dataset& set) {
  return make_pipeline(stored.config, common_shape(samples, set), stored.statistics);
}

}  // namespace trainyard
