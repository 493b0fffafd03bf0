// SPDX-License-Identifier: Apache-2.0
// What a kernel names of the machine: rows of Dst, the registers L0 to L7, the constant registers.
#ifndef POLYLOOM_SFPI_REGISTERS_H
#define POLYLOOM_SFPI_REGISTERS_H

namespace sfpi {

// How 32 datums lie in Dst; Default is what the vector's type suggests.
enum class DataLayout { Default, FSrcB, F32, F16a, F16b, I32, U32, U16, SM32, SM16, M32, LO16, HI16 };

enum class LRegs : std::uint8_t { LReg0, LReg1, LReg2, LReg3, LReg4, LReg5, LReg6, LReg7, LRegCount };

namespace impl_ {

#ifdef ARCH_BLACKHOLE
constexpr int STILL = 7;
constexpr DataLayout SIGNED_LAYOUT = DataLayout::I32;
#else
constexpr int STILL = 3;
constexpr DataLayout SIGNED_LAYOUT = DataLayout::SM32;
#endif

// The layout that a type has by itself.
template <class T>
sfpi_inline constexpr DataLayout layout_of() {
    if constexpr (Derived<T, vFloat16a>) return DataLayout::F16a;
    else if constexpr (Derived<T, vFloat16b>) return DataLayout::F16b;
    else if constexpr (Derived<T, vFloat>) return DataLayout::FSrcB;
    else if constexpr (Derived<T, vInt>) return SIGNED_LAYOUT;
    else if constexpr (Derived<T, vUInt16>) return DataLayout::U16;
    else if constexpr (Derived<T, vMag>) return DataLayout::M32;
    else if constexpr (Derived<T, vUInt>) return DataLayout::U32;
    else if constexpr (Derived<T, vSMag16>) return DataLayout::SM16;
    else return DataLayout::SM32;
}

// The mode of SFPLOAD and SFPSTORE for a type in a layout; -1 where the two do not fit.
template <class T, DataLayout L>
sfpi_inline constexpr int mode_of() {
    constexpr DataLayout layout = L == DataLayout::Default ? layout_of<T>() : L;
    constexpr bool is_float = Derived<T, vFloat>, is_int = Derived<T, vInt>, is_unsigned = Derived<T, vUInt>;
    switch (layout) {
        case DataLayout::FSrcB: return is_float ? 0 : -1;
        case DataLayout::F16a: return is_float && !Derived<T, vFloat16b> ? 1 : -1;
        case DataLayout::F16b: return is_float && !Derived<T, vFloat16a> ? 2 : -1;
        case DataLayout::F32: return is_float ? 3 : -1;
        case DataLayout::I32:
#ifdef ARCH_BLACKHOLE
            return is_int || (Derived<T, vSMag> && !Derived<T, vSMag16>) ? 4 : -1;
#else
            return is_int ? 4 : Derived<T, vSMag> && !Derived<T, vSMag16> ? 12 : -1;
#endif
        case DataLayout::U32: return is_unsigned ? 4 : -1;
        case DataLayout::M32: return Derived<T, vMag> ? 4 : -1;
        case DataLayout::U16: return is_unsigned ? 6 : -1;
        case DataLayout::HI16: return is_unsigned ? 7 : -1;
        case DataLayout::LO16: return is_unsigned ? 9 : -1;
        case DataLayout::SM16: return Derived<T, vSMag> ? 8 : -1;
        case DataLayout::SM32:
#ifdef ARCH_BLACKHOLE
            return is_int || Derived<T, vSMag> ? 4 : -1;
#else
            return is_int ? 12 : Derived<T, vSMag> ? 4 : -1;
#endif
        default: return -1;
    }
}

// Blackhole has no mode that turns sign and magnitude into an integer, or back: these two operations do it.
sfpi_inline sfpu_t to_magnitude(sfpu_t value);
sfpi_inline sfpu_t from_magnitude(sfpu_t value);

#ifdef ARCH_BLACKHOLE
template <class T, DataLayout L>
constexpr bool FROM_MAGNITUDE = Derived<T, vInt> && L == DataLayout::SM32;
template <class T, DataLayout L>
constexpr bool TO_MAGNITUDE = Derived<T, vSMag> && L == DataLayout::I32;
#else
template <class T, DataLayout L>
constexpr bool FROM_MAGNITUDE = false;
template <class T, DataLayout L>
constexpr bool TO_MAGNITUDE = false;
#endif

template <Vector T>
class ConstantRegister;
template <class T>
constexpr bool IS_CONSTANT = false;
template <Vector T>
constexpr bool IS_CONSTANT<ConstantRegister<T>> = true;

template <class T, DataLayout L>
concept Fits = Vector<T> && mode_of<T, L>() >= 0;

}  // namespace impl_

// 32 datums of Dst. Reading one loads them, assigning to one stores them.
template <DataLayout L = DataLayout::Default>
class Datums {
    int address;
    int addrmod;

public:
    sfpi_inline constexpr explicit Datums(int where, int mode = impl_::STILL) : address(where), addrmod(mode) {}
    Datums(Datums const &) = default;
    sfpi_inline constexpr int get() const { return address; }

    template <DataLayout New = DataLayout::Default>
    sfpi_inline constexpr Datums<New == DataLayout::Default ? L : New> mode(int other = -1) const {
        return Datums<New == DataLayout::Default ? L : New>(address, other < 0 ? addrmod : other);
    }

