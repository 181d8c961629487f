// The transforms of Winograd's minimal filtering in one dimension: m outputs of a filter of 3 taps
// from m + 2 inputs by m + 2 products (Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks, https://arxiv.org/abs/1509.09308). In two dimensions they are applied to columns, then
// to rows.
//
// The filter and the outputs are polynomials: their values at m + 1 points and at infinity are
// multiplied. The points fix the transforms: inputs are interpolated (B), taps and outputs
// evaluated (G, A).
#pragma once

namespace trainyard::winograd {

/// F(2, 3): 4 products in place of 6. Points 0, 1, -1.
struct TwoOutputs {
  static constexpr int kOutputs = 2;
  static constexpr int kInputs = 4;

  /// Replaces inputs by their transforms.
  template <class V>
  static void input(V (&d)[kInputs]) {
    const V d1 = d[1];
    d[0] = d[0] - d[2];
    d[1] = d[2] + d1;
    d[2] = d[2] - d1;
    d[3] = d[3] - d1;
  }
  template <class V>
  static void taps(const V (&g)[3], V (&out)[kInputs]) {
    const V half = V::all(0.5F);
    const V even = half * (g[0] + g[2]);
    out[0] = g[0];
    out[1] = fma(half, g[1], even);
    out[2] = fma(V::all(-0.5F), g[1], even);
    out[3] = g[2];
  }
  template <class V>
  static void output(const V (&m)[kInputs], V (&y)[kOutputs]) {
    y[0] = m[0] + (m[1] + m[2]);
    y[1] = (m[1] - m[2]) + m[3];
  }
};

/// F(4, 3): 6 products in place of 12. Points 0, a, -a, b, -b with a = 11/16 and b = 23/16: all
/// coefficients of B and A are exact in float, and errors are half of those with the usual points
/// 1 and 2.
struct FourOutputs {
  static constexpr int kOutputs = 4;
  static constexpr int kInputs = 6;
  static constexpr double kA = 11.0 / 16, kB = 23.0 / 16;
  static constexpr double kA2 = kA * kA, kB2 = kB * kB;

  /// Replaces inputs by their transforms.
  template <class V>
  static void input(V (&d)[kInputs]) {
    const V even_a = fma(constant<V>(-kB2), d[2], d[4]);
    const V odd_a = fma(constant<V>(-kB2), d[1], d[3]);
    const V even_b = fma(constant<V>(-kA2), d[2], d[4]);
    const V odd_b = fma(constant<V>(-kA2), d[1], d[3]);
    d[0] = fma(constant<V>(kA2 * kB2), d[0], fma(constant<V>(-kA2 - kB2), d[2], d[4]));
    d[5] = fma(constant<V>(kA2 * kB2), d[1], fma(constant<V>(-kA2 - kB2), d[3], d[5]));
    d[1] = fma(constant<V>(kA), odd_a, even_a);
    d[2] = fma(constant<V>(-kA), odd_a, even_a);
    d[3] = fma(constant<V>(kB), odd_b, even_b);
    d[4] = fma(constant<V>(-kB), odd_b, even_b);
  }
  template <class V>
  static void taps(const V (&g)[3], V (&out)[kInputs]) {
    const V scale_a = constant<V>(1 / (2 * kA2 * (kA2 - kB2)));
    const V scale_b = constant<V>(1 / (2 * kB2 * (kB2 - kA2)));
    const V even_a = fma(constant<V>(kA2), g[2], g[0]);
    const V even_b = fma(constant<V>(kB2), g[2], g[0]);
    out[0] = constant<V>(1 / (kA2 * kB2)) * g[0];
    out[1] = scale_a * fma(constant<V>(kA), g[1], even_a);
    out[2] = scale_a * fma(constant<V>(-kA), g[1], even_a);
    out[3] = scale_b * fma(constant<V>(kB), g[1], even_b);
    out[4] = scale_b * fma(constant<V>(-kB), g[1], even_b);
    out[5] = g[2];
  }
  template <class V>
  static void output(const V (&m)[kInputs], V (&y)[kOutputs]) {
    const V even_a = m[1] + m[2];
    const V odd_a = m[1] - m[2];
    const V even_b = m[3] + m[4];
    const V odd_b = m[3] - m[4];
    y[0] = m[0] + (even_a + even_b);
    y[1] = fma(constant<V>(kB), odd_b, constant<V>(kA) * odd_a);
    y[2] = fma(constant<V>(kB2), even_b, constant<V>(kA2) * even_a);
    y[3] = fma(constant<V>(kB2 * kB), odd_b, fma(constant<V>(kA2 * kA), odd_a, m[5]));
  }

 private:
  template <class V>
  static V constant(double x) {
    return V::all(static_cast<float>(x));
  }
};

/// A tile: its columns are transformed by Y, its rows by X.
template <class Y, class X>
struct TileForm {
  using Rows = Y;
  using Columns = X;
  static constexpr int kInputRows = Y::kInputs, kInputColumns = X::kInputs;
  static constexpr int kOutputRows = Y::kOutputs, kOutputColumns = X::kOutputs;
};

}  // namespace trainyard::winograd
