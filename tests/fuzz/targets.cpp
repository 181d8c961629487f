#include "targets.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace trainyard::fuzz {

// Each in the file of its name; the two targets of a dataset share one.
void read_cifar10(std::string_view input);
void read_cifar100(std::string_view input);
void read_expression(std::string_view input);
void read_idx_images(std::string_view input);
void read_idx_labels(std::string_view input);
void read_image(std::string_view input);
void read_jpeg(std::string_view input);
void read_json(std::string_view input);
void read_list(std::string_view input);
void read_manifest(std::string_view input);
void read_network(std::string_view input);
void read_numpy(std::string_view input);
void read_pack_file(std::string_view input);
void read_image_index(std::string_view input);
void read_png(std::string_view input);
void read_rank_messages(std::string_view input);
void read_run_file(std::string_view input);
void read_safetensors(std::string_view input);
void read_table_rows(std::string_view input);
void read_tensors(std::string_view input);
void read_text(std::string_view input);
void read_text_columns(std::string_view input);
void read_text_rows(std::string_view input);
void read_vocabulary(std::string_view input);
void read_word_index(std::string_view input);
void read_yaml(std::string_view input);
void read_zip(std::string_view input);

std::span<const Target> targets() {
  static constexpr std::array kTargets{Target{"cifar10", read_cifar10},
                                       Target{"cifar100", read_cifar100},
                                       Target{"expression", read_expression},
                                       Target{"idx_images", read_idx_images},
                                       Target{"idx_labels", read_idx_labels},
                                       Target{"image", read_image},
                                       Target{"jpeg", read_jpeg},
                                       Target{"json", read_json},
                                       Target{"list", read_list},
                                       Target{"manifest", read_manifest},
                                       Target{"network", read_network},
                                       Target{"npz", read_zip},
                                       Target{"numpy", read_numpy},
                                       Target{"pack", read_pack_file},
                                       Target{"image_index", read_image_index},
                                       Target{"png", read_png},
                                       Target{"rank_messages", read_rank_messages},
                                       Target{"run_file", read_run_file},
                                       Target{"safetensors", read_safetensors},
                                       Target{"table", read_table_rows},
                                       Target{"tensors", read_tensors},
                                       Target{"text", read_text},
                                       Target{"text_table", read_text_rows},
                                       Target{"texts", read_text_columns},
                                       Target{"vocabulary", read_vocabulary},
                                       Target{"word_index", read_word_index},
                                       Target{"yaml", read_yaml}};
  return kTargets;
}

const Target* find_target(std::string_view name) {
  const std::span<const Target> all = targets();
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : &*found;
}

Outcome outcome_of(const Target& target, std::string_view input) {
  try {
    target.read(input);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bug) throw;
    return Outcome::refused;
  }
  return Outcome::accepted;
}

}  // namespace trainyard::fuzz
