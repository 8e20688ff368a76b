#ifndef TORPOR_CEXPAT_H
#define TORPOR_CEXPAT_H

// The streaming XML parser expat (libexpat), configured with limits for untrusted files.

// expat.h declares the limits of entity expansion only if XML_DTD is defined; Debian's library provides them.
#ifndef XML_DTD
#define XML_DTD 1
#endif
#include <expat.h>

/// Creates a namespace-aware parser; NULL if no memory is available.
///
/// It reports a name as namespace, line feed, local name. It loads no external entity, and stops with
/// XML_ERROR_AMPLIFICATION_LIMIT_BREACH when entities expand to more than 1 MB of text and to more than 20 times the
/// bytes read. The caller frees it with XML_ParserFree().
XML_Parser cexpat_parser_create(void);

#endif
