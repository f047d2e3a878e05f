#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "harness.hpp"
#include "inputs/ptx/exec_narrow.hpp"
#include "inputs/ptx/exec_tiny.hpp"

using namespace atl::ptx;

// Tensor cores: random matrices against a model in double, for each form.
namespace {

struct Format {
  const char* name;
  unsigned bytes;
  std::function<double(std::uint64_t)> widen;
  std::function<std::uint64_t(double)> narrow;
  bool integer = false;
  double digits = 0;  ///< relative distance of neighbours
};

std::uint64_t float_bits(double v) { return std::bit_cast<std::uint32_t>(static_cast<float>(v)); }
double float_value(std::uint64_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b)); }
template <class N> Format narrow_format(const char* name, double digits) {
  return {name,
          2,
          [](std::uint64_t b) { return N::widen(static_cast<std::uint32_t>(b)); },
          [](double v) -> std::uint64_t { return N::round(v, lane::Round::rn); },
          false,
          digits};
}
template <class N> Format tiny_format(const char* name) {
  return {name, 1, [](std::uint64_t b) { return N::widen(static_cast<std::uint32_t>(b)); },
          [](double v) -> std::uint64_t { return N::round(v); }};
}
const Format kF16 = narrow_format<lane::F16>("f16", 0x1p-10), kBf16 = narrow_format<lane::Bf16>("bf16", 0x1p-7);
const Format kF32{"f32", 4, float_value, float_bits, false, 0x1p-23};
const Format kTf32{"tf32", 4, [](std::uint64_t b) { return float_value(b & ~0x1FFFull); },
                   [](double v) { return float_bits(v) | 0x155; }};  // bits that must not count
const Format kF64{"f64",
                  8,
                  [](std::uint64_t b) { return std::bit_cast<double>(b); },
                  [](double v) { return std::bit_cast<std::uint64_t>(v); },
                  false,
                  0x1p-52};
const Format kE4m3 = tiny_format<lane::E4m3>("e4m3"), kE5m2 = tiny_format<lane::E5m2>("e5m2");
const Format kS8{"s8", 1, [](std::uint64_t b) -> double { return static_cast<std::int8_t>(b); },
                 [](double v) -> std::uint64_t { return static_cast<std::uint8_t>(static_cast<int>(v)); }, true};
const Format kU8{"u8", 1, [](std::uint64_t b) -> double { return static_cast<std::uint8_t>(b); },
                 [](double v) -> std::uint64_t { return static_cast<std::uint8_t>(static_cast<int>(v)); }, true};
const Format kS32{"s32", 4, [](std::uint64_t b) -> double { return static_cast<std::int32_t>(b); },
                  [](double v) -> std::uint64_t { return static_cast<std::uint32_t>(static_cast<std::int64_t>(v)); }, true};

struct Product {
  unsigned m, n, k;
  const Format *d, *a, *b, *c;
};

using Numbers = std::vector<double>;  // row by row

/// What a format makes of random numbers.
Numbers random_matrix(unsigned rows, unsigned columns, const Format& f, std::mt19937& random) {
  Numbers out(std::size_t{rows} * columns);
  for (double& v : out) {
    const auto r = static_cast<double>(random() % 4096) / 4096;
    v = f.widen(f.narrow(f.integer ? (f.name[0] == 'u' ? std::floor(r * 256) : std::floor(r * 256) - 128) : r * 4 - 2));
  }
  return out;
}

/// A row by row in memory, or column by column.
std::vector<std::byte> bytes_of(const Numbers& x, unsigned rows, unsigned columns, const Format& f, bool by_column) {
  std::vector<std::byte> out(x.size() * f.bytes);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < columns; ++c) {
      const std::uint64_t bits = f.narrow(x[r * columns + c]);
      std::memcpy(&out[std::size_t{by_column ? c * rows + r : r * columns + c} * f.bytes], &bits, f.bytes);
    }
  return out;
}

void compare(const Product& form, const Numbers& a, const Numbers& b, const Numbers& c,
             const std::function<std::uint64_t(unsigned, unsigned)>& result) {
  for (unsigned row = 0; row < form.m; ++row)
    for (unsigned column = 0; column < form.n; ++column) {
      double sum = c[row * form.n + column], size = std::fabs(sum);
      for (unsigned k = 0; k < form.k; ++k) {
        const double product = a[row * form.k + k] * b[k * form.n + column];
        sum += product, size += std::fabs(product);
      }
      const double got = form.d->widen(result(row, column));
      CAPTURE(row);
      CAPTURE(column);
      CHECK(std::fabs(got - sum) <= size * form.d->digits);  // of integers nothing may be lost
    }
}

