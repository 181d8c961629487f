#include <algorithm>
#include <array>
#include <string_view>

#include "formats/safetensors.h"

namespace trainyard {

namespace {

using std::string_view_literals::operator""sv;

constexpr const char* kConvert = "; Python's package 'safetensors' can convert its tensors";
constexpr const char* kConvertTorch =
    "; Python converts its tensors: import torch, safetensors.torch as s; "
    "s.save_file(torch.load('OLD', weights_only=True), 'NEW.safetensors')";

/// Files that begin with `first`.
struct Kind {
  std::string_view first;
  std::string_view name;
  const char* advice = "";
};

constexpr std::array kKinds = {
    Kind{"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras .h5)", kConvert},
    Kind{"\x93NUMPY"sv, "a NumPy array (.npy)", kConvert},
    Kind{"\x80\x02"sv, "a Python pickle (old .pt, .pth)", kConvertTorch},
    Kind{"\x80\x03"sv, "a Python pickle", kConvert},
    Kind{"\x80\x04"sv, "a Python pickle", kConvert},
    Kind{"\x80\x05"sv, "a Python pickle", kConvert},
    Kind{"GGUF"sv, "a GGUF file", kConvert},
    Kind{"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
    Kind{"\xff\xd8\xff"sv, "a JPEG image"},
    Kind{"\x1f\x8b"sv, "a gzip file; unpack it first"},
    Kind{"\x7f"
         "ELF"sv,
         "a program or library (ELF)"},
    Kind{"version https://git-lfs"sv, "a Git LFS pointer; fetch the file with 'git lfs pull'"},
    Kind{"<!DOCTYPE"sv, "a web page (HTML)"},
    Kind{"<html"sv, "a web page (HTML)"},
};

bool is_text(std::string_view head) {
  return !head.empty() && std::all_of(head.begin(), head.end(), [](unsigned char letter) {
    return (letter >= ' ' && letter < 127) || letter == '\n' || letter == '\r' || letter == '\t';
  });
}

/// Zip archives are distinguished by the name of their first file (APPNOTE.TXT 4.3.7: its length at
/// byte 26, its text from byte 30).
std::string zip_kind(std::string_view head) {
  constexpr std::size_t kLengthAt = 26, kNameAt = 30;
  std::string_view name;
  if (head.size() > kNameAt) {
    name = head.substr(kNameAt, static_cast<unsigned char>(head[kLengthAt]));
  }
  if (name.ends_with(".npy")) return std::string("a zip archive of NumPy arrays (.npz)") + kConvert;
  if (name.find("data.pkl") != name.npos || name.find(".format_version") != name.npos) {
    return std::string("a zip archive of PyTorch (.pt, .pth)") + kConvertTorch;
  }
  return std::string("a zip archive (PyTorch .pt or .pth, NumPy .npz, Keras .keras)") + kConvert;
}

}  // namespace

std::string file_kind(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("PK\x03\x04")) return zip_kind(text);
  for (const Kind& kind : kKinds) {
    if (text.starts_with(kind.first)) {
      return std::string(kind.name) + kind.advice;
    }
  }
  return is_text(text) ? "a text file" : "";
}

}  // namespace trainyard
