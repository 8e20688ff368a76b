// What sixteen bytes are, a bit for each, the first one's lowest: what Swift's own vectors cannot say.
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

#else

/// Which are commas.
TORPOR_INLINE torpor_bits16 bytes16_commas(torpor_bytes16 bytes) {
  return bytes16_commas_by_words(bytes);
}

/// Which end a sentence: a star, a dollar, and what no sentence has, from 0x7F up and below 0x20.
TORPOR_INLINE torpor_bits16 bytes16_ends(torpor_bytes16 bytes) { return bytes16_ends_by_words(bytes); }

#endif

#endif
