#include "CExpat.h"

XML_Parser cexpat_parser_create(void) {
  // Attribute values are normalised, so a namespace name cannot contain a line feed.
  XML_Parser parser = XML_ParserCreateNS(NULL, '\n');
  if (parser == NULL) return NULL;
  // Without a handler, expat ignores external entities; external DTDs are not loaded.
  XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_NEVER);
  if (!XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser, 20.0f) ||
      !XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, 1 << 20)) {
    XML_ParserFree(parser);
    return NULL;
  }
  return parser;
}
