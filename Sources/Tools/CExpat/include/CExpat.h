#ifndef TORPOR_CEXPAT_H
#define TORPOR_CEXPAT_H

// expat, an XML parser that reads in pieces, with bounds set as files of strangers need them.

// Debian's header declares the bounds of entities only where this is defined; its library has them.
#ifndef XML_DTD
#define XML_DTD 1
#endif
#include <expat.h>

/// A parser that tells names as namespace, line feed, local name; NULL when memory ran out.
///
/// It fetches nothing, and stops when entities make more than 1 MB of text that is over 20 times as
/// long as what was read. To be given back with XML_ParserFree().
XML_Parser cexpat_parser(void);

#endif
