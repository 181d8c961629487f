#include "conformance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/half.h"
#include "device/device.h"
#include "tree_reference.h"

namespace trainyard::testing {
namespace {

// The first run is not recorded, the second is, and all later ones are replays.
constexpr int kRecordedRuns = 4;

/// Numbers whose sums depend on their order: magnitudes from 2^-6 to 2^6, both signs.
double value_of(int rank, std::int64_t i, std::int64_t salt) {
  std::uint64_t bits = static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15ULL +
                       static_cast<std::uint64_t>(i) * 0xbf58476d1ce4e5b9ULL +
                       static_cast<std::uint64_t>(salt) * 0x94d049bb133111ebULL;
  bits ^= bits >> 31;
  bits *= 0xd6e8feb86659fd93ULL;
  bits ^= bits >> 32;
  const double mantissa = 1.0 + static_cast<double>(bits >> 12) * 0x1p-52;
  const double scale = static_cast<double>(1 << (bits & 0xfff) % 13) * 0x1p-6;
  return (bits & 0x800) != 0 ? -mantissa * scale : mantissa * scale;
}

template <class T>
T element_of(int rank, std::int64_t i, std::int64_t salt) {
  return T(static_cast<float>(value_of(rank, i, salt)));
}
template <>
double element_of<double>(int rank, std::int64_t i, std::int64_t salt) {
  return value_of(rank, i, salt);
}
template <>
std::int32_t element_of<std::int32_t>(int rank, std::int64_t i, std::int64_t salt) {
  return static_cast<std::int32_t>(value_of(rank, i, salt) * 1e6);
}

/// The spacing of numbers above 1; 0: sums are exact.
double epsilon_of(DType type) {
  switch (type) {
    case DType::f64:
      return 0x1p-52;
    case DType::f32:
      return 0x1p-23;
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    default:
      return 0;
  }
}

/// A rank's values, and their sum over all ranks.
template <class T>
struct Sample {
  std::vector<T> mine;
  std::vector<T> tree;        // the sum in tree order
  std::vector<double> sizes;  // sums of all ranks' magnitudes
};

template <class T>
Sample<T> sample_of(const Communicator& ranks, std::int64_t count, std::int64_t salt) {
  Sample<T> sample;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Arithmetic<T>> all;
    double size = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      all.push_back(element_of<T>(rank, i, salt));
      size += std::abs(static_cast<double>(all.back()));
    }
    sample.mine.push_back(element_of<T>(ranks.rank(), i, salt));
    sample.tree.push_back(T(tree_sum_of<Arithmetic<T>>(all)));
    sample.sizes.push_back(size);
  }
  return sample;
}

/// A part of several sums in one call.
template <class T>
struct Part {
  Part(Device& device, Queue& queue, Sample<T> of)
      : sample(std::move(of)), data(device, queue, sample.mine) {}
  [[nodiscard]] SumPart sum_part() const {
    return {data.data(), static_cast<std::int64_t>(data.size()), DTypeOf<T>::value};
  }
  Sample<T> sample;
  DeviceArray<T> data;
};

/// One group under test.
class Examination {
 public:
  Examination(Communicator& ranks, Device& device)
      : ranks_(ranks), device_(device), queue_(device.make_queue()) {}

  void expect(bool holds, const std::string& what) {
    ++checks;
    if (!holds) breaches.push_back("rank " + std::to_string(ranks_.rank()) + ": " + what);
  }

  template <class T>
  void check_sum(std::int64_t count, std::int64_t salt);
  template <class T>
  void check_result(const Sample<T>& sample, const DeviceArray<T>& data, const std::string& what);
  template <class T>
  [[nodiscard]] bool is_sum(const std::vector<T>& sum, const Sample<T>& sample) const;
  template <class T>
  [[nodiscard]] Part<T> part_of(std::int64_t count, std::int64_t salt);
  void check_sums(std::int64_t count);
  void check_recorded(std::int64_t count);
  void check_broadcast(std::size_t bytes, int root);
  void check_gather(std::size_t bytes);
  void check_exchange(std::size_t bytes);
  void check_mixture();
  void check_barrier();

  std::vector<std::string> breaches;
  int checks = 0;

 private:
  Communicator& ranks_;
  Device& device_;
  std::unique_ptr<Queue> queue_;
};

/// The bits of the tree or, if sums have their own order, within its rounding: an addition is off
/// by at most half of `epsilon` of the sizes summed so far.
template <class T>
bool Examination::is_sum(const std::vector<T>& sum, const Sample<T>& sample) const {
  if (ranks_.sums_in_tree()) {
    return sum.empty() || std::memcmp(sum.data(), sample.tree.data(), sum.size() * sizeof(T)) == 0;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double bound = sample.sizes[i] * ranks_.size() * epsilon_of(DTypeOf<T>::value);
    const auto value = static_cast<double>(static_cast<Arithmetic<T>>(sum[i]));
    const auto expected = static_cast<double>(static_cast<Arithmetic<T>>(sample.tree[i]));
    if (!(std::abs(value - expected) <= bound)) return false;
  }
  return true;
}

