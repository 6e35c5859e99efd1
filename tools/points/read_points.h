// Points from a file: an array, or text with a point a line.
#pragma once

#include <string>
#include <vector>

namespace contorno {

struct Points {
  std::vector<double> values;  ///< point by point
  int dims = 1;                ///< 1 to MeanShift::kMaxDims
};

/// An array is N x dims, or N numbers. Text (.txt, .csv, .dat) has the numbers of a point on a line, between
/// spaces, tabs, commas or semicolons; what follows a # or % is passed over. Its first line may have the
/// sides of the array, N and dims, as in T. Spyrou's files: it is taken for that where N lines of dims
/// numbers follow. Says on standard error what is odd about an array. Throws Error(MissingInput, BadData),
/// for text with the line and the column.
Points read_points(const std::string& path);

}  // namespace contorno
