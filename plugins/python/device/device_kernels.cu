#include <algorithm>
#include <limits>

#include "plugins/python/device/gather.cuh"

namespace contorno::python {
namespace {

constexpr unsigned kThreads = 256;

unsigned blocks_for(std::uint64_t items) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((items + kThreads - 1) / kThreads, 1, 65535));
}

template <class From, class To, class Become = Cast>
void launch_gather(const StridedSamples& from, void* to, void* stream) {
  const std::int64_t count = from.sides[0] * from.sides[1] * from.sides[2] * from.sides[3];
  launch("gather_samples", gather<From, To, Become>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
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

}  // namespace

bool is_packed(const StridedSamples& samples) {
  std::int64_t packed = samples.item_bytes;
  for (int axis = 3; axis >= 0; --axis) {
    if (samples.sides[axis] != 1 && samples.strides[axis] != packed) return false;
    packed *= samples.sides[axis];
  }
  return true;
}

namespace {

void gather_as_they_are(const StridedSamples& from, void* to, void* stream) {
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

template <class To, class Int8, class Int16, class Int32, class Int64>
void gather_integers(const StridedSamples& from, void* to, void* stream) {
  switch (from.item_bytes) {
    case 1:
      return launch_gather<Int8, To>(from, to, stream);
    case 2:
      return launch_gather<Int16, To>(from, to, stream);
    case 4:
      return launch_gather<Int32, To>(from, to, stream);
    case 8:
      return launch_gather<Int64, To>(from, to, stream);
    default:
      throw InternalError("gather_samples: no such type");
  }
}

template <class To>
void gather_numbers(const StridedSamples& from, void* to, void* stream) {
  if (from.kind == 'i')
    return gather_integers<To, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(from, to, stream);
  if (from.kind != 'f')
    return gather_integers<To, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(from, to, stream);
  if (from.item_bytes == 2) return launch_gather<Half, To>(from, to, stream);
  if (from.item_bytes == 4) return launch_gather<float, To>(from, to, stream);
  return launch_gather<double, To>(from, to, stream);
}

}  // namespace

void gather_samples(const StridedSamples& from, void* to, GatherTo kind, void* stream) {
  switch (kind) {
    case GatherTo::Same:
      return gather_as_they_are(from, to, stream);
    case GatherTo::Float64:
      return gather_numbers<double>(from, to, stream);
    case GatherTo::Float32:
      return gather_numbers<float>(from, to, stream);
    case GatherTo::Int32:
      return launch_gather<float, std::int32_t>(from, to, stream);
    case GatherTo::Bool:
      return launch_gather<std::uint8_t, std::uint8_t, IsNotZero<1>>(from, to, stream);
    case GatherTo::Bytes:
      return launch_gather<std::uint8_t, std::uint8_t, IsNotZero<255>>(from, to, stream);
  }
}

namespace {

template <class T>
void launch_gather_picked(const StridedSamples& from, const PickedContours& picked, void* to, void* stream) {
  launch("gather_contours", gather_picked<T>, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         blocks_for(picked.points), kThreads, 0, stream, from, picked, static_cast<T*>(to));
}

}  // namespace

void gather_contours(const StridedSamples& from, const PickedContours& picked, void* to, void* stream) {
  switch (from.item_bytes) {
    case 1:
      return launch_gather_picked<std::uint8_t>(from, picked, to, stream);
    case 2:
      return launch_gather_picked<std::uint16_t>(from, picked, to, stream);
    case 4:
      return launch_gather_picked<std::uint32_t>(from, picked, to, stream);
    case 8:
      return launch_gather_picked<std::uint64_t>(from, picked, to, stream);
    default:
      throw InternalError("gather_contours: no such size");
  }
}

void sample_ranges(const ImageView& plane, double* pairs, void* stream) {
  with_sample_type(plane.format.type, [&]<class T>(const T*) {
    launch("sample_ranges", find_ranges<T>, LaunchKind::Plain, LaunchOrder::AfterPrevious, kRangeBlocks,
           kThreads, 0, stream, static_cast<const char*>(plane.data), static_cast<long long>(plane.row_pitch),
           static_cast<long long>(plane.format.width), static_cast<long long>(plane.format.height), pairs);
  });
}

namespace {

__global__ void pick_begins(const std::uint32_t* class_begin, const std::uint32_t* offsets, int count,
                            std::uint32_t* to) {
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); p < count; p += step) {
    to[p] = class_begin[p];
    to[count + p] = offsets[class_begin[p]];
  }
}

/// The piece whose range, of `begin`, has `at`.
template <std::uint32_t ContourPiece::*kBegin>
__device__ int piece_of(const ContourPiece* pieces, int count, unsigned long long at) {
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (pieces[middle].*kBegin <= at ? low : high) = middle;
  }
  return low;
}

__global__ void merge_lists(const ContourPiece* pieces, int count, unsigned long long contours,
                            MergedContours to) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i <= contours; i += step) {
    if (i == contours) {
      to.offsets[i] = pieces[count].to_point;
      return;
    }
    const ContourPiece& piece = pieces[piece_of<&ContourPiece::to_contour>(pieces, count, i)];
    const unsigned long long from = piece.from_contour + (i - piece.to_contour);
    to.offsets[i] = piece.to_point + (piece.offsets[from] - piece.from_point);
    to.closed[i] = piece.closed[from];
    to.ids.classes[i] = piece.plane;
    to.ids.frames[i] = piece.frame;
    to.ids.levels[i] = piece.level;
  }
}

template <class P>
__global__ void merge_points(const ContourPiece* pieces, int count, unsigned long long points, P* to) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < points; i += step) {
    const ContourPiece& piece = pieces[piece_of<&ContourPiece::to_point>(pieces, count, i)];
    to[i] = static_cast<const P*>(piece.points)[piece.from_point + (i - piece.to_point)];
  }
}

template <class P>
void launch_merge_points(const ContourPiece* pieces, int count, std::uint64_t points, void* to,
                         void* stream) {
  launch("merge_points", merge_points<P>, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_for(points),
         kThreads, 0, stream, pieces, count, static_cast<unsigned long long>(points), static_cast<P*>(to));
}

}  // namespace

void pick_plane_begins(const std::uint32_t* class_begin, const std::uint32_t* offsets, int planes,
                       std::uint32_t* to, void* stream) {
  launch("pick_plane_begins", pick_begins, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         blocks_for(static_cast<std::uint64_t>(planes) + 1), kThreads, 0, stream, class_begin, offsets,
         planes + 1, to);
}

void merge_contours(const ContourPiece* pieces, int count, std::uint64_t contours, std::uint64_t points,
                    std::size_t point_bytes, const MergedContours& to, void* stream) {
  launch("merge_lists", merge_lists, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_for(contours + 1),
         kThreads, 0, stream, pieces, count, static_cast<unsigned long long>(contours), to);
  if (points == 0) return;
  if (point_bytes == sizeof(float2))
    launch_merge_points<float2>(pieces, count, points, to.points, stream);
  else
    launch_merge_points<double2>(pieces, count, points, to.points, stream);
}

void number_contours(const std::uint32_t* class_begin, int all_planes, const PlaneAxes& axes,
                     std::uint64_t contours, const ContourIds& ids, void* stream) {
  if (contours == 0) return;
  launch("number_contours_python", fill_ids, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         blocks_for(contours), kThreads, 0, stream, class_begin, all_planes, axes,
         static_cast<unsigned long long>(contours), ids);
}

}  // namespace contorno::python
