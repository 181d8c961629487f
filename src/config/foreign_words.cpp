#include "config/foreign_words.h"

#include <algorithm>

#include "base/text.h"
#include "config/diagnostics.h"

namespace trainyard::config {
namespace {

constexpr std::string_view kLayer = "a layer of its own", kFlag = "the flag";
constexpr std::string_view kCounted = "counted in epochs";
constexpr std::string_view kWindows = "conv conv_transpose max_pool avg_pool";

// The first of several rows of a word and a place counts. "any_optimizer": every one that has the
// key.
constexpr ForeignWord kWords[] = {
    // Keys of a run, and flags.
    {"learningrate baselr initlr lr0", "run", "lr"},
    {"wd", "run", "weight_decay"},
    {"batchsize", "run data train", "batch.per_gpu"},
    {"bs trainbatchsize", "run", "batch.per_gpu"},
    {"batch", "flag", "batch.per_gpu"},
    {"globalbatch globalbatchsize", "run", "batch.total"},
    {"size batchsize", "batch", "per_gpu"},
    {"numepochs maxepochs nepochs nbepoch", "run", "epochs"},
    {"maxiter maxsteps maxbatches iterations totalsteps", "run", "epochs", kCounted},
    {"earlystopping earlystopper", "run", "early_stop"},
    {"earlystoppingpatience", "run", "early_stop.patience"},
    {"monitor", "early_stop checkpoint", "checkpoint.best.metric"},
    {"mode", "early_stop", "checkpoint.best.mode"},
    {"restorebestweights", "early_stop", "", "always so: weights/best.safetensors has them"},
    {"usetensorboard tensorboardlogger", "run", "output.tensorboard"},
    {"modelema useema emadecay modelemadecay", "run", "average.ema"},
    {"emadecay decay", "average", "ema"},
    {"swa", "run", "average"},
    {"reducelronplateau", "run", "plateau"},
    {"lrscheduler scheduler sched lrschedule lrpolicy", "run", "schedule"},
    {"burnin warmupepochs warmupsteps", "run", "warmup"},
    {"criterion lossfn lossfunction objective", "run", "loss"},
    {"opt optim solver solvertype", "run", "optimizer"},
    {"model net arch backbone", "run", "network.file"},
    {"dataset datasets", "run", "data"},
    {"numworkers", "run data", "data.workers"},
    {"numthreads", "run", "threads"},
    {"validationsplit valsplit", "run data", "data.val_fraction"},
    {"augmentation augmentations transform transforms", "run data train", "data.augment"},
    {"mixup mixupalpha", "run data train", "data.mix.mixup"},
    {"cutmix cutmixalpha", "run data train", "data.mix.cutmix"},
    {"mixup", "augment", "data.mix.mixup", "a key of the run"},
    {"cutmix", "augment", "data.mix.cutmix", "a key of the run"},
    {"mixupprob", "run data", "data.mix.probability"},
    {"mixupswitchprob", "run data", "data.mix.switch"},
    {"normalize normalization rescale", "run data", "data.preprocess"},
    {"validation test", "run data", "data.val"},
    {"droplast", "run data", "batch.remainder"},
    {"numclasses", "run train val", "classes"},
    {"datadir dataroot", "run train val", "root"},
    {"directory folder", "train val", "root"},
    {"imgsize imagesize", "train val", "size"},
    {"type dataset", "train val", "source"},
    {"amp mixedprecision fp16 bf16 dtype", "run", "precision"},
    {"clip clipgrad gradclip clipgradients maxgradnorm gradientclipval", "run", "clip_norm"},
    {"clipnorm", "run sgd rmsprop adam adamw adamax nadam adagrad adadelta", "clip_norm"},
    {"itersize subdivisions accumulategradbatches gradientaccumulationsteps", "run", "accumulate"},
    {"classweight", "run", "class_weights"},
    {"smoothing", "run", "label_smoothing"},
    {"randomseed manualseed", "run", "seed"},
    {"frozen", "run", "freeze"},
    {"modelcheckpoint checkpoints", "run", "checkpoint"},
    {"snapshot saveperiod", "run", "checkpoint.every"},
    {"saveevery", "run checkpoint", "checkpoint.every"},
    {"savefreq period interval", "checkpoint", "every"},
    {"savetopk maxtokeep", "run checkpoint", "checkpoint.keep"},
    {"savebestonly", "run checkpoint", "checkpoint.best"},
    {"drop droprate dropout", "run", "dropout: 0.5", kLayer},
    {"experiment expname", "run", "name"},
    {"outputdir savedir checkpointdir", "run", "--out", kFlag},
    {"filepath", "checkpoint", "--out", kFlag},
    {"weights pretrained initialcheckpoint", "run", "init"},
    {"resume", "run", "train resume RUN", "the command"},
    {"gpus numgpus ngpu device devices accelerator solvermode", "run", "--gpus", kFlag},
    {"nprocpernode worldsize", "run", "--replicas", kFlag},
    {"cfg conf", "run", "--config", kFlag},
    {"timeout", "run", "--max-time", kFlag},
    // Optimizers, their keys, schedules and theirs.
    {"learningrate", "any_optimizer", "lr"},
    {"wd", "any_optimizer", "weight_decay"},
    {"eps", "any_optimizer", "epsilon"},
    {"betas", "any_optimizer", "beta1"},
    {"momentum2", "any_optimizer", "beta2"},
    {"alpha", "rmsprop", "rho"},
    {"nssteps", "muon", "steps"},
    {"nscoefficients", "muon", "coefficients"},
    {"adjustlrfn", "muon", "scale"},
    {"momentum nesterov sgdm", "optimizer", "sgd"},
    {"rmsproptf", "optimizer", "rmsprop"},
    {"steplr", "schedule", "step"},
    {"multisteplr steps", "schedule", "multistep"},
    {"fixed constantlr none", "schedule", "constant"},
    {"inv", "schedule", "inverse"},
    {"exp exponentiallr exponentialdecay", "schedule", "exponential"},
    {"cosineannealing cosineannealinglr cosinedecay", "schedule", "cosine"},
    {"cosineannealingwarmrestarts", "schedule", "cosine_restarts"},
    {"onecyclelr", "schedule", "one_cycle"},
    {"polynomial polynomiallr polynomialdecay", "schedule", "poly"},
    {"linearlr", "schedule", "linear"},
    {"lambdalr", "schedule", "expression"},
    {"reducelronplateau", "schedule", "plateau", "a key of the run"},
    {"milestones stepvalue", "multistep", "at"},
    {"stepsize decayepochs", "step", "every"},
    {"tmax", "cosine", "length"},
    {"etamin minlr", "cosine cosine_restarts poly", "end"},
    {"t0", "cosine_restarts", "period"},
    {"tmult", "cosine_restarts", "growth"},
    {"pctstart", "one_cycle", "rise"},
    {"warmupepochs warmupsteps", "step multistep cosine poly constant", "warmup"},
    // Losses and metrics.
    {"categoricalcrossentropy sparsecategoricalcrossentropy crossentropyloss softmaxwithloss "
     "softmaxcrossentropy nllloss nll ce",
     "loss heads", "cross_entropy"},
    {"binarycrossentropy bce bceloss bcewithlogits bcewithlogitsloss sigmoidcrossentropyloss",
     "loss heads", "binary_cross_entropy"},
    {"meansquarederror mseloss l2 euclideanloss", "loss heads", "mse"},
    {"meanabsoluteerror l1 l1loss", "loss heads", "mae"},
    {"smoothl1 smoothl1loss huberloss", "loss heads", "huber"},
    {"kldivergence kldivloss", "loss heads", "kl"},
    {"cosinesimilarity", "loss heads", "cosine"},
    {"hingeloss", "loss heads", "hinge"},
    {"acc top1 binaryaccuracy categoricalaccuracy sparsecategoricalaccuracy", "metrics",
     "accuracy"},
    {"top5 topkcategoricalaccuracy", "metrics", "top_k: 5"},
    {"f1score", "metrics", "f1"},
    {"rocauc", "metrics", "auc"},
    {"map averageprecision averageprecisionscore", "metrics", "mean_average_precision"},
    {"meanabsoluteerror", "metrics", "mae"},
    {"rootmeansquarederror", "metrics", "rmse"},
    {"r2score rsquared", "metrics", "r2"},
    {"balancedaccuracyscore balancedacc", "metrics", "balanced_accuracy"},
    // Data.
    {"rescale rescaling totensor", "preprocess", "scale: $1/255"},
    {"normalize standardize featurewisecenter", "preprocess", "mean_rgb: train"},
    {"zcawhitening", "preprocess", "zca: train"},
    {"horizontalflip randomhorizontalflip randomflip fliplr", "augment", "hflip: 0.5"},
    {"verticalflip randomverticalflip", "augment", "vflip: 0.5"},
    {"randomcrop", "augment", "pad_crop: 4"},
    {"rotationrange randomrotation", "augment", "rotate: 20"},
    {"widthshiftrange", "augment", "shift: {x: 0.1}"},
    {"zoomrange", "augment", "zoom: 0.2"},
    {"shearrange", "augment", "shear: 10"},
    {"imagefolder imagedirectory folder", "source", "image_folder"},
    {"csv", "source", "image_list"},
    {"npz numpy", "source", "arrays"},
    {"safetensors", "source", "tensors"},
    {"float32 float single 32", "precision", "fp32"},
    {"float16 half 16 mixedfloat16", "precision", "fp16"},
    {"bfloat16 mixedbfloat16", "precision", "bf16"},
    {"float64 double", "precision", "fp64"},
    // Layers, their keys and words.
    {"linear fc fullyconnected connected innerproduct", "layer", "dense"},
    {"convolution convolutional convolution2d conv1d conv2d", "layer", "conv"},
    {"deconvolution convtranspose2d conv2dtranspose", "layer", "conv_transpose"},
    {"maxpooling2d maxpool2d maxpool pooling", "layer", "max_pool"},
    {"averagepooling2d avgpool2d avgpool", "layer", "avg_pool"},
    {"globalaveragepooling2d adaptiveavgpool2d", "layer", "global_avg_pool"},
    {"globalmaxpooling2d adaptivemaxpool2d", "layer", "global_max_pool"},
    {"batchnorm batchnorm2d batchnormalization", "layer", "bn"},
    {"groupnormalization", "layer", "group_norm"},
    {"layernormalization", "layer", "layer_norm"},
    {"localresponsenormalization localresponsenorm", "layer", "lrn"},
    {"leaky", "layer", "leaky_relu"},
    {"silu", "layer", "swish"},
    {"activation", "layer", "relu"},
    {"dropout2d spatialdropout2d spatialdropout1d", "layer", "spatial_dropout"},
    {"droppath stochasticdepth dropconnect", "layer", "drop_path"},
    {"zeropadding2d", "layer", "pad"},
    {"cropping2d", "layer", "crop"},
    {"upsampling2d", "layer", "upsample"},
    {"shortcut eltwise", "layer", "add"},
    {"route concatenate", "layer", "concat"},
    {"rnn", "layer", "simple_rnn"},
    {"inputshape inputsize shape", "network", "input"},
    {"inputshape", "conv dense", "input", "a key of the network"},
    {"kernelsize size", "conv conv_transpose", "kernel"},
    {"strides", kWindows, "stride"},
    {"padding", kWindows, "pad"},
    {"dilationrate", "conv conv_transpose", "dilation"},
    {"usebias biasterm", "conv conv_transpose dense", "bias"},
    {"outchannels outputchannels numoutput channels", "conv conv_transpose", "filters"},
    {"inchannels infeatures", "conv conv_transpose dense", "", "that of the input; leave it out"},
    {"outfeatures numoutput output filters", "dense", "units"},
    {"kernelinitializer weightfiller", "conv conv_transpose dense lstm gru simple_rnn", "init"},
    {"kernelregularizer", "conv conv_transpose dense lstm gru simple_rnn", "l2"},
    {"activation", "conv conv_transpose dense bn", "relu", kLayer},
    {"batchnormalize batchnorm", "conv dense", "bn", kLayer},
    {"dropout", "conv dense", "dropout: 0.5", kLayer},
    {"poolsize kernelsize kernel", "max_pool avg_pool", "size"},
    {"ceilmode", "max_pool avg_pool", "ceil"},
    {"p prob probability dropoutratio", "dropout spatial_dropout", "rate"},
    {"epsilon", "bn layer_norm group_norm instance_norm", "eps"},
    {"affine", "bn instance_norm", "scale"},
    {"negativeslope", "leaky_relu", "slope"},
    {"hiddensize", "lstm gru simple_rnn", "units"},
    {"gobackwards reverse", "lstm gru simple_rnn", "backwards"},
    {"mergemode", "lstm gru simple_rnn", "bidirectional"},
    {"recurrentactivation", "lstm gru", "gates"},
    {"resetafter linearbeforereset", "gru", "reset"},
    {"outputdim embeddingdim", "embedding", "units"},
    {"numembeddings inputdim", "embedding", "vocabulary"},
    {"same", "pad", "same_upper"},
    {"half", "pad", "same_symmetric"},
    {"none", "pad", "valid"},
    {"kaimingnormal", "init", "he_normal"},
    {"kaiminguniform", "init", "he_uniform"},
    {"xaviernormal", "init", "glorot_normal"},
    {"xavieruniform", "init", "glorot_uniform"},
    {"zero", "init", "zeros"},
};

/// Whether `list` has the word.
bool contains(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; (at = list.find(word, at)) != list.npos; ++at) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || list[at - 1] == ' ';
    if (begins && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

/// "Batch-Size" as "batchsize".
std::string bare(std::string_view word) {
  std::string name = lower_case(word.substr(0, 64));
  std::erase_if(name, [](char c) { return c == '_' || c == '-' || c == '.'; });
  return name;
}

}  // namespace

std::span<const ForeignWord> foreign_words() { return kWords; }

const ForeignWord* foreign_word(std::string_view word, std::string_view place) {
  const std::string name = bare(word);
  if (name.empty() || place.empty()) return nullptr;
  const auto found = std::ranges::find_if(kWords, [&](const ForeignWord& row) {
    return contains(row.words, name) && contains(row.places, place);
  });
  return found == std::end(kWords) ? nullptr : found;
}

std::string meaning_text(const ForeignWord& word) {
  std::string text = "; here it is " + std::string(word.remark);
  if (word.here.empty()) return text;
  if (!word.remark.empty()) text += word.remark.starts_with("the ") ? " " : ", ";
  return text + "'" + std::string(word.here) + "'";
}

std::string meaning_or_nearest(const std::string& word, std::string_view place,
                               const std::vector<std::string>& known) {
  const ForeignWord* foreign = foreign_word(word, place);
  return foreign != nullptr ? meaning_text(*foreign) : suggestion(word, known);
}

}  // namespace trainyard::config
