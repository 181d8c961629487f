#include "run/tensorboard_head.h"

#include <utility>

#include "data/images/image_sheet.h"
#include "run/browse.h"

namespace trainyard {
namespace {

EventImage event_image(const Image& sheet) {
  return {.png = png_of_image(sheet), .h = sheet.size().h, .w = sheet.size().w};
}

}  // namespace

TensorboardHead tensorboard_head(Session& session, std::string yaml, std::int64_t epoch) {
  TensorboardHead head{.config = std::move(yaml), .train_samples = {}, .val_samples = {}};
  const SessionData& data = session.data();
  if (!has_images(*data.train)) return head;
  BrowseOptions options{.epoch = static_cast<std::uint32_t>(epoch)};
  head.train_samples = event_image(browse(session.config(), options, data).sheet);
  options.val = true;
  head.val_samples = event_image(browse(session.config(), options, data).sheet);
  return head;
}

}  // namespace trainyard
