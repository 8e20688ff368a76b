// Classification and checksums of 16-byte blocks for the NMEA and UBX framing, with vector instructions.
//
// In C because Swift's SIMD types lack these operations or compile them to slower code. Each operation exists
// twice: with vectors (SSE2, NEON) and with 64-bit words for all other processors.
#ifndef TORPOR_CBYTES_H
#define TORPOR_CBYTES_H

#define TORPOR_INLINE static inline __attribute__((always_inline, const))

typedef unsigned char torpor_bytes16 __attribute__((ext_vector_type(16)));
typedef unsigned int torpor_bits16;
typedef unsigned long long torpor_word8;

// Portable version: eight bytes in a 64-bit word. A mask has the high bit of each selected byte set.

/// A word with `byte` in each of its eight bytes.
#define TORPOR_REPEATED(byte) (0x0101010101010101u * (byte))

/// Bytes 0 to 7 (`which` 0) or 8 to 15 (`which` 1) as a word, the first byte least significant.
TORPOR_INLINE torpor_word8 torpor_word(torpor_bytes16 bytes, int which) {
  torpor_word8 words[2];
  __builtin_memcpy(words, &bytes, sizeof words);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(words[which]);
#else
  return words[which];
#endif
}

/// The high bits of eight bytes, packed into the low 8 bits.
TORPOR_INLINE torpor_bits16 torpor_packed_high_bits(torpor_word8 word) {
  return (torpor_bits16)(((word >> 7 & TORPOR_REPEATED(1)) * 0x0102040810204080u) >> 56);
}

/// Mask of the bytes equal to `byte`. Exact: no carry crosses a byte boundary.
TORPOR_INLINE torpor_word8 torpor_equal_mask(torpor_word8 word, unsigned char byte) {
  torpor_word8 others = word ^ TORPOR_REPEATED(byte);
  return ~(((others & TORPOR_REPEATED(0x7F)) + TORPOR_REPEATED(0x7F)) | others) & TORPOR_REPEATED(0x80);
}

/// Mask of the bytes that end a sentence: '*', '$', and bytes outside 0x20 to 0x7E.
TORPOR_INLINE torpor_word8 torpor_delimiter_mask(torpor_word8 word) {
  torpor_word8 low = ~((word | TORPOR_REPEATED(0x80)) - TORPOR_REPEATED(0x20));
  return ((low | word) & TORPOR_REPEATED(0x80)) | torpor_equal_mask(word, 0x7F) |
         torpor_equal_mask(word, '*') | torpor_equal_mask(word, '$');
}

/// Sum of eight bytes.
TORPOR_INLINE torpor_word8 torpor_sum(torpor_word8 word) {
  torpor_word8 even = 0x00FF00FF00FF00FFu;
  return ((word & even) + (word >> 8 & even)) * 0x0001000100010001u >> 48;
}

/// Weighted sum of eight bytes: weight 8 for the first, 7 for the second, down to 1 for the last.
TORPOR_INLINE torpor_word8 torpor_weighted_sum(torpor_word8 word) {
  torpor_word8 even = 0x00FF00FF00FF00FFu;
  return ((word & even) * 0x0008000600040002u + (word >> 8 & even) * 0x0007000500030001u) >> 48;
}

/// ``bytes16_sum`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_sum_by_words(torpor_bytes16 bytes) {
  return (torpor_sum(torpor_word(bytes, 0)) + torpor_sum(torpor_word(bytes, 1))) & 0xFF;
}

/// ``bytes16_weighted_sum`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_weighted_sum_by_words(torpor_bytes16 bytes, torpor_bytes16 sixteens) {
  torpor_word8 first = torpor_word(bytes, 0), second = torpor_word(bytes, 1);
  torpor_word8 falling = torpor_weighted_sum(first) + 8 * torpor_sum(first) + torpor_weighted_sum(second);
  return (falling + 16 * bytes16_sum_by_words(sixteens)) & 0xFF;
}

/// ``bytes16_commas`` without vectors. Used where vectors are missing, and by tests.
TORPOR_INLINE torpor_bits16 bytes16_commas_by_words(torpor_bytes16 bytes) {
  return torpor_packed_high_bits(torpor_equal_mask(torpor_word(bytes, 0), ',')) |
         torpor_packed_high_bits(torpor_equal_mask(torpor_word(bytes, 1), ',')) << 8;
}