template <class T>
void Examination::check_sum(std::int64_t count, std::int64_t salt) {
  const Sample<T> sample = sample_of<T>(ranks_, count, salt);
  const DeviceArray<T> data(device_, *queue_, sample.mine);
  ranks_.all_reduce_sum(*queue_, data.data(), count, DTypeOf<T>::value);
  check_result(
      sample, data,
      "the sum of " + std::to_string(count) + " " + std::string(name_of(DTypeOf<T>::value)));
}

template <class T>
void Examination::check_result(const Sample<T>& sample, const DeviceArray<T>& data,
                               const std::string& what) {
  const std::vector<T> sum = data.read(*queue_);
  expect(is_sum(sum, sample), what + " is not the tree's");
  // Whatever the order, every rank has the same bits.
  const DeviceArray<T> all(device_, sum.size() * static_cast<std::size_t>(ranks_.size()));
  ranks_.all_gather(*queue_, data.data(), sum.size() * sizeof(T), all.data());
  const std::vector<T> copies = all.read(*queue_);
  bool same = true;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    same = same && std::memcmp(&copies[i], &sum[i % sum.size()], sizeof(T)) == 0;
  }
  expect(same, what + " differs from rank to rank");
}

template <class T>
Part<T> Examination::part_of(std::int64_t count, std::int64_t salt) {
  return {device_, *queue_, sample_of<T>(ranks_, count, salt)};
}

/// Several sums in one call, some of them of nothing, are each the sum.
void Examination::check_sums(std::int64_t count) {
  const std::int64_t few = std::min<std::int64_t>(count, 3);
  const auto floats = part_of<float>(count, 7);
  const auto halves = part_of<BFloat16>(count, 8);
  const auto doubles = part_of<double>(few, 9);
  const auto integers = part_of<std::int32_t>(few, 13);
  const auto shorts = part_of<Float16>(few, 14);
  std::vector<Part<double>> singles;
  for (int i = 0; i < 7; ++i) singles.push_back(part_of<double>(1, 20 + i));
  std::vector<SumPart> parts{floats.sum_part(),  {nullptr, 0, DType::f32}, halves.sum_part(),
                             doubles.sum_part(), integers.sum_part(),      {nullptr, 0, DType::f64},
                             shorts.sum_part()};
  for (const auto& single : singles) parts.push_back(single.sum_part());
  ranks_.all_reduce_sums(*queue_, parts);
  const auto sums = [&](const auto& part) { return is_sum(part.data.read(*queue_), part.sample); };
  bool all = sums(floats) && sums(halves) && sums(doubles) && sums(integers) && sums(shorts);
  for (const auto& single : singles) all = all && sums(single);
  expect(all, "sums of " + std::to_string(count) + " in one call");
}

/// The sums of a training step: on their own queue, overlapping with other work, joined before the
/// end, recorded once and replayed on other numbers. If the host takes part in a call, nothing may
/// be recorded.
void Examination::check_recorded(std::int64_t count) {
  if (!ranks_.recordable()) {
    checks += 2 * kRecordedRuns;
    return;
  }
  const auto elements = static_cast<std::size_t>(count);
  const std::size_t bytes = elements * sizeof(float);
  DeviceArray<float> given(device_, elements);
  const DeviceArray<float> summed(device_, elements), out(device_, elements);
  const auto sums = device_.make_queue();
  const auto ready = device_.make_event(), done = device_.make_event();
  const std::int64_t half = count / 2;
  const std::array buckets{SumPart{summed.data(), half, DType::f32},
                           SumPart{summed.data() + half, count - half, DType::f32}};
  RepeatedWork step(device_, *queue_, [&] {
    for (const SumPart& bucket : buckets) {
      const auto first = static_cast<float*>(bucket.data) - summed.data();
      queue_->copy(bucket.data, given.data() + first,
                   static_cast<std::size_t>(bucket.count) * sizeof(float));
      ready->record(*queue_);
      ready->wait_on(*sums);
      ranks_.all_reduce_sums(*sums, std::span(&bucket, 1));
    }
    done->record(*sums);
    done->wait_on(*queue_);
    queue_->copy(out.data(), summed.data(), bytes);
  });
  for (int run = 0; run < kRecordedRuns; ++run) {
    const Sample<float> sample = sample_of<float>(ranks_, count, 10 + run);
    given.write(*queue_, sample.mine);
    step.run();
    check_result(sample, out,
                 "run " + std::to_string(run) + " of a recorded sum of " + std::to_string(count));
  }
}

