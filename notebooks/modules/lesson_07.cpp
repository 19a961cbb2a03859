// Tries the answer to exercise 2 of lesson 07, the loop of ZeroOut's kernel. In the
// place of TensorFlow's classes stand small ones that look at each index.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
struct Values {
  T* start;
  int64_t n;
  T& operator()(int64_t i) const {
    if (i < 0 || i >= n) {
      std::printf("index %d, but the vector has %d elements\n", int(i), int(n));
      std::fflush(stdout);
      std::_Exit(1);
    }
    return start[i];
  }
  T* data() const { return start; }
  int64_t size() const { return n; }
  int64_t dimension(int) const { return n; }
  void setConstant(T value) const { std::fill(start, start + n, value); }
  void setZero() const { setConstant(T(0)); }
};

struct TensorShape {
  int64_t n;
  int dims() const { return 1; }
  int64_t dim_size(int) const { return n; }
  int64_t num_elements() const { return n; }
};

struct Tensor {
  void* start;
  int64_t n;
  int dims() const { return 1; }
  int64_t NumElements() const { return n; }
  int64_t dim_size(int) const { return n; }
  TensorShape shape() const { return {n}; }
  template <typename T>
  Values<const T> vec() const { return {static_cast<const T*>(start), n}; }
  template <typename T>
  Values<const T> flat() const { return vec<T>(); }
  template <typename T>
  Values<T> vec() { return {static_cast<T*>(start), n}; }
  template <typename T>
  Values<T> flat() { return vec<T>(); }
};

template <typename T>
void Loop(const Tensor& x, Tensor* y, Tensor* indices, Values<T> y_values,
          Values<int32_t> index_values) {
#include "answer"
}

template <typename T>
void Try(const char* type) {
  for (int n : {3, 1, 2, 6, 300}) {
    std::vector<T> x(n), y(n + 16, T(77));
    std::vector<int32_t> indices(n + 16, 77);
    // The last of three is neither the largest nor the smallest.
    for (int i = 0; i < n; ++i) x[i] = T((i * 7 + 4) % 5 - 2) / T(1.7);
    Tensor y_tensor{y.data() + 8, n}, index_tensor{indices.data() + 8, n};
    Loop<T>({x.data(), n}, &y_tensor, &index_tensor, y_tensor.vec<T>(),
            index_tensor.vec<int32_t>());
    for (int i = -8; i < n + 8; ++i) {
      if ((i < 0 || i >= n) && (y[i + 8] != T(77) || indices[i + 8] != 77)) {
        std::printf("index %d was written, but the vector has %d elements\n", i, n);
        std::fflush(stdout);
        std::_Exit(1);
      }
    }
    for (int i = 0; i < n; ++i) {
      const T wanted = i == n - 1 ? x[i] : T(0);
      const char* what = indices[i + 8] != i ? "indices"
                         : y[i + 8] != wanted ? "y" : nullptr;
      if (what) {
        std::printf("%s, %d elements: %s is wrong at element %d\n", type, n, what, i);
        std::fflush(stdout);
        std::_Exit(1);
      }
    }
  }
}

int main() {
  Try<float>("float");
  Try<double>("double");
  Try<int32_t>("int32");
  std::puts("right");
}