/// ``bytes16_delimiters`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_delimiters_by_words(torpor_bytes16 bytes) {
  return torpor_packed_high_bits(torpor_delimiter_mask(torpor_word(bytes, 0))) |
         torpor_packed_high_bits(torpor_delimiter_mask(torpor_word(bytes, 1))) << 8;
}

// Version with 128-bit vectors: SSE2, or NEON on little-endian AArch64.

#if defined(__SSE2__) || (defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef signed char torpor_signed16 __attribute__((ext_vector_type(16)));
/// Result of a vector comparison: all bits of a byte set, or none.
typedef char torpor_mask16 __attribute__((ext_vector_type(16)));

/// Bit mask of the true elements, bit 0 for the first.
TORPOR_INLINE torpor_bits16 torpor_bit_mask(torpor_mask16 truths) {
#if defined(__SSE2__)
  typedef char chars16 __attribute__((vector_size(16)));
  return (torpor_bits16)__builtin_ia32_pmovmskb128((chars16)truths);
#else
  torpor_bytes16 bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  bits &= (torpor_bytes16)truths;
  return __builtin_reduce_add(bits.lo) | (torpor_bits16)__builtin_reduce_add(bits.hi) << 8;
#endif
}

/// Bit mask of the commas, bit 0 for the first byte.
TORPOR_INLINE torpor_bits16 bytes16_commas(torpor_bytes16 bytes) { return torpor_bit_mask(bytes == ','); }

/// Bit mask of the bytes that end a sentence: '*', '$', and bytes outside 0x20 to 0x7E, bit 0 for the first byte.
TORPOR_INLINE torpor_bits16 bytes16_delimiters(torpor_bytes16 bytes) {
  // Fast path: every byte is above '*' and below 0x7F. As signed numbers, bytes from 0x80 up are negative, and
  // adding 1 makes 0x7F negative as well; '+' is '*' + 1.
  torpor_mask16 plain = (torpor_signed16)(bytes + 1) > '+';
  if (torpor_bit_mask(plain) == 0xFFFF) return 0;
  torpor_signed16 signs = (torpor_signed16)bytes;
  return torpor_bit_mask((signs < 0x20) | (signs == 0x7F) | (signs == '*') | (signs == '$'));
}

/// Sum of all bytes, modulo 256.
TORPOR_INLINE torpor_bits16 bytes16_sum(torpor_bytes16 bytes) { return __builtin_reduce_add(bytes); }

/// Weighted sum, modulo 256: weights 16, 15, … 1 for `bytes`, plus 16 for every byte of `sixteens`.
TORPOR_INLINE torpor_bits16 bytes16_weighted_sum(torpor_bytes16 bytes, torpor_bytes16 sixteens) {
  typedef unsigned short shorts8 __attribute__((ext_vector_type(8)));
  shorts8 pairs = (shorts8)bytes;
  // The high byte of a pair does not affect the low byte of the product.
  shorts8 falling = pairs * (shorts8){16, 14, 12, 10, 8, 6, 4, 2} +
                    (pairs >> 8) * (shorts8){15, 13, 11, 9, 7, 5, 3, 1};
  return bytes16_sum((torpor_bytes16)(falling & 0xFF) + (sixteens << 4));
}

#else

/// Bit mask of the commas, bit 0 for the first byte.
TORPOR_INLINE torpor_bits16 bytes16_commas(torpor_bytes16 bytes) {
  return bytes16_commas_by_words(bytes);
}

/// Bit mask of the bytes that end a sentence: '*', '$', and bytes outside 0x20 to 0x7E, bit 0 for the first byte.
TORPOR_INLINE torpor_bits16 bytes16_delimiters(torpor_bytes16 bytes) { return bytes16_delimiters_by_words(bytes); }

/// Sum of all bytes, modulo 256.
TORPOR_INLINE torpor_bits16 bytes16_sum(torpor_bytes16 bytes) { return bytes16_sum_by_words(bytes); }

/// Weighted sum, modulo 256: weights 16, 15, … 1 for `bytes`, plus 16 for every byte of `sixteens`.
TORPOR_INLINE torpor_bits16 bytes16_weighted_sum(torpor_bytes16 bytes, torpor_bytes16 sixteens) {
  return bytes16_weighted_sum_by_words(bytes, sixteens);
}

#endif

#endif
