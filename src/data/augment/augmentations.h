// The augmentations.
//
// One is a class derived from Augmentation or Warp with kName, kHelp and read(fields), or from
// ColourAugmentation with Changes too: the std::variant of what its steps may do to a sample. A
// change is plain code for the launchers of any device: a struct with kNumber, the change_number()
// of its name, and apply(team, step, SampleView).
#pragma once

#include <tuple>

#include "base/type_list.h"
#include "data/augment/colours.h"
#include "data/augment/crops.h"
#include "data/augment/erasing.h"
#include "data/augment/flip.h"
#include "data/augment/gaussian_blur.h"
#include "data/augment/keras_warps.h"
#include "data/augment/policies.h"
#include "data/augment/random_change.h"

namespace trainyard {

/// Every augmentation, in the order of the reference.
using Augmentations =
    std::tuple<Resize, RandomResizedCrop, CenterCrop, Rotate, Shift, Shear, Zoom, HorizontalFlip,
               VerticalFlip, PadCrop, ChannelShift, Brightness, HlsJitter, ColourJitter, Cutout,
               RandomErasing, Solarize, Posterize, Sharpness, Equalize, AutoContrast, Invert,
               Grayscale, GaussianBlur, TrivialAugment, RandAugment, AutoAugment>;

template <class Listed>
struct ChangesOf {
  using Types = std::variant<>;
};
template <class Listed>
requires requires { typename Listed::Changes; }
struct ChangesOf<Listed> {
  using Types = typename Listed::Changes;
};
template <class Listed>
using ChangeTypes = typename ChangesOf<Listed>::Types;

/// Every change of colours that a step may name.
using ColourChanges = VariantOf<ChangeTypes, Augmentations>;

}  // namespace trainyard
