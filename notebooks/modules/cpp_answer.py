"""Compile an answer in C++ and run it in a process of its own, for lessons 07 and 12.

    judge(holds(lambda: run_cpp(answer, HARNESS), hint="…"))

A wrong answer may write where it must not, or never end: that ends the other process
and not the kernel. The harness includes none of TensorFlow's headers, so that to
compile it takes less than a second.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from custom_ops import compile_command

SECONDS = 10  # that an answer may run

# The answer is a template Clip; ranges are as Shard cuts them.
CLIP = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#line 1 "answer"
ANSWER
#line 1 "harness"
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
"""


# The answer is the loop of ZeroOut's kernel. In the place of TensorFlow's classes stand
# small ones that look at each index.
ZERO_OUT = r"""
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
#line 1 "answer"
ANSWER
#line 1 "harness"
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
"""


def run_cpp(answer, harness):
    """True where the harness finds the answer right, else the reason why not.

    Args:
        answer: C++ code, as a text; it takes the place of ANSWER in the harness.
        harness: a program that prints `right` as its last line, or else a reason.
    """
    if not isinstance(answer, str):
        return f"C++ code is a text, not {type(answer).__name__}"
    words = compile_command("zero_out.cc")
    compiler = words[: words.index("-shared")]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "answer.cc"), Path(folder, "answer")
        source.write_text(harness.replace("ANSWER", answer), "utf-8")
        compiled = subprocess.run(
            [*compiler, "-std=c++17", "-w", source, "-o", program],
            capture_output=True, text=True, errors="replace",
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if compiled.returncode:
            return first_error(compiled.stderr)
        try:
            ran = subprocess.run([program], cwd=folder, capture_output=True, text=True,
                                 errors="replace", timeout=SECONDS)  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"stopped after {SECONDS} seconds: does your loop come to an end?"
    if ran.returncode < 0:
        return "it ends the process: does it write or read where nothing is?"
    said = ran.stdout.strip().split("\n")[-1]
    return True if said == "right" else said


def first_error(said):
    """The compiler's first error, without folders and columns."""
    lines = [line for line in said.split("\n") if "error: " in line]
    if not lines:
        return "it does not compile"
    line = re.search(r"answer:(\d+)", lines[0])
    where = f" in line {line[1]}" if line else ""
    return f"it does not compile{where}: " + lines[0].split("error: ", 1)[1]
