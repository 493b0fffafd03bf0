# SPDX-License-Identifier: Apache-2.0
"""Reserved names of C's library: functions that compilers take for what the library's do, whoever defines them (C17,
section 7.1.3).

These are the names in the headers of musl for which clang 22's `__has_builtin` holds, for x86-64 or RISC-V.
"""

from __future__ import annotations

from typing import Final

_NAMES: Final = """
abort abs acos acosf acosh acoshf acoshl acosl aligned_alloc alloca asin asinf asinh asinhf asinhl asinl atan
atan2 atan2f atan2l atanf atanh atanhf atanhl atanl bcmp bcopy bzero cabs cabsf cabsl cacos cacosf cacosh
cacoshf cacoshl cacosl calloc carg cargf cargl casin casinf casinh casinhf casinhl casinl catan catanf catanh
catanhf catanhl catanl cbrt cbrtf cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf ceill cexp cexpf cexpl
cimag cimagf cimagl clog clogf clogl conj conjf conjl copysign copysignf copysignl cos cosf cosh coshf coshl
cosl cpow cpowf cpowl cproj cprojf cprojl creal crealf creall csin csinf csinh csinhf csinhl csinl csqrt
csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl erf erfc erfcf erfcl erff erfl exit exp exp2 exp2f exp2l
expf expl expm1 expm1f expm1l fabs fabsf fabsl fdim fdimf fdiml finite finitef floor floorf floorl fma fmaf
fmal fmax fmaxf fmaxl fmin fminf fminl fmod fmodf fmodl fopen fprintf fread free frexp frexpf frexpl fscanf
fwrite getcontext hypot hypotf hypotl ilogb ilogbf ilogbl index isalnum isalpha isblank iscntrl isdigit
isgraph islower isprint ispunct isspace isupper isxdigit labs ldexp ldexpf ldexpl lgamma lgammaf lgammal llabs
llrint llrintf llrintl llround llroundf llroundl log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l
logb logbf logbl logf logl longjmp lrint lrintf lrintl lround lroundf lroundl malloc memalign memccpy memchr
memcmp memcpy memmove mempcpy memset modf modff modfl nan nanf nanl nearbyint nearbyintf nearbyintl nextafter
nextafterf nextafterl nexttoward nexttowardf nexttowardl pow powf powl printf pthread_create realloc remainder
remainderf remainderl remquo remquof remquol rindex rint rintf rintl round roundf roundl scalbln scalblnf
scalblnl scalbn scalbnf scalbnl scanf setjmp siglongjmp sigsetjmp sin sincos sincosf sincosl sinf sinh sinhf
sinhl sinl snprintf sprintf sqrt sqrtf sqrtl sscanf stpcpy stpncpy strcasecmp strcat strchr strcmp strcpy
strcspn strdup strerror strlcat strlcpy strlen strncasecmp strncat strncmp strncpy strndup strpbrk strrchr
strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm tan tanf tanh tanhf tanhl
tanl tgamma tgammaf tgammal tolower toupper trunc truncf truncl vfork vfprintf vfscanf vprintf vscanf
vsnprintf vsprintf vsscanf wcschr wcscmp wcslen wcsncmp wmemchr wmemcmp wmemcpy wmemmove
"""
FUNCTIONS: Final = frozenset(_NAMES.split())
