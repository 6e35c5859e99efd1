// A. Sciarrillo's variants of marching squares: scikit-image's serial one, of which he began, and his kernels
// on a device. Saddles join high samples, as the listing in 3.1.1 has them.
#pragma once

#include <utility>
#include <vector>

namespace contorno::sources {

struct Field {
  int width = 0, height = 0;
  std::vector<double> values;  ///< row by row
  double level = 0.5;
};

/// Four arrays, as the thesis has them (5.2.1): segment i goes from (x1[i], y1[i]) to (x2[i], y2[i]), where x
/// is the row and y the column.
struct FourArrays {
  std::vector<double> x1, y1, x2, y2;
  bool operator==(const FourArrays&) const = default;
};

/// The serial loop over all cells, which appends to a list (3.4).
FourArrays serial_segments(const Field& field);
/// scikit-image's way to contours: ends of contours in maps, contours in lists that grow at both ends. Points
/// are (row, column).
std::vector<std::vector<std::pair<double, double>>> assembled(const FourArrays& segments);

#if CONTORNO_HAVE_CUDA
struct KernelTimes {
  double whole = 0;    ///< seconds with memory, upload and download
  double kernels = 0;  ///< seconds of the kernels, and of the sum on the host between them
};
/// required_memory, reduce, exclusive scan (three kernels) and marching_squares (5.3). `field` has at most
/// 131,072 samples, which is what one block of prescan_small can scan.
FourArrays segments_on_device(const Field& field, KernelTimes* times = nullptr);
/// Seconds of the kernel of table 5.1: a x + y on 512 x 32768 values, and of the whole program with it.
KernelTimes saxpy();
#endif

}  // namespace contorno::sources
