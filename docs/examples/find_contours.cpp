// The contours of one array in memory: a cone, cut where it is 10 high.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <contorno/stages/contours/find_contours.h>

int main(int, char** argv) {
  // OpenMP reads its settings before main, so that a program that changes one has to start itself again.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
    execv("/proc/self/exe", argv);

  const int width = 64, height = 48;
  std::vector<float> field;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      field.push_back(30 - std::hypot(static_cast<float>(x) - 40, static_cast<float>(y) - 20));

  const contorno::ImageView image{
      .data = field.data(),
      .format = {.width = width, .height = height, .channels = 1, .type = contorno::ElementType::F32},
      .row_pitch = width * sizeof(float)};
  const contorno::FoundContours found = contorno::find_contours(image, {.level = 10, .threads = 2});

  for (std::size_t i = 0; i < found.count(); ++i) {
    const auto points = found.contour(i);
    std::printf("%s, %zu points from row %.3f, column %.3f\n", found.closed[i] != 0 ? "closed" : "open",
                points.size(), points.front().row, points.front().col);
  }
}
