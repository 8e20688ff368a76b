#include "CExpat.h"

XML_Parser cexpat_parser(void) {
  // A line feed cannot stand in a namespace: attributes are normalised.
  XML_Parser parser = XML_ParserCreateNS(NULL, '\n');
  if (parser == NULL) return NULL;
  // A parser without handler of external entities passes them over; DTDs outside are not asked for.
  XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_NEVER);
  if (!XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser, 20.0f) ||
      !XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, 1 << 20)) {
    XML_ParserFree(parser);
    return NULL;
  }
  return parser;
}
