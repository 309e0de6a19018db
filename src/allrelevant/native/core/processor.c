/* Instruction set of the processor.
 *
 * The core is compiled for every processor of the platform and, on x86-64, again for the
 * microarchitecture levels x86-64-v3 (AVX2) and x86-64-v4 (AVX-512). The loader asks this function,
 * in the first of these libraries, which one to use. The levels are defined in the System V ABI for
 * x86-64. The operating system must also save the wide registers, which XCR0 tells.
 */
#include "core.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* Return whether all of the given bits are set. */
static int has(uint32_t flags, uint32_t bits) { return (flags & bits) == bits; }

#define BIT(k) (UINT32_C(1) << (k))

int32_t ar_vector_level(void) {
    uint32_t a, b, c, d, saved;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C */
    if (!has(c, BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29))) return 1;
    __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    if (!has(saved, BIT(1) | BIT(2))) return 1;                                 /* XMM, YMM */
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, BIT(5))) return 1;  /* LZCNT */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 1;
    if (!has(b, BIT(3) | BIT(5) | BIT(8))) return 1;                            /* BMI1, AVX2, BMI2 */
    int saves_wide = has(saved, BIT(5) | BIT(6) | BIT(7));                      /* masks, ZMM */
    /* AVX512F, AVX512DQ, AVX512CD, AVX512BW, AVX512VL */
    return saves_wide && has(b, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)) ? 4 : 3;
}

#else

int32_t ar_vector_level(void) { return 1; }

#endif
