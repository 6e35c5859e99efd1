#include <algorithm>
#include <limits>

#include "cuda/launch.cuh"
#include "plugins/python/device_kernels.h"
#include "stages/sample_value.h"

namespace contorno::python {
namespace {

constexpr unsigned kThreads = 256;

unsigned blocks_for(std::uint64_t items) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((items + kThreads - 1) / kThreads, 1, 65535));
}

template <class From, class To>
__global__ void gather(StridedSamples from, To* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    long long rest = i, offset = 0;
    for (int axis = 3; axis >= 0; --axis) {
      offset += rest % from.sides[axis] * from.strides[axis];
      rest /= from.sides[axis];
    }
    to[i] = static_cast<To>(*reinterpret_cast<const From*>(static_cast<const char*>(from.data) + offset));
  }
}

template <class From, class To>
void launch_gather(const StridedSamples& from, void* to, void* stream) {
  const std::int64_t count = from.sides[0] * from.sides[1] * from.sides[2] * from.sides[3];
  launch("gather_samples", gather<From, To>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         blocks_for(static_cast<std::uint64_t>(count)), kThreads, 0, stream, from, static_cast<To*>(to),
         static_cast<long long>(count));
}

template <class T>
__global__ void find_ranges(const char* data, long long row_pitch, long long width, long long height,
                            double* pairs) {
  __shared__ double lows[kThreads], highs[kThreads];
  double low = INFINITY, high = -INFINITY;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < width * height;
       i += step) {
    const double value =
        value_of(reinterpret_cast<const T*>(data + i / width * row_pitch)[i % width], SampleScale{});
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  lows[threadIdx.x] = low;
  highs[threadIdx.x] = high;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      lows[threadIdx.x] = fmin(lows[threadIdx.x], lows[threadIdx.x + half]);
      highs[threadIdx.x] = fmax(highs[threadIdx.x], highs[threadIdx.x + half]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    pairs[2 * blockIdx.x] = lows[0];
    pairs[2 * blockIdx.x + 1] = highs[0];
  }
}

__global__ void fill_ids(const std::uint32_t* class_begin, int all_planes, int planes, bool by_level,
                         unsigned long long contours, ContourIds ids) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < contours; i += step) {
    int low = 0, high = all_planes;  // class_begin[low] <= i < class_begin[high]
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (class_begin[middle] <= i ? low : high) = middle;
    }
    ids.classes[i] = by_level ? 0 : low % planes;
    ids.frames[i] = by_level ? 0 : low / planes;
    ids.levels[i] = by_level ? low : 0;
  }
}

}  // namespace

void gather_samples(const StridedSamples& from, void* to, bool to_double, void* stream) {
  if (!to_double) {
    switch (from.item_bytes) {
      case 1:
        return launch_gather<std::uint8_t, std::uint8_t>(from, to, stream);
      case 2:
        return launch_gather<std::uint16_t, std::uint16_t>(from, to, stream);
      case 4:
        return launch_gather<std::uint32_t, std::uint32_t>(from, to, stream);
      case 8:
        return launch_gather<std::uint64_t, std::uint64_t>(from, to, stream);
      default:
        throw InternalError("gather_samples: no such size");
    }
  }
  const bool is_signed = from.kind == 'i';
  switch (from.item_bytes) {
    case 1:
      return is_signed ? launch_gather<std::int8_t, double>(from, to, stream)
                       : launch_gather<std::uint8_t, double>(from, to, stream);
    case 2:
      return is_signed ? launch_gather<std::int16_t, double>(from, to, stream)
                       : launch_gather<std::uint16_t, double>(from, to, stream);
    case 4:
      return is_signed ? launch_gather<std::int32_t, double>(from, to, stream)
                       : launch_gather<std::uint32_t, double>(from, to, stream);
    case 8:
      return is_signed ? launch_gather<std::int64_t, double>(from, to, stream)
                       : launch_gather<std::uint64_t, double>(from, to, stream);
    default:
      throw InternalError("gather_samples: no such type");
  }
}

void sample_ranges(const ImageView& plane, double* pairs, void* stream) {
  with_sample_type(plane.format.type, [&]<class T>(const T*) {
    launch("sample_ranges", find_ranges<T>, LaunchKind::Plain, LaunchOrder::AfterPrevious, kRangeBlocks,
           kThreads, 0, stream, static_cast<const char*>(plane.data), static_cast<long long>(plane.row_pitch),
           static_cast<long long>(plane.format.width), static_cast<long long>(plane.format.height), pairs);
  });
}

void number_contours(const std::uint32_t* class_begin, int all_planes, int planes, bool by_level,
                     std::uint64_t contours, const ContourIds& ids, void* stream) {
  if (contours == 0) return;
  launch("number_contours_python", fill_ids, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         blocks_for(contours), kThreads, 0, stream, class_begin, all_planes, planes, by_level,
         static_cast<unsigned long long>(contours), ids);
}

}  // namespace contorno::python