/// The 32-bit (f64: 64-bit) registers of 32 lanes, filled from (lane, element) -> bits.
std::vector<std::byte> registers_of(unsigned elements, const Format& f,
                                    const std::function<double(unsigned, unsigned)>& of) {
  std::vector<std::byte> out(std::size_t{32} * elements * f.bytes);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned e = 0; e < elements; ++e) {
      const std::uint64_t bits = f.narrow(of(l, e));
      std::memcpy(&out[(std::size_t{l} * elements + e) * f.bytes], &bits, f.bytes);
    }
  return out;
}

struct Operands {
  std::string text, names;
};
/// Declares and loads `bytes` bytes per lane from parameter p as registers.
Operands loaded(const std::string& name, unsigned bytes, const Format& f) {
  const unsigned width = f.bytes == 8 ? 8 : 4;
  Operands o;
  const std::string type = f.bytes == 8 ? "f64" : &f == &kF32 ? "f32" : "b32";
  o.text = ".reg ." + type + " %" + name + "<" + std::to_string(bytes / width) + ">; .reg .b64 %p" + name +
           ";\nld.param.u64 %p" + name + ",[" + name + "]; mad.lo.u64 %p" + name + ",%lane," + std::to_string(bytes) +
           ",%p" + name + ";\n";
  for (unsigned n = 0; n < bytes / width; ++n) {
    const std::string reg = "%" + name + std::to_string(n);
    o.names += (n == 0 ? "{" : ",") + reg;
    o.text += "ld.global." + type + " " + reg + ",[%p" + name + "+" + std::to_string(n * width) + "];\n";
  }
  o.names += "}";
  return o;
}

void check_mma(const Product& f, unsigned seed) {
  std::mt19937 random(seed);
  const Numbers a = random_matrix(f.m, f.k, *f.a, random), b = random_matrix(f.k, f.n, *f.b, random),
                c = random_matrix(f.m, f.n, *f.c, random);
  // The figures of the PTX ISA: group = lane / 4, thread = lane % 4.
  const unsigned unit = f.a->bytes == 8 ? 1 : 4 / f.a->bytes;
  const auto a_at = [&](unsigned l, unsigned i) {
    const unsigned reg = i / unit;
    const unsigned row = l / 4 + (f.m == 16 && reg % 2 == 1 ? 8 : 0);
    const unsigned block = f.m == 16 ? reg / 2 : reg;
    return a[row * f.k + block * 4 * unit + l % 4 * unit + i % unit];
  };
  const auto b_at = [&](unsigned l, unsigned i) { return b[(i / unit * 4 * unit + l % 4 * unit + i % unit) * f.n + l / 4]; };
  const auto row_of = [](unsigned l, unsigned i) { return l / 4 + (i < 2 ? 0 : 8); };
  const auto c_at = [&](unsigned l, unsigned i) { return c[row_of(l, i) * f.n + l % 4 * 2 + i % 2]; };
  auto ra = registers_of(f.m * f.k / 32, *f.a, a_at), rb = registers_of(f.k * f.n / 32, *f.b, b_at);
  auto rc = registers_of(f.m * f.n / 32, *f.c, c_at);
  std::vector<std::byte> rd(std::size_t{f.m} * f.n * f.d->bytes);
  const auto of = [&](const char* name, std::size_t bytes, const Format& t) {
    return loaded(name, static_cast<unsigned>(bytes / 32), t);
  };
  const Operands oa = of("a", ra.size(), *f.a), ob = of("b", rb.size(), *f.b), oc = of("c", rc.size(), *f.c);
  const Operands od = of("d", rd.size(), *f.d);
  const std::string shape = "m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
  const std::string form =
      "mma.sync.aligned." + shape + ".row.col." + f.d->name + "." + f.a->name + "." + f.b->name + "." + f.c->name;
  CAPTURE(form);
  std::string text = kHeader +
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{ .reg .b32 %l; " +
                     ".reg .b64 %lane; mov.u32 %l,%tid.x; cvt.u64.u32 %lane,%l;\n" + oa.text + ob.text + oc.text + od.text +
                     form + " " + od.names + "," + oa.names + "," + ob.names + "," + oc.names + ";\n";
  const unsigned width = f.d->bytes == 8 ? 8 : 4;
  for (unsigned n = 0; n < rd.size() / 32 / width; ++n)
    text += "st.global.b" + std::to_string(8 * width) + " [%pd+" + std::to_string(n * width) + "],%d" + std::to_string(n) +
            ";\n";
  Harness h(text + "ret; }");
  h.run("k", 1, 32, h.buffer(ra), h.buffer(rb), h.buffer(rc), h.buffer(rd));
  compare(f, a, b, c, [&](unsigned row, unsigned column) {
    const unsigned lane = row % 8 * 4 + column / 2, element = row / 8 * 2 + column % 2;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &rd[(std::size_t{lane} * (f.m * f.n / 32) + element) * f.d->bytes], f.d->bytes);
    return bits;
  });
}

