// Tries Clip, the answer to exercise 2 of lesson 12, on ranges as Shard cuts them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "answer"
void Refuse(const char* type, int64_t n, int64_t begin, int64_t end,
            const char* why) {
  std::printf("%s, n = %d, begin = %d, end = %d: %s\n", type, int(n),
              int(begin), int(end), why);
  std::fflush(stdout);
  std::_Exit(1);
}

template <typename T>
void Try(const char* type) {
  const T untouched = T(77);
  for (int64_t n : {1, 2, 5, 64, 300}) {
    T low = T(-1) / (3 + n % 2), high = T(2) / (3 + n % 2);
    if (n == 5) low = T(1) / 4, high = T(1);
    if (n == 64) low = T(-1), high = T(-1) / 4;
    const int64_t part = std::max<int64_t>(n / 4, 1);  // so that the last ends at n
    for (int64_t begin = 0; begin <= n; begin += part) {
      for (int64_t end = begin; end <= n; end += part) {
        std::vector<T> x(n + 16), y(n + 16, untouched);
        for (int64_t i = 0; i < n + 16; ++i) x[i] = T((i * 7) % 16 - 8) / 5;
        Clip<T>(x.data() + 8, low, high, y.data() + 8, begin, end);
        for (int64_t i = -8; i < n + 8; ++i) {
          if (x[i + 8] != T(((i + 8) * 7) % 16 - 8) / 5) {
            Refuse(type, n, begin, end, "x was written");
          }
          const T found = y[i + 8];
          if (i < begin || i >= end) {
            if (found != untouched) {
              Refuse(type, n, begin, end, "an element outside was written");
            }
          } else if (found == untouched) {
            Refuse(type, n, begin, end, "an element was left out");
          } else if (found != std::min(std::max(x[i + 8], low), high)) {
            Refuse(type, n, begin, end, "a number is wrong");
          }
        }
      }
    }
  }
}

int main() {
  Try<float>("float");
  Try<double>("double");
  std::puts("right");
}
