/* Instruction set of the processor.
 *
 * The core is compiled for every processor of the platform and, on x86-64, again for the
 * microarchitecture level x86-64-v3 (AVX2). The loader calls this function of the first library to
 * choose between the two. The levels are defined in the System V ABI for x86-64. The operating
 * system must also save the wide registers, as the control register XCR0 states.
 */
#include "core.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* Return whether all of the given bits are set. */
static int has(uint32_t flags, uint32_t bits) { return (flags & bits) == bits; }

#define BIT(k) (UINT32_C(1) << (k))

int32_t ar_vector_level(void) {
    uint32_t a, b, c, d, saved;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C */
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
    if (!has(c, BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29))) return 1;
    /* XMM and YMM registers are saved */
    __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    if (!has(saved, BIT(1) | BIT(2))) return 1;
    /* LZCNT */
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, BIT(5))) return 1;
    /* BMI1, AVX2, BMI2 */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 1;
    return has(b, BIT(3) | BIT(5) | BIT(8)) ? 3 : 1;
}

#else

int32_t ar_vector_level(void) { return 1; }

#endif