std::string registers(const std::string& name, unsigned count) {
  std::string text = "{";
  for (unsigned n = 0; n < count; ++n) text += (n == 0 ? "%" : ",%") + name + std::to_string(n);
  return text + "}";
}

/// Through shared or global memory, with every layout.
void check_wmma(const Product& f, const char* layouts, const std::string& space, unsigned seed) {
  std::mt19937 random(seed);
  const Numbers a = random_matrix(f.m, f.k, *f.a, random), b = random_matrix(f.k, f.n, *f.b, random),
                c = random_matrix(f.m, f.n, *f.c, random);
  const bool a_col = layouts[0] == 'c', b_col = layouts[1] == 'c', c_col = layouts[2] == 'c';
  auto ma = bytes_of(a, f.m, f.k, *f.a, a_col), mb = bytes_of(b, f.k, f.n, *f.b, b_col),
       mc = bytes_of(c, f.m, f.n, *f.c, c_col);
  std::vector<std::byte> md(std::size_t{f.m} * f.n * f.d->bytes);
  const std::string shape = "m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
  const auto word = [](bool col) { return std::string(col ? "col" : "row"); };
  const bool half = f.a == &kF16;
  const auto count = [&](unsigned rows, unsigned columns, const Format& t, bool input) {
    if (half && input) return 8u;
    return rows * columns * t.bytes / 32 / (t.bytes == 8 ? 8 : 4);
  };
  const auto reg = [](const Format& t) { return std::string(t.bytes == 8 ? "f64" : &t == &kF32 ? "f32" : "b32"); };
  const std::string na = registers("a", count(f.m, f.k, *f.a, true)), nb = registers("b", count(f.k, f.n, *f.b, true));
  const std::string nc = registers("c", count(f.m, f.n, *f.c, false)), nd = registers("d", count(f.m, f.n, *f.d, false));
  const std::string types = half ? std::string(".") + f.d->name + "." + f.c->name
                                 : std::string(".") + f.d->name + "." + f.a->name + "." + f.b->name + "." + f.c->name;
  const std::string form = "wmma.mma.sync.aligned." + word(a_col) + "." + word(b_col) + "." + shape + types;
  CAPTURE(form);
  CAPTURE(layouts);
  const auto load = [&](const char* what, const std::string& names, bool col, const Format& t, unsigned stride) {
    return "wmma.load." + std::string(what) + ".sync.aligned." + word(col) + "." + shape + "." + space + "." + t.name + " " +
           names + ",[%r" + what + "]," + std::to_string(stride) + ";\n";
  };
  std::string text = kHeader + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{ " +
                     ".reg ." + reg(*f.a) + " %a<9>; .reg ." + reg(*f.b) + " %b<9>; .reg ." + reg(*f.c) + " %c<9>; .reg ." +
                     reg(*f.d) + " %d<9>; .reg .b64 %ra,%rb,%rc,%rd;\n" +
                     "ld.param.u64 %ra,[a]; ld.param.u64 %rb,[b]; ld.param.u64 %rc,[c]; ld.param.u64 %rd,[d];\n" +
                     load("a", na, a_col, *f.a, a_col ? f.m : f.k) + load("b", nb, b_col, *f.b, b_col ? f.k : f.n) +
                     load("c", nc, c_col, *f.c, c_col ? f.m : f.n) + form + " " + nd + "," + na + "," + nb + "," + nc +
                     ";\n" + "wmma.store.d.sync.aligned." + word(c_col) + "." + shape + "." + space + "." + f.d->name +
                     " [%rd]," + nd + "," + std::to_string(c_col ? f.m : f.n) + ";\nret; }";
  Harness h(text);
  h.run("k", 1, 32, h.buffer(ma), h.buffer(mb), h.buffer(mc), h.buffer(md));
  compare(f, a, b, c, [&](unsigned row, unsigned column) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &md[std::size_t{c_col ? column * f.m + row : row * f.n + column} * f.d->bytes], f.d->bytes);
    return bits;
  });
}

}  // namespace