    template <class T>
        requires impl_::Fits<T, L>
    sfpi_inline operator T() const {
        impl_::sfpu_t const found = __sfpi_load(impl_::mode_of<T, L>(), addrmod, address);
        if constexpr (impl_::FROM_MAGNITUDE<T, L>) return T(impl_::from_magnitude(found));
        else if constexpr (impl_::TO_MAGNITUDE<T, L>) return T(impl_::to_magnitude(found));
        else return T(found);
    }
    template <class T>
        requires impl_::Fits<T, L>
    sfpi_inline void operator=(T const &value) const {
        impl_::sfpu_t given = value.get();
        if constexpr (impl_::FROM_MAGNITUDE<T, L>) given = impl_::to_magnitude(given);
        if constexpr (impl_::TO_MAGNITUDE<T, L>) given = impl_::from_magnitude(given);
        __sfpi_store(given, impl_::mode_of<T, L>(), addrmod, address);
    }
    template <impl_::Scalar T>
    sfpi_inline void operator=(T value) const {
        *this = vFloat(value);
    }
    template <DataLayout Other>
    sfpi_inline void operator=(Datums<Other> const &other) const {
        *this = vFloat(other);
    }
    sfpi_inline void operator=(Datums const &other) const { *this = vFloat(other); }
    template <class T>
        requires impl_::IS_CONSTANT<T>
    sfpi_inline void operator=(T const &value) const {
        *this = value.get();
    }
    sfpi_inline void operator=(sFloat16a value) const { *this = vFloat(value); }
    sfpi_inline void operator=(sFloat16b value) const { *this = vFloat(value); }
    template <class T>
    sfpi_inline void operator+=(T const &other) const {
        *this = *this + other;
    }
    template <class T>
    sfpi_inline void operator-=(T const &other) const {
        *this = *this - other;
    }
    template <class T>
    sfpi_inline void operator*=(T const &other) const {
        *this = *this * other;
    }
};

namespace impl_ {

struct DstFile {
    sfpi_inline constexpr Datums<> operator[](int index) const { return Datums<>(2 * index); }
    sfpi_inline void operator+=(int count) const { __sfpi_word(0x38000000 | ((2 * count & 15) << 14)); }
    sfpi_inline void operator++() const { *this += 1; }
    sfpi_inline void operator++(int) const { *this += 1; }
};

// A register L0 to L7 by its number: what it holds at entry, or what was written into it last.
class Register {
    int number;

public:
    sfpi_inline constexpr explicit Register(int which) : number(which) {}
    Register(Register const &) = default;
    sfpi_inline constexpr int get() const { return number; }
    sfpi_inline operator sfpu_t() const { return __sfpi_lreg_read(number); }
    template <Vector T>
    sfpi_inline operator T() const {
        return T(__sfpi_lreg_read(number));
    }
    template <Vector T>
    sfpi_inline void operator=(T const &value) const {
        __sfpi_lreg_write(number, value.get());
    }
    sfpi_inline void operator=(float value) const { *this = vFloat(value); }
    template <Integer T>
    sfpi_inline void operator=(T value) const {
        *this = vInt(value);
    }
    template <DataLayout L>
    sfpi_inline void operator=(Datums<L> const &value) const {
        *this = vFloat(value);
    }
    sfpi_inline void operator=(Register const &other) const { __sfpi_lreg_write(number, __sfpi_lreg_read(other.number)); }
    sfpi_inline void in_use() const { *this = *this; }
};

struct RegisterFile {
    sfpi_inline constexpr Register operator[](LRegs which) const { return Register(int(which)); }
};

// A constant register, read as a vector of one type.
template <Vector T>
class ConstantRegister {
    int number;

public:
    sfpi_inline constexpr explicit ConstantRegister(int which) : number(which) {}
    ConstantRegister(ConstantRegister const &) = default;
    sfpi_inline T get() const { return T(__sfpi_config_read(number)); }
    sfpi_inline operator T() const { return get(); }
    template <Vector To>
        requires(!std::is_same_v<To, T> && !Derived<To, vBool>)
    sfpi_inline explicit operator To() const {
        return To(get());
    }
    template <class U>
        requires std::is_constructible_v<T, U const &>
    sfpi_inline void operator=(U const &value) const {
        __sfpi_config_write(number, T(value).get());
    }
    sfpi_inline void operator=(ConstantRegister const &other) const { __sfpi_config_write(number, T(other).get()); }
};

template <class T>
constexpr bool IS_DATUMS = false;
template <DataLayout L>
constexpr bool IS_DATUMS<Datums<L>> = true;

}  // namespace impl_

inline constexpr impl_::DstFile dst_reg;
inline constexpr impl_::RegisterFile l_reg;

inline constexpr impl_::ConstantRegister<vFloat> vConst0p8373(8);
inline constexpr impl_::ConstantRegister<vFloat> vConst0(9);
inline constexpr impl_::ConstantRegister<vFloat> vConst1(10);
inline constexpr impl_::ConstantRegister<vFloat> vConstNeg1(11);
inline constexpr impl_::ConstantRegister<vFloat> vConstFloatPrgm0(12);
inline constexpr impl_::ConstantRegister<vFloat> vConstFloatPrgm1(13);
inline constexpr impl_::ConstantRegister<vFloat> vConstFloatPrgm2(14);
inline constexpr impl_::ConstantRegister<vInt> vConstIntPrgm0(12);
inline constexpr impl_::ConstantRegister<vInt> vConstIntPrgm1(13);
inline constexpr impl_::ConstantRegister<vInt> vConstIntPrgm2(14);
inline constexpr impl_::ConstantRegister<vInt> vConstTileId(15);

// The bits of what is read as a vector, as those of a type.
template <Vector T, class From>
    requires(!Vector<From>)
sfpi_inline T as(From const &value) {
    if constexpr (impl_::IS_CONSTANT<From>) return T(value.get().get());
    else return T(value);
}

// Scopes that tell the vendor's compiler about registers. Here they change nothing.
struct lreg_pressure {
    sfpi_inline lreg_pressure() {}
};

}  // namespace sfpi

#endif
