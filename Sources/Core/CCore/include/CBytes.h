// What sixteen bytes are, and what they are together: what Swift's own vectors cannot say, or say slowly.
#ifndef TORPOR_CBYTES_H
#define TORPOR_CBYTES_H

#define TORPOR_INLINE static inline __attribute__((always_inline, const))

typedef unsigned char torpor_bytes16 __attribute__((ext_vector_type(16)));
typedef unsigned int torpor_bits16;
typedef unsigned long long torpor_word8;

// On any machine: eight bytes in a word, a high bit for each that is meant.

#define TORPOR_EACH(byte) (0x0101010101010101u * (byte))

/// Eight of the bytes, the first one lowest.
TORPOR_INLINE torpor_word8 torpor_word(torpor_bytes16 bytes, int which) {
  torpor_word8 words[2];
  __builtin_memcpy(words, &bytes, sizeof words);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(words[which]);
#else
  return words[which];
#endif
}

/// The high bits of eight bytes side by side.
TORPOR_INLINE torpor_bits16 torpor_gathered(torpor_word8 word) {
  return (torpor_bits16)(((word >> 7 & TORPOR_EACH(1)) * 0x0102040810204080u) >> 56);
}

/// Where a byte is that one. Exact: no byte carries into the next.
TORPOR_INLINE torpor_word8 torpor_equal(torpor_word8 word, unsigned char byte) {
  torpor_word8 others = word ^ TORPOR_EACH(byte);
  return ~(((others & TORPOR_EACH(0x7F)) + TORPOR_EACH(0x7F)) | others) & TORPOR_EACH(0x80);
}

TORPOR_INLINE torpor_word8 torpor_ends(torpor_word8 word) {
  torpor_word8 low = ~((word | TORPOR_EACH(0x80)) - TORPOR_EACH(0x20));
  return ((low | word) & TORPOR_EACH(0x80)) | torpor_equal(word, 0x7F) |
         torpor_equal(word, '*') | torpor_equal(word, '$');
}

/// The sum of eight bytes.
TORPOR_INLINE torpor_word8 torpor_sum(torpor_word8 word) {
  torpor_word8 even = 0x00FF00FF00FF00FFu;
  return ((word & even) + (word >> 8 & even)) * 0x0001000100010001u >> 48;
}

/// Eight times the first of eight bytes and seven times the second, down to once the last.
TORPOR_INLINE torpor_word8 torpor_falling(torpor_word8 word) {
  torpor_word8 even = 0x00FF00FF00FF00FFu;
  return ((word & even) * 0x0008000600040002u + (word >> 8 & even) * 0x0007000500030001u) >> 48;
}

/// ``bytes16_sum`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_sum_by_words(torpor_bytes16 bytes) {
  return (torpor_sum(torpor_word(bytes, 0)) + torpor_sum(torpor_word(bytes, 1))) & 0xFF;
}

/// ``bytes16_weighted`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_weighted_by_words(torpor_bytes16 bytes, torpor_bytes16 sixteens) {
  torpor_word8 first = torpor_word(bytes, 0), second = torpor_word(bytes, 1);
  torpor_word8 falling = torpor_falling(first) + 8 * torpor_sum(first) + torpor_falling(second);
  return (falling + 16 * bytes16_sum_by_words(sixteens)) & 0xFF;
}

/// ``bytes16_commas`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_commas_by_words(torpor_bytes16 bytes) {
  return torpor_gathered(torpor_equal(torpor_word(bytes, 0), ',')) |
         torpor_gathered(torpor_equal(torpor_word(bytes, 1), ',')) << 8;
}

/// ``bytes16_ends`` without vectors.
TORPOR_INLINE torpor_bits16 bytes16_ends_by_words(torpor_bytes16 bytes) {
  return torpor_gathered(torpor_ends(torpor_word(bytes, 0))) |
         torpor_gathered(torpor_ends(torpor_word(bytes, 1))) << 8;
}

// Where a vector of sixteen bytes is one of the machine's own.

#if defined(__SSE2__) || (defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef signed char torpor_signs16 __attribute__((ext_vector_type(16)));
/// What a comparison gives: for each byte all bits or none.
typedef char torpor_truths16 __attribute__((ext_vector_type(16)));

/// Which are true.
TORPOR_INLINE torpor_bits16 torpor_set(torpor_truths16 truths) {
#if defined(__SSE2__)
  typedef char chars16 __attribute__((vector_size(16)));
  return (torpor_bits16)__builtin_ia32_pmovmskb128((chars16)truths);
#else
  torpor_bytes16 bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  bits &= (torpor_bytes16)truths;
  return __builtin_reduce_add(bits.lo) | (torpor_bits16)__builtin_reduce_add(bits.hi) << 8;
#endif
}

/// Which are commas.
TORPOR_INLINE torpor_bits16 bytes16_commas(torpor_bytes16 bytes) { return torpor_set(bytes == ','); }

/// Which end a sentence: a star, a dollar, and what no sentence has, from 0x7F up and below 0x20.
TORPOR_INLINE torpor_bits16 bytes16_ends(torpor_bytes16 bytes) {
  // Signed, all from 0x80 up are the lowest, and with one more 0x7F is among them.
  torpor_truths16 plain = (torpor_signs16)(bytes + 1) > '+';
  if (torpor_set(plain) == 0xFFFF) return 0;
  torpor_signs16 signs = (torpor_signs16)bytes;
  return torpor_set((signs < 0x20) | (signs == 0x7F) | (signs == '*') | (signs == '$'));
}

/// The sum of all, modulo 256.
TORPOR_INLINE torpor_bits16 bytes16_sum(torpor_bytes16 bytes) { return __builtin_reduce_add(bytes); }

/// Sixteen times the first and fifteen times the second, down to once the last, and sixteen times all of
/// `sixteens`, modulo 256.
TORPOR_INLINE torpor_bits16 bytes16_weighted(torpor_bytes16 bytes, torpor_bytes16 sixteens) {
  typedef unsigned short shorts8 __attribute__((ext_vector_type(8)));
  shorts8 pairs = (shorts8)bytes;
  // The upper byte of a pair adds nothing to the lower one of its product.
  shorts8 falling = pairs * (shorts8){16, 14, 12, 10, 8, 6, 4, 2} +
                    (pairs >> 8) * (shorts8){15, 13, 11, 9, 7, 5, 3, 1};
  return bytes16_sum((torpor_bytes16)(falling & 0xFF) + (sixteens << 4));
}

#else

/// Which are commas.
TORPOR_INLINE torpor_bits16 bytes16_commas(torpor_bytes16 bytes) {
  return bytes16_commas_by_words(bytes);
}

/// Which end a sentence: a star, a dollar, and what no sentence has, from 0x7F up and below 0x20.
TORPOR_INLINE torpor_bits16 bytes16_ends(torpor_bytes16 bytes) { return bytes16_ends_by_words(bytes); }

/// The sum of all, modulo 256.
TORPOR_INLINE torpor_bits16 bytes16_sum(torpor_bytes16 bytes) { return bytes16_sum_by_words(bytes); }

/// Sixteen times the first and fifteen times the second, down to once the last, and sixteen times all of
/// `sixteens`, modulo 256.
TORPOR_INLINE torpor_bits16 bytes16_weighted(torpor_bytes16 bytes, torpor_bytes16 sixteens) {
  return bytes16_weighted_by_words(bytes, sixteens);
}

#endif

#endif