TEST_CASE("mma.sync multiplies random matrices as the ISA's figures lay them out, in each form") {
  std::vector<Product> forms;
  for (const unsigned k : {8u, 16u})
    for (const Format* d : {&kF16, &kF32}) forms.push_back({16, 8, k, d, &kF16, &kF16, d});
  for (const unsigned k : {8u, 16u}) forms.push_back({16, 8, k, &kF32, &kBf16, &kBf16, &kF32});
  for (const unsigned k : {4u, 8u}) forms.push_back({16, 8, k, &kF32, &kTf32, &kTf32, &kF32});
  for (const unsigned k : {4u, 8u, 16u}) forms.push_back({16, 8, k, &kF64, &kF64, &kF64, &kF64});
  forms.push_back({8, 8, 4, &kF64, &kF64, &kF64, &kF64});
  for (const Format* a : {&kS8, &kU8})
    for (const Format* b : {&kS8, &kU8}) {
      for (const unsigned k : {16u, 32u}) forms.push_back({16, 8, k, &kS32, a, b, &kS32});
      forms.push_back({8, 8, 16, &kS32, a, b, &kS32});
    }
  for (const Format* a : {&kE4m3, &kE5m2})
    for (const Format* b : {&kE4m3, &kE5m2})
      for (const unsigned k : {16u, 32u}) forms.push_back({16, 8, k, &kF32, a, b, &kF32});
  forms.push_back({16, 8, 32, &kF16, &kE4m3, &kE4m3, &kF16});
  CHECK(forms.size() == 33);
  for (std::size_t n = 0; n < forms.size(); ++n) check_mma(forms[n], static_cast<unsigned>(n));
}

TEST_CASE("wmma loads, multiplies and stores random matrices in every layout") {
  std::vector<Product> forms;
  for (const auto& [m, n] : {std::pair{16u, 16u}, {32u, 8u}, {8u, 32u}}) {
    for (const Format* d : {&kF16, &kF32})
      for (const Format* c : {&kF16, &kF32}) forms.push_back({m, n, 16, d, &kF16, &kF16, c});
    forms.push_back({m, n, 16, &kF32, &kBf16, &kBf16, &kF32});
    for (const Format* a : {&kS8, &kU8}) forms.push_back({m, n, 16, &kS32, a, a, &kS32});
  }
  forms.push_back({16, 16, 8, &kF32, &kTf32, &kTf32, &kF32});
  forms.push_back({8, 8, 4, &kF64, &kF64, &kF64, &kF64});
  unsigned seed = 0;
  for (const Product& f : forms)
    for (const char* layouts : {"rrr", "rcr", "crc", "ccc", "rcc"}) check_wmma(f, layouts, "global", ++seed);
}

TEST_CASE("sums of bytes saturate where the instruction says so, and wrap around elsewhere") {
  const auto sum = [](const std::string& sat) {
    Harness h(kHeader + ".visible .entry k(.param .u64 d)\n{ .reg .b32 %r<9>; .reg .b64 %rd<2>; ld.param.u64 %rd0,[d];\n" +
              "mov.u32 %r0,0x7f7f7f7f; mov.u32 %r1,0x7fffff00;\nmma.sync.aligned.m8n8k16.row.col" + sat +
              ".s32.s8.s8.s32 {%r2,%r3},{%r0},{%r0},{%r1,%r1};\nst.global.u32 [%rd0],%r2; ret; }");
    std::vector<std::int32_t> out(1);
    h.run("k", 1, 32, h.buffer(out));
    return out[0];
  };
  CHECK(sum(".satfinite") == 0x7FFFFFFF);
  CHECK(sum("") == static_cast<std::int32_t>(0x7FFFFF00u + 16 * 127 * 127));
}