std::vector<std::byte> bytes_of(int rank, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(static_cast<std::size_t>(rank) * 37 + i * 11 + 1);
  }
  return bytes;
}

void Examination::check_broadcast(std::size_t bytes, int root) {
  const auto mine = bytes_of(ranks_.rank(), bytes);
  const DeviceArray<std::byte> data(device_, *queue_, mine);
  ranks_.broadcast(*queue_, data.data(), bytes, root);
  expect(data.read(*queue_) == bytes_of(root, bytes),
         std::to_string(bytes) + " bytes are not those of root " + std::to_string(root));
}

void Examination::check_gather(std::size_t bytes) {
  const auto own = bytes_of(ranks_.rank(), bytes);
  const DeviceArray<std::byte> mine(device_, *queue_, own);
  const DeviceArray<std::byte> all(device_, bytes * static_cast<std::size_t>(ranks_.size()));
  ranks_.all_gather(*queue_, mine.data(), bytes, all.data());
  std::vector<std::byte> expected;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const auto theirs = bytes_of(rank, bytes);
    expected.insert(expected.end(), theirs.begin(), theirs.end());
  }
  expect(all.read(*queue_) == expected, "a gather of " + std::to_string(bytes) + " bytes");
}

void Examination::check_exchange(std::size_t bytes) {
  // The slice of rank r for rank s has the bytes of "rank" r * size + s.
  const int size = ranks_.size();
  const auto slices = [&](const auto& number) {
    std::vector<std::byte> all;
    for (int other = 0; other < size; ++other) {
      const auto slice = bytes_of(number(other), bytes);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  };
  const auto own = slices([&](int other) { return ranks_.rank() * size + other; });
  const DeviceArray<std::byte> mine(device_, *queue_, own);
  const DeviceArray<std::byte> out(device_, own.size());
  ranks_.all_to_all(*queue_, mine.data(), bytes, out.data());
  expect(out.read(*queue_) == slices([&](int other) { return other * size + ranks_.rank(); }) &&
             mine.read(*queue_) == own,
         "an exchange of " + std::to_string(bytes) + " bytes");
}

void Examination::check_mixture() {
  // The same memory in calls of different sizes, one right after the other: no call takes data of
  // another.
  const std::vector<float> ones(64, 1.0F);
  const DeviceArray<float> data(device_, *queue_, ones);
  for (std::int64_t count = 1; count <= 32; ++count) {
    ranks_.all_reduce_sum(*queue_, data.data() + 32, count, DType::f32);
    ranks_.broadcast(*queue_, data.data(), static_cast<std::size_t>(count), 0);
    queue_->copy(data.data() + 32, data.data(), 32 * sizeof(float));
  }
  expect(data.read(*queue_) == ones, "memory that several calls share");
}

void Examination::check_barrier() {
  for (int i = 0; i < 5; ++i) ranks_.barrier();
  expect(true, "barriers end");
}

void examine(Examination& group, int ranks) {
  // Fewer than ranks, odd counts, counts around the sum's block size, and none.
  for (const std::int64_t count : {0, 1, 2, 3, 7, 64, 1023, 1025, 5003}) {
    group.check_sum<float>(count, 1);
    group.check_sum<double>(count, 2);
    group.check_sum<Float16>(count, 3);
    group.check_sum<BFloat16>(count, 4);
    group.check_sum<std::int32_t>(count, 5);
  }
  group.check_sum<float>(40'001, 6);
  for (const std::int64_t count : {0, 1, 5, 40'001}) group.check_sums(count);
  for (int root = 0; root < ranks; ++root) {
    for (const std::size_t bytes : {0, 1, 13, 70'001}) group.check_broadcast(bytes, root);
  }
  for (const std::size_t bytes : {0, 1, 13, 70'001}) group.check_gather(bytes);
  for (const std::size_t bytes : {0, 1, 13, 70'001}) group.check_exchange(bytes);
  for (const std::int64_t count : {7, 40'001}) group.check_recorded(count);
  group.check_mixture();
  group.check_barrier();
}

}  // namespace

std::vector<std::string> breaches_of(Communicator& ranks, Device& device) {
  Examination group(ranks, device);
  examine(group, ranks.size());
  group.expect(group.checks + 1 == checks_of_conformance(ranks.size()), "the number of checks");
  return group.breaches;
}

int checks_of_conformance(int ranks) {
  return 2 * (9 * 5 + 1) + 4 + 4 * ranks + 4 + 4 + 2 * 2 * kRecordedRuns + 1 + 1 + 1;
}

}  // namespace trainyard::testing
