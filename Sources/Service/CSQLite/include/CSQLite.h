#ifndef TORPOR_CSQLITE_H
#define TORPOR_CSQLITE_H

// SQLite, and functions for those of its macros that Swift does not import.

#include <sqlite3.h>

/// Binds a copy of `length` bytes of UTF-8.
int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int length);

/// Keeps the write-ahead log when the connection is closed.
void csqlite_keep_log(sqlite3 *database);

#endif