TEST_CASE("ldmatrix, stmatrix and movmatrix move and turn matrices of 8 x 8") {
  for (const bool turns : {false, true})
    for (const unsigned count : {1u, 2u, 4u}) {
      const std::string trans = turns ? ".trans" : "", regs = registers("r1", count);
      const std::string x = ".x" + std::to_string(count);
      Harness h(
          kHeader +
          ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 back)\n{ .reg .b32 %r<30>; .reg .b64 %rd<9>;" +
          " .shared .align 16 .b8 s[1024];\nld.param.u64 %rd0,[in]; ld.param.u64 %rd1,[out]; ld.param.u64 %rd2,[back]; " +
          "mov.u32 %r0,%tid.x; mul.wide.u32 %rd3,%r0,16; add.s64 %rd4,%rd0,%rd3; mov.u32 %r1,s; mad.lo.u32 "
          "%r2,%r0,16,%r1;\n" +
          "ld.global.v4.b32 {%r3,%r4,%r5,%r6},[%rd4]; st.shared.v4.b32 [%r2],{%r3,%r4,%r5,%r6}; bar.warp.sync -1;\n" +
          "mov.u32 %r10,0; mov.u32 %r11,0; mov.u32 %r12,0; mov.u32 %r13,0;\n" + "ldmatrix.sync.aligned.m8n8" + x + trans +
          ".shared.b16 " + regs + ",[%r2];\nadd.s64 %rd5,%rd1,%rd3; st.global.v4.b32 [%rd5],{%r10,%r11,%r12,%r13};\n" +
          "stmatrix.sync.aligned.m8n8" + x + trans + ".shared.b16 [%r2+512]," + regs + "; bar.warp.sync -1;\n" +
          "ld.shared.v4.b32 {%r3,%r4,%r5,%r6},[%r2+512]; add.s64 %rd6,%rd2,%rd3; st.global.v4.b32 "
          "[%rd6],{%r3,%r4,%r5,%r6};\n" +
          "ret; }");
      std::vector<std::uint16_t> in(256), out(256), back(256);
      for (unsigned n = 0; n < 256; ++n) in[n] = static_cast<std::uint16_t>(1000 + n);
      h.run("k", 1, 32, h.buffer(in), h.buffer(out), h.buffer(back));
      for (unsigned l = 0; l < 32; ++l)
        for (unsigned m = 0; m < count; ++m)
          for (unsigned half = 0; half < 2; ++half) {
            const unsigned row = l / 4, column = l % 4 * 2 + half;
            const unsigned from = turns ? column * 8 + row : row * 8 + column;
            CHECK(out[l * 8 + m * 2 + half] == in[m * 64 + from]);
          }
      for (unsigned n = 0; n < 256; ++n) CHECK(back[n] == (n < 64 * count ? in[n] : 0));  // what was taken is put back
    }
  Harness h(kHeader + ".visible .entry k(.param .u64 out)\n{ .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd0,[out]; " +
            "mov.u32 %r0,%tid.x; mad.lo.u32 %r1,%r0,0x20002,0x10000; movmatrix.sync.aligned.m8n8.trans.b16 %r2,%r1; " +
            "mul.wide.u32 %rd1,%r0,4; add.s64 %rd2,%rd0,%rd1; st.global.u32 [%rd2],%r2; ret; }");
  std::vector<std::uint16_t> out(64);
  h.run("k", 1, 32, h.buffer(out));
  for (unsigned n = 0; n < 64; ++n) CHECK(out[n] == n % 8 * 8 + n / 8);
}

TEST_CASE("a part of a warp cannot multiply matrices") {
  Harness h(
      kHeader +
      ".visible .entry k(.param .u64 out)\n{ .reg .f64 %f<9>; .reg .b32 %r<2>; .reg .pred %p; mov.u32 %r0,%tid.x; " +
      "setp.gt.u32 %p,%r0,7; @%p bra DONE; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f0,%f1},{%f2},{%f3},{%f4,%f5}; "
      "DONE: ret; }");
  CHECK_THROWS_WITH_AS(h.run("k", 1, 32, std::uint64_t{0}), doctest::Contains("all 32 lanes"), ExecutionError);
}

TEST_CASE("forms that tensor cores do not have are refused by name") {
  for (const std::string form :
       {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n16k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32"}) {
    Harness h(kHeader + ".visible .entry k(.param .u64 x)\n{ .reg .f32 %d<4>; .reg .b32 %r<9>; " + form +
              " {%d0,%d1,%d2,%d3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%d0,%d1,%d2,%d3}; ret; }");
    CHECK_THROWS_WITH_AS(h.run("k", 1, 32, std::uint64_t{0}), doctest::Contains(form.c_str()), atl::InputError);
  }
}
