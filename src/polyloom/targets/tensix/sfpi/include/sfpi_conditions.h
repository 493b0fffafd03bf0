// SPDX-License-Identifier: Apache-2.0
// Conditions by lane, and the macros that let statements act on enabled lanes only. A region is an object whose end
// leaves it, so that `break`, `continue` and `return` do too.
#ifndef POLYLOOM_SFPI_CONDITIONS_H
#define POLYLOOM_SFPI_CONDITIONS_H

namespace sfpi {

class vBool {
    __sfpi_m mask;

public:
    vBool(vBool const &) = default;
    vBool &operator=(vBool const &) = default;
    sfpi_inline explicit vBool(__sfpi_m value) : mask(value) {}
    template <class T>
        requires(impl_::IS_WHOLE<T> || impl_::IS_SIGNED_MAG<T>)
    sfpi_inline vBool(T const &value) : mask(__sfpi_mask_of(impl_::read<impl_::Read<T>>(value))) {}
    sfpi_inline __sfpi_m get() const { return mask; }
    sfpi_inline operator vInt() const { return __sfpi_int_of(mask); }
    sfpi_inline operator vUInt() const { return __sfpi_int_of(mask); }
};

sfpi_inline vBool operator&&(vBool a, vBool b) { return vBool(__sfpi_mask_and(a.get(), b.get())); }
sfpi_inline vBool operator||(vBool a, vBool b) { return vBool(__sfpi_mask_or(a.get(), b.get())); }
sfpi_inline vBool operator!(vBool a) { return vBool(__sfpi_mask_not(a.get())); }

// A condition whose operands are close to one another: a hint, which changes nothing here.
sfpi_inline vBool nearby(vBool condition) { return condition; }

namespace impl_ {

// Conditions by number, as the operations have them.
enum Condition { LT, LE, EQ, NE, GE, GT };

constexpr Condition mirrored(Condition condition) {
    return condition == EQ || condition == NE ? condition : Condition(5 - condition);
}

// Unsigned where one operand is and none is signed; a scalar takes the kind of the vector, and as the vendor's compiler
// has it, one on the left is compared as if it stood on the right.
template <Condition C, class A, class B>
sfpi_inline vBool compared(A const &a, B const &b) {
    if constexpr (Integer<A>) {
        return compared<mirrored(C)>(b, a);
    } else if constexpr (Floats<A, B>) {
        sfpu_t const left = read<vFloat>(a), right = read<vFloat>(b);
        return vBool(__sfpi_cmp_f(C, left, right));
    } else if constexpr (IS_INT<A> || IS_INT<B>) {
        sfpu_t const left = read<vInt>(a), right = read<vInt>(b);
        return vBool(__sfpi_cmp_i(C, left, right));
    } else {
        sfpu_t const left = read<vUInt>(a), right = read<vUInt>(b);
        return vBool(__sfpi_cmp_u(C, left, right));
    }
}

sfpi_inline sfpu_t magnitude(vSMag const &value) { return value.get(); }
template <Integer T>
sfpi_inline sfpu_t magnitude(T value) {
    return __sfpi_splat(value < 0 ? int(0x80000000u - unsigned(value)) : int(value));
}

}  // namespace impl_

#define __SFPI_COMPARISON(operator_, condition)                                     \
    template <class A, class B>                                                     \
        requires(impl_::Floats<A, B> || impl_::Wholes<A, B>)                        \
    sfpi_inline vBool operator operator_(A const &a, B const &b) {                  \
        return impl_::compared<impl_::condition>(a, b);                             \
    }
__SFPI_COMPARISON(<, LT)
__SFPI_COMPARISON(<=, LE)
__SFPI_COMPARISON(==, EQ)
__SFPI_COMPARISON(!=, NE)
__SFPI_COMPARISON(>=, GE)
__SFPI_COMPARISON(>, GT)
#undef __SFPI_COMPARISON

// Sign and magnitude are compared for equality alone.
template <class A, class B>
    requires(impl_::IS_SIGNED_MAG<A> && (impl_::IS_SIGNED_MAG<B> || impl_::Integer<B>))
sfpi_inline vBool operator==(A const &a, B const &b) {
    impl_::sfpu_t const left = impl_::magnitude(a), right = impl_::magnitude(b);
    return vBool(__sfpi_cmp_i(impl_::EQ, left, right));
}
template <class A, class B>
    requires(impl_::IS_SIGNED_MAG<A> && (impl_::IS_SIGNED_MAG<B> || impl_::Integer<B>))
sfpi_inline vBool operator!=(A const &a, B const &b) {
    impl_::sfpu_t const left = impl_::magnitude(a), right = impl_::magnitude(b);
    return vBool(__sfpi_cmp_i(impl_::NE, left, right));
}

// Conditions as numbers: 1 where they hold, 0 elsewhere. Of two conditions bits and equality are conditions again.
sfpi_inline vBool operator&(vBool a, vBool b) { return a && b; }
sfpi_inline vBool operator|(vBool a, vBool b) { return a || b; }
sfpi_inline vBool operator!=(vBool a, vBool b) { return (a && !b) || (!a && b); }
sfpi_inline vBool operator^(vBool a, vBool b) { return a != b; }
sfpi_inline vBool operator==(vBool a, vBool b) { return (a && b) || (!a && !b); }

namespace impl_ {

template <class T>
constexpr bool IS_BOOL = std::is_same_v<std::remove_cvref_t<T>, vBool>;
template <class A, class B>
concept Counted = IS_BOOL<A> && (IS_WHOLE<B> || Integer<Read<B>>);
template <class A, class B>
concept Counts = Counted<A, B> || Counted<B, A>;

template <class T>
sfpi_inline auto number(T const &value) {
    if constexpr (IS_BOOL<T>) return vInt(value);
    else return value;
}

}  // namespace impl_

#define __SFPI_COUNTING(operator_, concept_)                           \
    template <class A, class B>                                        \
        requires(concept_)                                             \
    sfpi_inline auto operator operator_(A const &a, B const &b) {      \
        return impl_::number(a) operator_ impl_::number(b);            \
    }
#define __SFPI_ALSO_BOTH impl_::Counts<A, B> || (impl_::IS_BOOL<A> && impl_::IS_BOOL<B>)
__SFPI_COUNTING(+, (__SFPI_ALSO_BOTH))
__SFPI_COUNTING(-, (__SFPI_ALSO_BOTH))
__SFPI_COUNTING(<, (__SFPI_ALSO_BOTH))
__SFPI_COUNTING(<=, (__SFPI_ALSO_BOTH))
__SFPI_COUNTING(>=, (__SFPI_ALSO_BOTH))
__SFPI_COUNTING(>, (__SFPI_ALSO_BOTH))
__SFPI_COUNTING(==, (impl_::Counts<A, B>))
__SFPI_COUNTING(!=, (impl_::Counts<A, B>))
__SFPI_COUNTING(&, (impl_::Counts<A, B>))
__SFPI_COUNTING(|, (impl_::Counts<A, B>))
__SFPI_COUNTING(^, (impl_::Counts<A, B>))
__SFPI_COUNTING(<<, (impl_::Counted<A, B>))
#undef __SFPI_ALSO_BOTH
#undef __SFPI_COUNTING

namespace impl_ {

struct Region {
    sfpi_inline Region() { __sfpi_push(); }
    sfpi_inline ~Region() { __sfpi_pop(); }
    Region(Region const &) = delete;
    sfpi_inline void where(vBool condition) const { __sfpi_cond(condition.get()); }
    sfpi_inline void narrow(vBool condition) const { __sfpi_and_(condition.get()); }
    sfpi_inline Region const &otherwise() const {
        __sfpi_else_();
        return *this;
    }
};

}  // namespace impl_
}  // namespace sfpi

// `otherwise()` comes before the condition is evaluated: C++17 [expr.call] sequences what names the function first.
#define v_if(...)                             \
    {                                         \
        ::sfpi::impl_::Region __sfpi_region;  \
        __sfpi_region.where(__VA_ARGS__);     \
        {
#define v_elseif(...)                                     \
        }                                                 \
        __sfpi_region.otherwise().where(__VA_ARGS__);     \
        {
#define v_else                        \
        }                             \
        __sfpi_region.otherwise();    \
        {
#define v_endif \
        }       \
    }
#define v_block                               \
    {                                         \
        ::sfpi::impl_::Region __sfpi_region;
#define v_and(...) __sfpi_region.narrow(__VA_ARGS__)
#define v_endblock }

#endif
